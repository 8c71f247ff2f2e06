"""One alternative of a JSON Schema, free of combinators (`Flat`): how it is read, and how two are merged.

A `Goal` is a list of schema nodes that must all hold: what allOf, $ref with siblings and merged properties come to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lookstruct.schemas.errors import SchemaError
from lookstruct.schemas.json_values import ANY_TYPE, TYPES, json_type, meet_types, pointer_step, same_json, shown
from lookstruct.schemas.keywords import SOURCES

_LARGEST = ("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum")
_SMALLEST = ("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum")
LIMITS = _LARGEST + _SMALLEST
_LIMITED = {
    "object": ("minProperties", "maxProperties"),
    "array": ("minItems", "maxItems"),
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}


class ImpossibleSchema(SchemaError):
    """No value at all fits the schema."""


@dataclass(frozen=True, slots=True)
class Part:
    """A schema node and the JSON pointer at which the user wrote it."""

    schema: Any
    at: str


Goal = tuple[Part, ...]
"""Schema nodes that must hold together; the empty goal is any value."""


@dataclass(frozen=True, slots=True)
class Flat:
    """One alternative: plain keywords only. `ref` stands alone: it is set only when nothing else is.

    `enum` holds JSON values, None where any value goes. `additional` None means that nothing was said. `merged` says
    that it came from several nodes, so that a contradiction in it need not be a mistake.
    """

    types: frozenset[str] | None = None
    enum: tuple[Any, ...] | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    patterns: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    multiples: tuple[float, ...] = ()
    properties: Mapping[str, Goal] = field(default_factory=dict)
    pattern_properties: Mapping[str, Goal] = field(default_factory=dict)
    additional: Goal | None = None
    required: tuple[str, ...] = ()
    name_patterns: tuple[str, ...] = ()
    prefix: tuple[Goal, ...] = ()
    items: Goal | None = None
    source: str | None = None
    ref: Part | None = None
    merged: bool = False

    def member(self, name: str) -> Goal:
        """What the value of property `name` must fulfil."""
        goals = [self.properties[name]] if name in self.properties else []
        goals += [goal for pattern, goal in self.pattern_properties.items() if _search(pattern, name)]
        return tuple(part for goal in goals for part in goal) if goals else self.additional or ()

    def item(self, index: int) -> Goal:
        """What the array item at `index` must fulfil."""
        return self.prefix[index] if index < len(self.prefix) else (self.items or ())

    def kinds(self) -> frozenset[str]:
        """The JSON types this alternative can have; a type that only keywords imply counts as stated."""
        if self.enum is not None:
            stated = frozenset(json_type(value) for value in self.enum)
            return meet_types(stated, self.types) if self.types is not None else stated
        return self.types or self._implied() or ANY_TYPE

    def _implied(self) -> frozenset[str]:
        """The types that the keywords speak of."""
        spoken = {
            "object": self.properties or self.pattern_properties or self.required or self.name_patterns,
            "array": self.prefix or self.items is not None,
            "string": self.patterns or self.formats,
            "number": self.multiples,
        }
        limited = {kind for kind, keys in _LIMITED.items() if any(key in self.limits for key in keys)}
        extra = {"object"} if self.additional is not None else set()
        found = frozenset(kind for kind, said in spoken.items() if said) | limited | extra
        sourced = {"number": {"number"}, "computed": set(), None: set()}.get(self.source, {"string"})
        return found or frozenset(sourced)


def read_flat(schema: Mapping[str, Any], at: str) -> Flat:
    """The plain keywords of one node; combinators and $ref are left to the caller."""
    enum = schema.get("enum")
    if "const" in schema:
        enum = [v for v in enum if same_json(v, schema["const"])] if enum is not None else [schema["const"]]
    if enum is not None and not enum:
        raise ImpossibleSchema(f"The enum at {shown(at)} is empty, so no value fits it.")
    prefix, items = _array_goals(schema, at)
    additional = schema.get("additionalProperties")
    return Flat(
        types=_read_types(schema, at),
        enum=None if enum is None else tuple(enum),
        limits=_read_limits(schema),
        patterns=(schema["pattern"],) if "pattern" in schema else (),
        formats=(schema["format"],) if "format" in schema else (),
        multiples=(schema["multipleOf"],) if "multipleOf" in schema else (),
        properties=_goals(schema, "properties", at),
        pattern_properties=_goals(schema, "patternProperties", at),
        additional=None if additional is None else _goal(additional, f"{at}/additionalProperties"),
        required=tuple(schema.get("required", ())),
        name_patterns=_name_patterns(schema, at),
        prefix=prefix,
        items=items,
        source=_read_source(schema, at),
    )


def merge(a: Flat, b: Flat, at: str) -> Flat:
    """The alternative that fulfils both; ImpossibleSchema if they contradict each other outright."""
    types = a.types if b.types is None else b.types if a.types is None else meet_types(a.types, b.types)
    if types is not None and not types:
        raise ImpossibleSchema(
            f"The parts of the schema at {shown(at)} ask for {_words(a.types)} and {_words(b.types)} at once."
        )
    enum = a.enum if b.enum is None else b.enum if a.enum is None else common(a.enum, b.enum)
    if enum is not None and not enum:
        raise ImpossibleSchema(f"The enums that meet at {shown(at)} have no value in common.")
    n_prefix = max(len(a.prefix), len(b.prefix))
    return replace(
        a,
        types=types,
        enum=enum,
        limits=_merge_limits(a.limits, b.limits),
        patterns=_union(a.patterns, b.patterns),
        formats=_union(a.formats, b.formats),
        multiples=_union(a.multiples, b.multiples),
        properties={n: _join(a.member(n), b.member(n)) for n in _union(a.properties, b.properties)},
        pattern_properties=_merge_patterns(a, b),
        additional=_join_maybe(a.additional, b.additional),
        required=_union(a.required, b.required),
        name_patterns=_union(a.name_patterns, b.name_patterns),
        prefix=tuple(_join(a.item(i), b.item(i)) for i in range(n_prefix)),
        items=_join_maybe(a.items, b.items),
        source=a.source or b.source,
        merged=True,
    )


def _merge_patterns(a: Flat, b: Flat) -> dict[str, Goal]:
    """A pattern that only one side has is an additional property of the other."""
    patterns = _union(a.pattern_properties, b.pattern_properties)
    return {rx: _join(*(f.pattern_properties.get(rx, f.additional or ()) for f in (a, b))) for rx in patterns}


def _read_types(schema: Mapping[str, Any], at: str) -> frozenset[str] | None:
    stated = schema.get("type")
    if stated is None:
        return None
    names = [stated] if isinstance(stated, str) else list(stated)
    unknown = [n for n in names if n not in TYPES]
    if unknown or not names:
        raise SchemaError(f"The type at {shown(at)} is {stated!r}; expected one of {', '.join(sorted(TYPES))}.")
    return frozenset(names)


def _read_limits(schema: Mapping[str, Any]) -> dict[str, Any]:
    limits = {key: schema[key] for key in LIMITS if key in schema}
    for exclusive, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        flag = limits.get(exclusive)
        if isinstance(flag, bool):  # draft 4: a switch beside the limit
            del limits[exclusive]
            if flag and plain in limits:
                limits[exclusive] = limits.pop(plain)
    return limits


def _array_goals(schema: Mapping[str, Any], at: str) -> tuple[tuple[Goal, ...], Goal | None]:
    """Prefix and rest; drafts before 2020-12 write them as a list of items and additionalItems."""
    prefix, rest, rest_key = schema.get("prefixItems", []), schema.get("items"), "items"
    prefix_key = "prefixItems"
    if isinstance(rest, list):
        prefix, prefix_key, rest, rest_key = rest, "items", schema.get("additionalItems"), "additionalItems"
    goals = tuple(_goal(sub, f"{at}/{prefix_key}/{i}") for i, sub in enumerate(prefix))
    return goals, None if rest is None else _goal(rest, f"{at}/{rest_key}")


def _name_patterns(schema: Mapping[str, Any], at: str) -> tuple[str, ...]:
    """The patterns that property names must match, from `propertyNames`."""
    names = schema.get("propertyNames")
    if names is None or names is True:
        return ()
    plain = {k: v for k, v in names.items() if k != "type"} if isinstance(names, dict) else {"false": names}
    if set(plain) <= {"pattern"}:
        return tuple(plain.values())
    if set(plain) in ({"enum"}, {"const"}):
        allowed = plain.get("enum", [plain.get("const")])
        return ("^(?:" + "|".join(re.escape(str(name)) for name in allowed) + ")$",)
    if set(plain) <= {"minLength", "maxLength"}:
        return (f"^.{{{plain.get('minLength', 0)},{plain.get('maxLength', '')}}}$",)
    raise SchemaError(
        f"The keyword 'propertyNames' at {shown(at)} can be enforced only with one of pattern, enum, const or"
        " minLength and maxLength; list the names in 'properties' instead."
    )


def _read_source(schema: Mapping[str, Any], at: str) -> str | None:
    source = schema.get("x-source")
    if source is not None and source not in SOURCES:
        raise SchemaError(f"'x-source' at {shown(at)} is {source!r}; expected one of {', '.join(SOURCES)}.")
    return source


def _goal(schema: Any, at: str) -> Goal:
    return () if schema is True or schema == {} else (Part(schema, at),)


def _goals(schema: Mapping[str, Any], key: str, at: str) -> dict[str, Goal]:
    return {name: _goal(sub, f"{at}/{key}/{pointer_step(name)}") for name, sub in schema.get(key, {}).items()}


def _merge_limits(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**a, **b}
    for key in a.keys() & b.keys():
        merged[key] = (max if key in _LARGEST else min)(a[key], b[key])
    return merged


def common(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """The JSON values of `a` that are in `b` too."""
    return tuple(x for x in a if any(same_json(x, y) for y in b))


def _union(a: Iterable[Any], b: Iterable[Any]) -> tuple[Any, ...]:
    """Both in order, each once."""
    return tuple(dict.fromkeys((*a, *b)))


def _join(a: Goal, b: Goal) -> Goal:
    places = {part.at for part in a}
    return a + tuple(part for part in b if part.at not in places)


def _join_maybe(a: Goal | None, b: Goal | None) -> Goal | None:
    return b if a is None else a if b is None else _join(a, b)


def _search(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def _words(types: frozenset[str] | None) -> str:
    return " or ".join(sorted(types or ()))
