"""A user's JSON Schema -> the schema that the grammar engine gets (`nulls.py` is the way back).

The grammar's schema is narrower than the user's and simpler: every property is required, in the order of
`properties`, nothing may be added, and a property that may be absent is nullable instead (a small model that may
leave a key out leaves it out). References point into one flat `$defs`; conjunctions are merged; what the engine
cannot enforce is an error that names the keyword and where it stands.

Bounds are added where the user has none, since a small model can repeat itself without end: `MAX_CHARS` a string,
`MAX_ITEMS` an array, `MAX_INTEGER` and `MAX_NUMBER` with `DECIMALS` digits a number. They are far above what a page's
values need, and above what the usual token limit lets through; a bound in the user's schema replaces them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from math import inf, isfinite
from typing import Any

from lookstruct.schemas.errors import SchemaError
from lookstruct.schemas.flatten import (
    Flat,
    Flattener,
    Goal,
    ImpossibleSchema,
    Part,
    json_type,
    meet_types,
    pointer_step,
    shown,
)
from lookstruct.schemas.from_json import make_validator
from lookstruct.schemas.keywords import FORMATS, Format, is_finite

MAX_CHARS = 2000
MAX_ITEMS = 1000
MAX_INTEGER = 9_000_000_000_000_000_000
MAX_NUMBER = 1_000_000_000_000_000
DECIMALS = 9

Node = dict[str, Any]
_TYPE_ORDER = ("object", "array", "string", "number", "integer", "boolean", "null")
_PAIRS = (
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minimum", "maximum"),
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """The engine's schema and, when loaded leniently, remarks on what it leaves to the check after decoding."""

    schema: Node
    notes: tuple[str, ...] = ()


def prepare(schema: Any, *, lenient: bool = False, formats: Mapping[str, Format] = FORMATS) -> Prepared:
    """The grammar's form of `schema`; SchemaError if it is not enforceable or nothing can fit it.

    >>> prepare({"type": "object", "properties": {"a": {"type": "boolean"}}}).schema["properties"]["a"]
    {'anyOf': [{'type': 'boolean'}, {'type': 'null'}]}
    """
    flattener = Flattener(schema, lenient=lenient)
    return _Preparer(flattener, formats).run()


class _Preparer:
    """Translates goals to nodes, each goal once: one that comes back while it is being translated becomes a $ref."""

    def __init__(self, flattener: Flattener, formats: Mapping[str, Format]) -> None:
        self._flattener = flattener
        self._formats = formats
        self._names: dict[tuple[str, ...], str] = {}
        self._defs: dict[str, Node] = {}
        self._open: set[tuple[str, ...]] = set()

    def run(self) -> Prepared:
        root = (Part(self._flattener.root, ""),)
        node = self._translate(root)
        self._define(root, node)
        if self._defs:
            node = {**node, "$defs": self._defs}
        _check_endings(node)
        return Prepared(node, tuple(self._flattener.notes))

    def _translate(self, goal: Goal) -> Node:
        key = _key(goal)
        if key in self._open:
            return {"$ref": f"#/$defs/{self._name(goal)}"}
        self._open.add(key)
        try:
            at = goal[0].at if goal else ""
            return self._cases(self._flattener.alternatives(goal), at)
        finally:
            self._open.discard(key)

    def _cases(self, flats: list[Flat], at: str) -> Node:
        """One node for several alternatives; one that only their combination made impossible is left out."""
        nodes: list[Node] = []
        for flat in flats:
            try:
                nodes += self._nodes(flat, at)
            except ImpossibleSchema as exc:
                if not flat.merged or (flat is flats[-1] and not nodes):
                    raise
                self._flattener.note(f"A combination was left out: {exc}")
        return _any_of(nodes)

    def _nested(self, goal: Goal) -> Node:
        """The node of a goal inside another; stays a definition if it refers to itself."""
        node = self._translate(goal)
        if _key(goal) in self._names and "$ref" not in node:
            self._define(goal, node)
            return {"$ref": f"#/$defs/{self._name(goal)}"}
        return node

    def _define(self, goal: Goal, node: Node) -> None:
        if _key(goal) in self._names:
            self._defs[self._name(goal)] = node

    def _name(self, goal: Goal) -> str:
        """A fresh name for the definition of `goal`, after the last step of its pointer."""
        key = _key(goal)
        if key not in self._names:
            last = "".join(c if c.isalnum() else "_" for c in key[-1].rsplit("/", 1)[-1]) or "root"
            taken = set(self._names.values())
            self._names[key] = next(n for n in _numbered(last) if n not in taken)
        return self._names[key]

    def _nodes(self, flat: Flat, at: str) -> list[Node]:
        if flat.ref is not None:
            return [self._reference(flat.ref)]
        if flat == Flat():
            return [{}]
        if flat.enum is not None:
            return [_enum_node(flat, at)]
        kinds = flat.kinds()
        return [self._node(flat, kind, at) for kind in _TYPE_ORDER if kind in kinds]

    def _reference(self, target: Part) -> Node:
        goal = (target,)
        name = self._name(goal)
        if _key(goal) not in self._open and name not in self._defs:
            self._define(goal, self._translate(goal))
        return {"$ref": f"#/$defs/{name}"}

    def _node(self, flat: Flat, kind: str, at: str) -> Node:
        _check_limits(flat.limits, at)
        source = self._source(flat, kind, at)
        if kind == "object":
            return {**self._object(flat, at), **source}
        if kind == "array":
            return {**self._array(flat, at), **source}
        if kind == "string":
            return {**self._string(flat, at), **source}
        if kind in ("number", "integer"):
            _check_range(flat, kind, at)
            return {**_number_node(flat, kind), **source}
        return {"type": kind, **source}

    def _source(self, flat: Flat, kind: str, at: str) -> Node:
        if flat.source is None or kind == "null":
            return {}
        if kind in ("object", "array"):
            raise SchemaError(f"'x-source' at {shown(at)} stands on an {kind}; put it on the values inside.")
        return {"x-source": flat.source}

    def _array(self, flat: Flat, at: str) -> Node:
        limits = _pick(flat.limits, "minItems", "maxItems")
        node: Node = {"type": "array"}
        if flat.prefix:
            node["prefixItems"] = [self._nested(goal) for goal in flat.prefix]
            node["items"] = False if flat.items is None else self._items(flat.items)
        elif flat.items is not None:
            node["items"] = self._items(flat.items)
        if node.get("items") is False:
            limits["maxItems"] = min(len(flat.prefix), limits.get("maxItems", MAX_ITEMS))
            _check_limits(limits, at)
        return {**node, "maxItems": max(MAX_ITEMS, limits.get("minItems", 0)), **limits}

    def _items(self, goal: Goal) -> Node | bool:
        if any(part.schema is False for part in goal):
            return False
        return self._nested(goal)

    def _string(self, flat: Flat, at: str) -> Node:
        limits = _pick(flat.limits, "minLength", "maxLength")
        node: Node = {"type": "string"}
        patterns, bound = list(flat.patterns), MAX_CHARS
        ends = any(is_finite(pattern) for pattern in patterns)
        for name in flat.formats:
            form = self._formats.get(name)
            if form is None:
                self._flattener.refuse("format", at, f"the engine does not know '{name}'")
                continue
            node["format" if form.engine else "x-format"] = form.engine or name
            patterns += [form.pattern] if form.pattern else []
            bound = min(MAX_CHARS, form.max_chars or MAX_CHARS)
            ends = ends or form.ends
        if "maxLength" not in limits and not ends:
            limits["maxLength"] = max(bound, limits.get("minLength", 0))
        return {**node, **_repeatable("pattern", patterns), **limits}

    def _object(self, flat: Flat, at: str) -> Node:
        names = self._object_names(flat, at)
        properties = {name: self._property(flat, name, at) for name in names}
        properties = {name: node for name, node in properties.items() if node is not None}
        node: Node = {"type": "object", "properties": properties, "required": list(properties)}
        extra = self._extra(flat)
        return {**node, **extra, **self._count_limits(flat, properties, extra, at)}

    def _object_names(self, flat: Flat, at: str) -> list[str]:
        """The property names in order; a required one that `properties` lacks comes last."""
        for name in flat.required:
            if name not in flat.properties and flat.properties:
                self._flattener.note(f"'{name}' is required at {shown(at)} but not among its properties.")
        return list(dict.fromkeys((*flat.properties, *flat.required)))

    def _property(self, flat: Flat, name: str, at: str) -> Node | None:
        """The node of one property; None where only its absence fits."""
        goal, required = flat.member(name), name in flat.required
        place = f"{at}/properties/{pointer_step(name)}"
        if any(part.schema is False for part in goal):
            if required:
                raise ImpossibleSchema(f"The property at {shown(place)} is required, but its schema is false.")
            return None
        node = self._nested(goal)
        return node if required or self._accepts_null(node) else _any_of([node, {"type": "null"}])

    def _accepts_null(self, node: Node, depth: int = 0) -> bool:
        if "$ref" in node:
            target = self._defs.get(_target(node))
            return target is not None and depth < len(self._defs) and self._accepts_null(target, depth + 1)
        if "anyOf" in node:
            return any(self._accepts_null(sub, depth) for sub in node["anyOf"])
        return node == {} or node.get("type") == "null" or None in node.get("enum", ())

    def _extra(self, flat: Flat) -> Node:
        """What keys may follow the listed ones: only where the user describes them, or describes no keys at all."""
        extra = None if flat.additional is None or any(p.schema is False for p in flat.additional) else flat.additional
        patterns = {rx: self._nested(goal) for rx, goal in flat.pattern_properties.items()}
        if flat.name_patterns and extra is not None:
            patterns[_all_of(flat.name_patterns)] = self._nested(extra)
        node: Node = {"patternProperties": patterns} if patterns else {}
        is_map = not flat.properties and not patterns
        if flat.name_patterns or (not is_map and not extra):
            return {**node, "additionalProperties": False}
        if extra:
            return {**node, "additionalProperties": self._nested(extra)}
        return {**node, "additionalProperties": {} if flat.additional is None or flat.additional == () else False}

    def _count_limits(self, flat: Flat, properties: Node, extra: Node, at: str) -> Node:
        """minProperties and maxProperties where they still say something."""
        low, high = flat.limits.get("minProperties", 0), flat.limits.get("maxProperties")
        sure = sum(1 for name in properties if name in flat.required)
        closed = extra == {"additionalProperties": False}
        limits: Node = {}
        if low > sure:
            if low == 1 and not properties:
                limits["minProperties"] = 1
            else:
                self._flattener.refuse("minProperties", at, "absent properties count as null while decoding")
        if high is not None and not (closed and len(properties) <= high):
            if properties and len(properties) > high:
                self._flattener.refuse("maxProperties", at, "every property is written while decoding")
            else:
                limits["maxProperties"] = high
        return limits


def _key(goal: Goal) -> tuple[str, ...]:
    return tuple(part.at for part in goal)


def _numbered(name: str) -> Iterator[str]:
    yield name
    n = 2
    while True:
        yield f"{name}_{n}"
        n += 1


def _any_of(nodes: list[Node]) -> Node:
    """One node for several, each once, unions within unions opened."""
    flat: list[Node] = []
    for node in nodes:
        for sub in node["anyOf"] if set(node) == {"anyOf"} else [node]:
            if sub not in flat:
                flat.append(sub)
    return {} if {} in flat else flat[0] if len(flat) == 1 else {"anyOf": flat}


def _pick(limits: Mapping[str, Any], *keys: str) -> Node:
    return {key: limits[key] for key in keys if key in limits}


def _repeatable(key: str, values: list[Any]) -> Node:
    """One keyword that must hold for several values: the engine intersects what stands in allOf."""
    if not values:
        return {}
    rest = [{key: value} for value in values[1:]]
    return {key: values[0], **({"allOf": rest} if rest else {})}


def _all_of(patterns: tuple[str, ...]) -> str:
    if len(patterns) > 1:
        raise SchemaError("Several 'propertyNames' that hold together cannot be enforced; write one pattern.")
    return patterns[0]


def _check_limits(limits: Mapping[str, Any], at: str) -> None:
    """ImpossibleSchema where a lower limit lies above its upper one."""
    for low, high in _PAIRS:
        if low in limits and high in limits and limits[low] > limits[high]:
            raise ImpossibleSchema(f"{low} {limits[low]} is above {high} {limits[high]} at {shown(at)}.")


def _check_range(flat: Flat, kind: str, at: str) -> None:
    """ImpossibleSchema where no number of the kind lies between the limits."""
    bottom = max(flat.limits.get("minimum", -inf), flat.limits.get("exclusiveMinimum", -inf))
    top = min(flat.limits.get("maximum", inf), flat.limits.get("exclusiveMaximum", inf))
    steps = [Decimal(str(step)) for step in flat.multiples] + ([Decimal(1)] if kind == "integer" else [])
    open_end = bottom == flat.limits.get("exclusiveMinimum") or top == flat.limits.get("exclusiveMaximum")
    empty = bottom > top or (bottom == top and open_end)
    if isfinite(bottom) and isfinite(top) and not empty:
        empty = any(_misses(step, flat.limits, bottom, top) for step in steps)
    if empty:
        raise ImpossibleSchema(f"No {kind} lies between the limits {bottom} and {top} at {shown(at)}.")


def _misses(step: Decimal, limits: Mapping[str, Any], bottom: float, top: float) -> bool:
    """Whether no multiple of `step` lies between the limits."""
    low, high = Decimal(str(bottom)), Decimal(str(top))
    first = (low / step).to_integral_value(ROUND_CEILING) * step
    if first == low and bottom == limits.get("exclusiveMinimum"):
        first += step
    return first > high or (first == high and top == limits.get("exclusiveMaximum"))


def _enum_node(flat: Flat, at: str) -> Node:
    """The members that keep the conditions beside the enum."""
    beside = {
        **flat.limits,
        **_repeatable("pattern", list(flat.patterns)),
        **_repeatable("multipleOf", list(flat.multiples)),
    }
    fits = make_validator(beside).is_valid
    kinds = flat.kinds()
    members = [v for v in flat.enum or () if meet_types(frozenset({json_type(v)}), kinds) and fits(v)]
    if not members:
        raise ImpossibleSchema(f"No member of the enum at {shown(at)} fits the other keywords beside it.")
    return {"enum": members, **({"x-source": flat.source} if flat.source else {})}


def _number_node(flat: Flat, kind: str) -> Node:
    """A number with a bounded number of digits; exponents are excluded by the bounds, as no page writes them."""
    limits = _pick(flat.limits, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    bound = MAX_INTEGER if kind == "integer" else MAX_NUMBER
    low = max(limits.get("minimum", -bound), limits.get("exclusiveMinimum", -bound))
    high = min(limits.get("maximum", bound), limits.get("exclusiveMaximum", bound))
    if "minimum" not in limits and "exclusiveMinimum" not in limits and high > -bound:
        limits["minimum"] = -bound
    if "maximum" not in limits and "exclusiveMaximum" not in limits and low < bound:
        limits["maximum"] = bound
    multiples = list(flat.multiples)
    if kind == "number" and not multiples and high - low > 10**-6:
        multiples = [10**-DECIMALS]
    return {"type": kind, **limits, **_repeatable("multipleOf", multiples)}


def _check_endings(root: Node) -> None:
    """SchemaError for a definition whose every value would contain another, without end."""
    defs = root.get("$defs", {})
    ending: set[str] = set()
    while fresh := {name for name in defs if name not in ending and _ends(defs[name], ending)}:
        ending |= fresh
    endless = [name for name in defs if name not in ending]
    if endless:
        names = ", ".join(f"'{name}'" for name in endless)
        raise ImpossibleSchema(
            f"The schema refers to itself without end: every value of {names} must contain another;"
            " make one of the references optional, or an array."
        )


def _ends(node: Any, ending: set[str]) -> bool:
    """Whether some value of `node` is finite, given the definitions known to end."""
    if not isinstance(node, dict):
        return True
    if "$ref" in node:
        return _target(node) in ending
    if "anyOf" in node:
        return any(_ends(sub, ending) for sub in node["anyOf"])
    if node.get("type") == "object":
        return all(_ends(node["properties"][name], ending) for name in node.get("required", ()))
    if node.get("type") == "array" and node.get("minItems", 0) > 0:
        prefix = node.get("prefixItems", [])[: node["minItems"]]
        rest = [node.get("items", {})] if node["minItems"] > len(prefix) else []
        return all(_ends(sub, ending) for sub in prefix + rest)
    return True


def _target(node: Node) -> str:
    return str(node["$ref"]).removeprefix("#/$defs/")
