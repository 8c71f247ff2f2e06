"""A JSON Schema node -> the alternatives it allows, each free of allOf, anyOf, oneOf and mixed $ref (`Flat`).

Closed objects cannot be combined by `allOf` (each would exclude the other's properties), so conjunctions are merged
here: a `Goal` is a list of schema nodes that must all hold, and `Flattener.alternatives` multiplies them out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import combinations
from typing import Any
from urllib.parse import unquote

from lookstruct.schemas.errors import SchemaError
from lookstruct.schemas.keywords import KEYWORDS, SOURCES, Support, unsupported_pattern

MAX_ALTERNATIVES = 256

TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_ANY_TYPE = TYPES - {"integer"}  # an integer is a number

_LARGEST = ("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum")
_SMALLEST = ("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum")
LIMITS = _LARGEST + _SMALLEST

_IMPLIED_TYPE = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_VACUOUS: Mapping[str, tuple[Any, ...]] = {
    "uniqueItems": (False,),
    "unevaluatedItems": (True,),
    "unevaluatedProperties": (True, False),
    "propertyNames": (True, {}),
    "dependentRequired": ({},),
    "dependentSchemas": ({},),
    "dependencies": ({},),
    "minContains": (0,),
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
        goal = self.properties.get(name, ())
        goal += tuple(p for rx, sub in self.pattern_properties.items() if _search(rx, name) for p in sub)
        return goal or self.additional or ()

    def item(self, index: int) -> Goal:
        """What the array item at `index` must fulfil."""
        return self.prefix[index] if index < len(self.prefix) else (self.items or ())

    def kinds(self) -> frozenset[str]:
        """The JSON types this alternative can have; a type that only keywords imply counts as stated."""
        if self.enum is not None:
            stated = frozenset(json_type(value) for value in self.enum)
            return meet_types(stated, self.types) if self.types is not None else stated
        return self.types if self.types is not None else _ANY_TYPE


class Flattener:
    """Reads one document's nodes; `notes` collects what `lenient` lets pass."""

    def __init__(self, root: Any, *, lenient: bool) -> None:
        self.root = root
        self.lenient = lenient
        self.notes: list[str] = []

    def alternatives(self, goal: Goal) -> list[Flat]:
        """The ways to fulfil every part of `goal`; ImpossibleSchema if there is none."""
        found = [Flat()]
        for part in goal:
            found = self._both(found, self._expand(part, ()), part.at)
        return found

    def note(self, text: str) -> None:
        """Keep a remark, once."""
        if text not in self.notes:
            self.notes.append(text)

    def resolve(self, ref: Any, at: str) -> Part:
        """The node that a `$ref` written at `at` points to."""
        if not isinstance(ref, str):
            raise SchemaError(f"'$ref' at {shown(at)} is {ref!r}; expected a string such as '#/$defs/Name'.")
        own = self.root.get("$id") if isinstance(self.root, dict) else None
        local = ref[len(own) :] if own and ref.startswith(own) else ref
        if local not in ("", "#") and not local.startswith("#"):
            raise SchemaError(
                f"'$ref' at {shown(at)} points outside of the schema ({ref}); copy its target into '$defs'."
            )
        pointer = unquote(local.lstrip("#"))
        node = self._anchor(pointer) if pointer and not pointer.startswith("/") else self._walk(pointer)
        if node is None:
            raise SchemaError(f"'$ref' at {shown(at)} points to {ref}, which is not in the schema.")
        return node

    def _walk(self, pointer: str) -> Part | None:
        node = self.root
        for step in pointer.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and key in node:
                node = node[key]
            elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
                node = node[int(key)]
            else:
                return None
        return Part(node, pointer)

    def _anchor(self, name: str) -> Part | None:
        return next((p for p in _nodes(self.root, "") if p.schema.get("$anchor") == name), None)

    def _expand(self, part: Part, seen: tuple[str, ...]) -> list[Flat]:
        """The alternatives of one node; `seen` are the targets of the $refs that led here."""
        if part.schema is True or part.schema == {}:
            return [Flat()]
        if part.schema is False:
            raise ImpossibleSchema(f"The schema at {shown(part.at)} is false, so no value fits it.")
        if not isinstance(part.schema, dict):
            raise SchemaError(f"The schema at {shown(part.at)} is {part.schema!r}; expected an object, true or false.")
        schema = self._enforceable(part)
        found = [read_flat(schema, part.at)]
        if "$ref" in schema:
            found = self._both(found, [Flat(ref=self.resolve(schema["$ref"], part.at))], part.at, seen)
        for index, sub in enumerate(schema.get("allOf", ())):
            found = self._both(found, self._expand(Part(sub, f"{part.at}/allOf/{index}"), seen), part.at, seen)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                found = self._both(found, self._union(part, key, seen), part.at, seen)
        return found

    def _union(self, part: Part, key: str, seen: tuple[str, ...]) -> list[Flat]:
        tag = _tag(part.schema)
        branches = [
            self._both(tag, self._expand(Part(sub, f"{part.at}/{key}/{index}"), seen), part.at, seen)
            for index, sub in enumerate(part.schema[key])
            if sub is not False
        ]
        if not branches:
            raise ImpossibleSchema(f"'{key}' at {shown(part.at)} has no branch that a value could fit.")
        if key == "oneOf" and not self._exclusive(branches):
            self.refuse("oneOf", part.at, "its branches overlap", "use anyOf, or make them differ in a const property")
        return [flat for branch in branches for flat in branch]

    def _both(self, left: list[Flat], right: list[Flat], at: str, seen: tuple[str, ...] = ()) -> list[Flat]:
        """Every pair of alternatives that can hold together."""
        found: list[Flat] = []
        conflict: ImpossibleSchema | None = None
        for a in left:
            for b in right:
                try:
                    found += self._meet(a, b, at, seen)
                except ImpossibleSchema as exc:
                    conflict = exc
        if len(found) > MAX_ALTERNATIVES:
            raise SchemaError(
                f"The unions at {shown(at)} multiply to over {MAX_ALTERNATIVES} cases; write fewer of them."
            )
        if conflict is not None and not found:
            raise conflict
        if conflict is not None:
            self.note(f"A combination was left out: {conflict}")
        return found

    def _meet(self, a: Flat, b: Flat, at: str, seen: tuple[str, ...]) -> list[Flat]:
        if a == Flat() or b == Flat():
            return [b if a == Flat() else a]
        if a.ref is not None and a == b:
            return [a]
        for own, other in ((a, b), (b, a)):
            if own.ref is not None:
                return self._both(self._target(own.ref, seen), [other], at, (*seen, own.ref.at))
        return [merge(a, b, at)]

    def _target(self, ref: Part, seen: tuple[str, ...]) -> list[Flat]:
        if ref.at in seen:
            raise ImpossibleSchema(f"The '$ref' to {shown(ref.at)} leads back to itself and never to a value.")
        found: list[Flat] = []
        for flat in self._expand(ref, (*seen, ref.at)):
            found += [flat] if flat.ref is None else self._target(flat.ref, (*seen, ref.at))
        return found

    def _exclusive(self, branches: list[list[Flat]]) -> bool:
        """Whether a text written for one branch can never fit another."""
        plain = [[f for flat in branch for f in self.without_ref(flat)] for branch in branches]
        return all(self._differ(a, b) for one, two in combinations(plain, 2) for a in one for b in two)

    def without_ref(self, flat: Flat) -> list[Flat]:
        """The alternative itself, or what its $ref stands for."""
        return [flat] if flat.ref is None else self._target(flat.ref, ())

    def _differ(self, a: Flat, b: Flat) -> bool:
        if not meet_types(a.kinds(), b.kinds()):
            return True
        if a.enum is not None and b.enum is not None:
            return not _common(a.enum, b.enum)
        if a.kinds() | b.kinds() != {"object"}:
            return False
        tagged = any(self._tags_differ(a.member(n), b.member(n)) for n in set(a.required) & set(b.required))
        return tagged or (self._lacks(a, b) and self._lacks(b, a))

    def _tags_differ(self, a: Goal, b: Goal) -> bool:
        """Whether two values can never be equal, judged by their types and enums alone."""
        pairs = ((x, y) for x in self._plain(a) for y in self._plain(b))
        return all(
            not meet_types(x.kinds(), y.kinds())
            or (x.enum is not None and y.enum is not None and not _common(x.enum, y.enum))
            for x, y in pairs
        )

    def _plain(self, goal: Goal) -> list[Flat]:
        return [f for flat in self.alternatives(goal) for f in self.without_ref(flat)]

    @staticmethod
    def _lacks(a: Flat, b: Flat) -> bool:
        """Whether objects written for `a`, which is closed, never have all that `b` requires."""
        is_open = bool(a.pattern_properties) or not a.properties or a.additional not in (None, ())
        return not is_open and not set(b.required) <= set(a.properties)

    def _enforceable(self, part: Part) -> dict[str, Any]:
        """The node without annotations and, if lenient, without what cannot be enforced."""
        kept = {}
        for key, value in part.schema.items():
            support = self._support(key, part.at)
            if support is Support.ANNOTATION or any(value == v for v in _VACUOUS.get(key, ())):
                continue
            if support is Support.REFUSED:
                self.refuse(key, part.at)
            elif key == "pattern" and (trouble := unsupported_pattern(value)):
                self.refuse(key, part.at, f"it uses '{trouble}'")
            else:
                kept[key] = value
        return kept

    def _support(self, key: str, at: str) -> Support:
        if key == "x-source":
            return Support.ENFORCED
        if key in KEYWORDS or key.startswith("x-"):
            return KEYWORDS.get(key, Support.ANNOTATION)
        near = [k for k in KEYWORDS if k.lower() == key.lower()] or get_close_matches(key, KEYWORDS, 1, 0.85)
        if near:
            raise SchemaError(f"The keyword '{key}' at {shown(at)} is not known; did you mean '{near[0]}'?")
        self.note(f"The keyword '{key}' at {shown(at)} is not known and was left out.")
        return Support.ANNOTATION

    def refuse(self, keyword: str, at: str, why: str = "", instead: str = "remove it") -> None:
        """SchemaError, or with lenient a note, for a keyword that the grammar cannot enforce."""
        reason = f" ({why})" if why else ""
        if not self.lenient:
            raise SchemaError(
                f"The keyword '{keyword}' at {shown(at)} cannot be enforced while decoding{reason}; {instead},"
                " or load the schema leniently: then it is only checked after decoding."
            )
        self.note(f"The keyword '{keyword}' at {shown(at)} is not enforced while decoding{reason}, only checked after.")


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
    enum = a.enum if b.enum is None else b.enum if a.enum is None else _common(a.enum, b.enum)
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


def meet_types(a: frozenset[str], b: frozenset[str]) -> frozenset[str]:
    """The types in both; an integer is a number.

    >>> sorted(meet_types(frozenset({"number", "null"}), frozenset({"integer", "string"})))
    ['integer']
    """
    found = _with_integer(a) & _with_integer(b)
    return found - {"integer"} if "number" in found else found


def _with_integer(types: frozenset[str]) -> frozenset[str]:
    return types | {"integer"} if "number" in types else types


def json_type(value: Any) -> str:
    """The JSON type of a value as `json.loads` gives it; whole numbers are "integer".

    >>> [json_type(v) for v in (None, True, 3, 3.0, 3.5, "a", [], {})]
    ['null', 'boolean', 'integer', 'integer', 'number', 'string', 'array', 'object']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if float(value).is_integer() else "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, dict) else "array"


def same_json(a: Any, b: Any) -> bool:
    """Equality as JSON sees it: true is not 1.

    >>> same_json(1, True), same_json({"a": [1]}, {"a": [1]})
    (False, True)
    """
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def shown(at: str) -> str:
    """A JSON pointer for a message: the root has none.

    >>> shown(""), shown("/properties/a")
    ('the top level', '/properties/a')
    """
    return at or "the top level"


def pointer_step(key: str) -> str:
    """A key as one step of a JSON pointer (RFC 6901).

    >>> pointer_step("a/b~c")
    'a~1b~0c'
    """
    return key.replace("~", "~0").replace("/", "~1")


def _read_types(schema: Mapping[str, Any], at: str) -> frozenset[str] | None:
    stated = schema.get("type")
    if stated is None:
        if "enum" in schema or "const" in schema:
            return None
        implied = frozenset(t for t, keys in _IMPLIED_TYPE.items() if any(k in schema for k in keys))
        return implied or None
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


def _tag(schema: Mapping[str, Any]) -> list[Flat]:
    """OpenAPI's discriminator: the property that tells the branches apart must be there to do so."""
    discriminator = schema.get("discriminator")
    name = discriminator.get("propertyName") if isinstance(discriminator, dict) else None
    return [Flat(types=frozenset({"object"}), required=(name,))] if isinstance(name, str) else [Flat()]


def _goal(schema: Any, at: str) -> Goal:
    return () if schema is True or schema == {} else (Part(schema, at),)


def _goals(schema: Mapping[str, Any], key: str, at: str) -> dict[str, Goal]:
    return {name: _goal(sub, f"{at}/{key}/{pointer_step(name)}") for name, sub in schema.get(key, {}).items()}


def _nodes(node: Any, at: str) -> Iterator[Part]:
    if isinstance(node, dict):
        yield Part(node, at)
        for key, sub in node.items():
            yield from _nodes(sub, f"{at}/{pointer_step(key)}")
    elif isinstance(node, list):
        for index, sub in enumerate(node):
            yield from _nodes(sub, f"{at}/{index}")


def _merge_limits(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**a, **b}
    for key in a.keys() & b.keys():
        merged[key] = (max if key in _LARGEST else min)(a[key], b[key])
    return merged


def _common(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
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
