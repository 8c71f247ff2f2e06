"""JSON Schema + path -> what may stand there (`SchemaNode`): references followed, unions opened, null set apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str | int, ...]
Schema = Mapping[str, Any]

_MAX_REFS = 32
_PREFIX_ITEMS = 8  # items that a tuple-like array may tell apart; the rest are alike
_TYPE_OF = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """What the schema says about one place.

    `types` are JSON type names without "null" (empty: anything goes), `enum` the allowed values without None, `keys`
    the property names in order, `source` the `x-source` keyword, `words` what a person calls the place (title and
    description).
    """

    types: frozenset[str] = frozenset()
    nullable: bool = False
    enum: tuple[Any, ...] = ()
    format: str = ""
    source: str = ""
    keys: tuple[str, ...] = ()
    words: str = ""
    sole: str = ""  # the one type, where there is only one
    alternatives: tuple[Schema, ...] = field(default=(), repr=False, compare=False)

    def only(self, *types: str) -> bool:
        """Whether every value but null is of one of these JSON types.

        >>> SchemaNode(types=frozenset({"integer"})).only("integer", "number")
        True
        """
        return bool(self.types) and self.types <= set(types)


class SchemaWalk:
    """Answers `at(path)` for one schema, each place worked out once.

    >>> walk = SchemaWalk({"properties": {"tags": {"anyOf": [{"items": {"type": "string"}}, {"type": "null"}]}}})
    >>> walk.at(("tags",)).nullable, sorted(walk.at(("tags", 3)).types), walk.at(("nope",))
    (True, ['string'], None)
    """

    def __init__(self, schema: Schema | None) -> None:
        self._root: Schema = schema if isinstance(schema, Mapping) else {}
        self._nodes: dict[Path, SchemaNode | None] = {}

    def at(self, path: Path) -> SchemaNode | None:
        """The node at `path`, None where the schema says nothing of such a place."""
        return self._at(tuple([step if isinstance(step, str) else min(step, _PREFIX_ITEMS) for step in path]))

    def _at(self, path: Path) -> SchemaNode | None:
        if path not in self._nodes:
            self._nodes[path] = self._look(path)
        return self._nodes[path]

    def _look(self, path: Path) -> SchemaNode | None:
        if not path:
            return self._node(self._root)
        parent = self._at(path[:-1])
        if parent is None:
            return None
        child = next((found for alt in parent.alternatives if (found := _child(alt, path[-1])) is not None), None)
        return None if child is None else self._node(child)

    def _node(self, schema: Schema) -> SchemaNode:
        every = tuple(self._open(schema, _MAX_REFS))
        alternatives = tuple(alt for alt in every if not _is_null(alt))
        types = frozenset(name for alt in alternatives for name in _types(alt) if name != "null")
        return SchemaNode(
            types=types,
            sole=next(iter(types)) if len(types) == 1 else "",
            nullable=len(alternatives) < len(every) or any(_allows_null(alt) for alt in alternatives),
            enum=tuple(value for alt in alternatives for value in _members(alt) if value is not None),
            format=_first(alternatives, "format"),
            source=_first(alternatives, "x-source"),
            keys=next((tuple(alt["properties"]) for alt in alternatives if _is_map(alt, "properties")), ()),
            words=" ".join(filter(None, (_first((schema, *alternatives), name) for name in ("title", "description")))),
            alternatives=alternatives,
        )

    def _open(self, schema: Any, refs_left: int) -> Iterator[Schema]:
        """The alternatives of a schema, each without `$ref`, `anyOf`, `oneOf` and `allOf` at its top."""
        if not isinstance(schema, Mapping):
            yield {}
            return
        rest = {key: value for key, value in schema.items() if key not in ("$ref", "anyOf", "oneOf", "allOf")}
        if "$ref" in schema:
            target = self._resolve(schema["$ref"]) if refs_left else {}
            yield from self._open({**target, **rest}, refs_left - 1)
            return
        for part in _listed(schema, "allOf"):
            for opened in self._open(part, refs_left - 1) if refs_left else ():
                rest = {**opened, **rest}
        choices = [*_listed(schema, "anyOf"), *_listed(schema, "oneOf")]
        if not choices or not refs_left:
            yield rest
        for choice in choices if refs_left else ():
            for opened in self._open(choice, refs_left - 1):
                yield {**rest, **opened}

    def _resolve(self, ref: Any) -> Schema:
        """The schema that a local reference (`#/$defs/Line`) names, {} where there is none."""
        if not isinstance(ref, str) or not ref.startswith("#"):
            return {}
        found: Any = self._root
        for step in filter(None, ref[1:].split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}


def _child(schema: Schema, step: str | int) -> Schema | None:
    if isinstance(step, str):
        named = schema["properties"].get(step) if _is_map(schema, "properties") else None
        return _as_schema(schema.get("additionalProperties") if named is None else named)
    prefix = schema.get("prefixItems")
    if isinstance(prefix, list) and step < len(prefix):
        return _as_schema(prefix[step])
    return _as_schema(schema.get("items"))


def _as_schema(value: Any) -> Schema | None:
    """A subschema; `true` allows anything, what is no schema at all says nothing."""
    return {} if value is True else value if isinstance(value, Mapping) else None


def _listed(schema: Schema, key: str) -> list[Any]:
    value = schema.get(key)
    return value if isinstance(value, list) else []


def _is_map(schema: Schema, key: str) -> bool:
    return isinstance(schema.get(key), Mapping)


def _members(schema: Schema) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    return _listed(schema, "enum")


def _types(schema: Schema) -> list[str]:
    declared = schema.get("type")
    if isinstance(declared, str | list):
        return [declared] if isinstance(declared, str) else [name for name in declared if isinstance(name, str)]
    if members := _members(schema):
        return [_TYPE_OF[type(value)] for value in members if type(value) in _TYPE_OF]
    if "properties" in schema:
        return ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else []


def _is_null(schema: Schema) -> bool:
    members = _members(schema)
    return schema.get("type") in ("null", ["null"]) or (bool(members) and all(value is None for value in members))


def _allows_null(schema: Schema) -> bool:
    declared = schema.get("type")
    return (isinstance(declared, list) and "null" in declared) or None in _members(schema)


def _first(schemas: tuple[Schema, ...], key: str) -> str:
    return next((value for schema in schemas if isinstance(value := schema.get(key), str)), "")
