"""A JSON Schema node -> the alternatives it allows, each free of allOf, anyOf, oneOf and mixed $ref (`Flat`).

Closed objects cannot be combined by `allOf` (each would exclude the other's properties), so conjunctions are merged
here: a `Goal` is a list of schema nodes that must all hold, and `Flattener.alternatives` multiplies them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import combinations
from typing import Any
from urllib.parse import unquote

from lookstruct.schemas.errors import SchemaError
from lookstruct.schemas.flat import Flat, Goal, ImpossibleSchema, Part, common, merge, read_flat
from lookstruct.schemas.json_values import meet_types, pointer_step, shown
from lookstruct.schemas.keywords import KEYWORDS, Support, unsupported_pattern

MAX_ALTERNATIVES = 256

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
            return not common(a.enum, b.enum)
        if a.kinds() | b.kinds() != {"object"}:
            return False
        tagged = any(self._tags_differ(a.member(n), b.member(n)) for n in set(a.required) & set(b.required))
        return tagged or (self._lacks(a, b) and self._lacks(b, a))

    def _tags_differ(self, a: Goal, b: Goal) -> bool:
        """Whether two values can never be equal, judged by their types and enums alone."""
        pairs = ((x, y) for x in self._plain(a) for y in self._plain(b))
        return all(
            not meet_types(x.kinds(), y.kinds())
            or (x.enum is not None and y.enum is not None and not common(x.enum, y.enum))
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


def _tag(schema: Mapping[str, Any]) -> list[Flat]:
    """OpenAPI's discriminator: the property that tells the branches apart must be there to do so."""
    discriminator = schema.get("discriminator")
    name = discriminator.get("propertyName") if isinstance(discriminator, dict) else None
    return [Flat(types=frozenset({"object"}), required=(name,))] if isinstance(name, str) else [Flat()]


def _nodes(node: Any, at: str) -> Iterator[Part]:
    if isinstance(node, dict):
        yield Part(node, at)
        for key, sub in node.items():
            yield from _nodes(sub, f"{at}/{pointer_step(key)}")
    elif isinstance(node, list):
        for index, sub in enumerate(node):
            yield from _nodes(sub, f"{at}/{index}")
