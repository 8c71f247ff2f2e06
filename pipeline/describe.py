"""JSON Schema -> a short list of fields that a small model can follow: name, type, meaning, one a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

FORMATS = {
    "date": "date YYYY-MM-DD",
    "date-time": "date and time YYYY-MM-DDThh:mm:ss",
    "time": "time hh:mm:ss",
    "duration": "ISO 8601 duration like PT1H30M",
    "uri": "URL",
    "email": "e-mail address",
}

JsonSchema = Mapping[str, Any]


def describe(schema: JsonSchema) -> str:
    """The field list of a schema; nested objects are indented under their field.

    >>> print(describe({"type": "object", "properties": {
    ...     "title": {"type": "string", "description": "Its name."},
    ...     "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["title"]}))
    - title: string. Its name.
    - tags: list of string, or null
    """
    return "\n".join(_Lister(schema).lines(schema, 0, frozenset())) or f"- {_Lister(schema).type_of(schema)}"


class _Lister:
    """Walks one schema; `root` is where its references point."""

    def __init__(self, root: JsonSchema) -> None:
        self.root = root

    def lines(self, schema: JsonSchema, depth: int, seen: frozenset[int]) -> Iterator[str]:
        """The lines of an object's properties, or of the objects in a list."""
        target = self.core(schema)
        if id(target) in seen:
            return
        required = target.get("required", ())
        for name, field in target.get("properties", {}).items():
            yield "  " * depth + self.line(name, field, optional=name not in required)
            yield from self.lines(self.innermost(field), depth + 1, seen | {id(target)})

    def line(self, name: str, field: JsonSchema, *, optional: bool) -> str:
        nullable = optional or self.nullable(field)
        text = " ".join(str(self.described(field)).split())
        return f"- {name}: {self.type_of(field)}{', or null' if nullable else ''}{'. ' + text if text else ''}"

    def described(self, field: JsonSchema) -> str:
        """The field's own description, else that of what it refers to when it is no object of its own."""
        if "description" in field:
            return str(field["description"])
        core = self.core(field)
        return "" if "properties" in core else str(core.get("description", ""))

    def type_of(self, field: JsonSchema) -> str:
        """The type in words."""
        core = self.core(field)
        if "enum" in core or "const" in core:
            return "one of " + ", ".join(repr(value) for value in self.choices(core) if value is not None)
        if options := self.options(core):
            return " or ".join(dict.fromkeys(self.type_of(option) for option in options))
        kind = core.get("type", "object" if "properties" in core else "any")
        if kind == "array":
            return f"list of {self.type_of(core.get('items', {}))}"
        if kind == "string":
            return FORMATS.get(core.get("format", ""), "string")
        return " or ".join(k for k in kind if k != "null") if isinstance(kind, list) else str(kind)

    def choices(self, core: JsonSchema) -> list[Any]:
        return list(core.get("enum", [core.get("const")]))

    def innermost(self, field: JsonSchema) -> JsonSchema:
        """What a list holds, through lists of lists; the field itself when it is no list."""
        core = self.core(field)
        while core.get("type") == "array":
            core = self.core(core.get("items", {}))
        return core

    def core(self, field: JsonSchema) -> JsonSchema:
        """The schema behind references and behind a union with null."""
        seen = 0
        while seen < 32:
            seen += 1
            if "$ref" in field:
                field = self.target(str(field["$ref"]))
            elif len(options := self.options(field)) == 1:
                field = options[0]
            else:
                return field
        return {}

    def options(self, field: JsonSchema) -> list[JsonSchema]:
        """The members of a union, null left out."""
        union = field.get("anyOf") or field.get("oneOf") or field.get("allOf") or []
        return [option for option in union if option.get("type") != "null"]

    def nullable(self, field: JsonSchema) -> bool:
        """Whether null is a value of the field."""
        union = field.get("anyOf") or field.get("oneOf") or []
        kind = field.get("type")
        return "null" in (kind if isinstance(kind, list) else [kind]) or any(self.nullable(option) for option in union)

    def target(self, reference: str) -> JsonSchema:
        """What a local reference such as `#/$defs/Line` points to; {} where it points nowhere."""
        node: Any = self.root
        for step in reference.removeprefix("#").strip("/").split("/"):
            if step:
                node = node.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(node, Mapping) else {}
        return node if isinstance(node, Mapping) else {}
