"""A user's JSON Schema -> the schema that the grammar engine gets (`nulls.py` is the way back).

The grammar's schema is narrower than the user's and simpler: every property is required, in the order of
`properties`, nothing may be added, and a property that may be absent is nullable instead (a small model that may
leave a key out leaves it out). References point into one flat `$defs`; conjunctions are merged; what the engine
cannot enforce is an error that names the keyword and where it stands.

Bounds are added where the user has none, since a small model can repeat itself without end: see `leaves.py`, and
`MAX_ITEMS` for an array. They lie far above what the values of a page need, and a user's own bound replaces them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lookstruct.schemas.endings import check_endings, target_name
from lookstruct.schemas.errors import SchemaError
from lookstruct.schemas.flat import Flat, Goal, ImpossibleSchema, Part
from lookstruct.schemas.flatten import Flattener
from lookstruct.schemas.json_values import pointer_step, same_json, shown
from lookstruct.schemas.keywords import FORMATS, Format
from lookstruct.schemas.leaves import check_limits, enum_node, number_node, pick, string_node

MAX_ITEMS = 1000

Node = dict[str, Any]
_TYPE_ORDER = ("object", "array", "string", "number", "integer", "boolean", "null")


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
        check_endings(node)
        return Prepared(node, tuple(self._flattener.notes))

    def _translate(self, goal: Goal) -> Node:
        key = _key(goal)
        if key in self._open:
            return {"$ref": f"#/$defs/{self._name(goal)}"}
        flats = self._flattener.alternatives(goal)
        self._open.add(key)
        try:
            return self._cases(flats, goal[0].at if goal else "")
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
        if _key(goal) not in self._names:
            return node
        own = {"$ref": f"#/$defs/{self._name(goal)}"}
        if node != own:
            self._define(goal, node)
        return own

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
            return [enum_node(flat, at)]
        kinds = flat.kinds()
        return [self._node(flat, kind, at) for kind in _TYPE_ORDER if kind in kinds]

    def _reference(self, target: Part) -> Node:
        goal = (target,)
        name = self._name(goal)
        if _key(goal) not in self._open and name not in self._defs:
            self._define(goal, self._translate(goal))
        return {"$ref": f"#/$defs/{name}"}

    def _node(self, flat: Flat, kind: str, at: str) -> Node:
        check_limits(flat.limits, at)
        source = self._source(flat, kind, at)
        if kind == "object":
            return {**self._object(flat, at), **source}
        if kind == "array":
            return {**self._array(flat, at), **source}
        if kind == "string":
            return {**string_node(flat, self._formats, self._flattener.refuse, at), **source}
        if kind in ("number", "integer"):
            return {**number_node(flat, kind, at), **source}
        return {"type": kind, **source}

    def _source(self, flat: Flat, kind: str, at: str) -> Node:
        if flat.source is None or kind == "null":
            return {}
        if kind in ("object", "array"):
            raise SchemaError(f"'x-source' at {shown(at)} stands on an {kind}; put it on the values inside.")
        return {"x-source": flat.source}

    def _array(self, flat: Flat, at: str) -> Node:
        limits = pick(flat.limits, "minItems", "maxItems")
        node: Node = {"type": "array"}
        if flat.prefix:
            node["prefixItems"] = [self._nested(goal) for goal in flat.prefix]
            node["items"] = False if flat.items is None else self._items(flat.items)
        elif flat.items is not None:
            node["items"] = self._items(flat.items)
        if node.get("items") is False:
            limits["maxItems"] = min(len(flat.prefix), limits.get("maxItems", MAX_ITEMS))
            check_limits(limits, at)
        return {**node, "maxItems": max(MAX_ITEMS, limits.get("minItems", 0)), **limits}

    def _items(self, goal: Goal) -> Node | bool:
        if any(part.schema is False for part in goal):
            return False
        return self._nested(goal)

    def _object(self, flat: Flat, at: str) -> Node:
        names = self._object_names(flat, at)
        properties = {name: self._property(flat, name, at) for name in names}
        properties = {name: node for name, node in properties.items() if node is not None}
        node: Node = {"type": "object"}
        if properties:
            node = {**node, "properties": properties, "required": list(properties)}
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
            target = self._defs.get(target_name(node))
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
            if not any(same_json(sub, known) for known in flat):
                flat.append(sub)
    return {} if {} in flat else flat[0] if len(flat) == 1 else {"anyOf": flat}


def _all_of(patterns: tuple[str, ...]) -> str:
    if len(patterns) > 1:
        raise SchemaError("Several 'propertyNames' that hold together cannot be enforced; write one pattern.")
    return patterns[0]
