"""Schema + place -> the JSON between values: what must be written before the next value, and what may follow one.

>>> skeleton = Skeleton({"properties": {"name": {"type": "string"}, "price": {"type": "number"}}})
>>> [way.text for way in skeleton.after(("name",))]
[b', "price": ']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lookstruct.decoding.cursor import Cursor, Place
from lookstruct.decoding.guessing.json_text import dumps, key_text
from lookstruct.decoding.guessing.schema_walk import Path, SchemaNode, SchemaWalk

_MAX_NESTING = 12
_MAX_KEPT = 4096


class Stage(Enum):
    """How far a value has come."""

    AHEAD = "ahead"  # nothing of it is written
    INSIDE = "inside"  # some of it is written
    ENDED = "ended"  # it is complete


@dataclass(frozen=True, slots=True)
class Slot:
    """The value that matters at a cursor: the next one, the unfinished one, or the one that has just ended.

    `lead` is what must be written before the value can begin (the rest of its key, or a space); `written` is what
    there is of an unfinished value, its opening quote included.
    """

    stage: Stage
    path: Path
    lead: bytes = b""
    written: bytes = b""


@dataclass(frozen=True, slots=True)
class Way:
    """One way on after a value: `text` leads to the value at `path`, or (`path` None) to the end of the record.

    `closes` counts the arrays that end on the way: 0 keeps to the array the value is in.
    """

    text: bytes
    path: Path | None
    closes: int = 0


class Skeleton:
    """The fixed text of one schema's records."""

    def __init__(self, schema: Mapping[str, Any] | None) -> None:
        self.walk = SchemaWalk(schema)
        self._after: dict[Path, tuple[Way, ...]] = {}
        self._nodes: dict[Path, SchemaNode] = {}

    def slot(self, text: bytes, cursor: Cursor) -> Slot | None:
        """The slot at `cursor`; None at the end, and where no schema tells which key comes next."""
        if cursor.place in (Place.IN_STRING, Place.IN_SCALAR):
            return Slot(Stage.INSIDE, cursor.path, written=text[cursor.value_start :])
        if cursor.place is Place.AFTER_VALUE:
            return Slot(Stage.ENDED, cursor.path)
        if cursor.place is Place.VALUE_START:
            return Slot(Stage.AHEAD, cursor.path, lead=b" " if text.endswith(b",") else b"")
        if cursor.place is Place.AFTER_KEY:
            return Slot(Stage.AHEAD, cursor.path, lead=b" " if text.endswith(b":") else b": ")
        return None if cursor.place is Place.DONE else self._key_slot(text, cursor)

    def _key_slot(self, text: bytes, cursor: Cursor) -> Slot | None:
        """At or inside a key: the member it begins, as far as its written part tells."""
        written = text[cursor.value_start :]
        before = text[: cursor.value_start].rstrip()
        first = before.endswith(b"{")
        if not first and not cursor.path:
            return None
        parent = cursor.path if first else cursor.path[:-1]
        node = self.walk.at(parent)
        if node is None or not node.keys:
            return None
        key = node.keys[0] if first else _next(node.keys, cursor.path[-1])
        names = ([] if key is None else [key]) + list(node.keys)
        found = next((name for name in names if key_text(name).startswith(written)), None)
        if found is None:
            return None
        space = b" " if cursor.place is Place.KEY_START and text.endswith(b",") else b""
        return Slot(Stage.AHEAD, (*parent, found), lead=space + key_text(found)[len(written) :])

    def node(self, path: Path) -> SchemaNode:
        """What the schema says of `path`; an empty node where it says nothing."""
        found = self._nodes.get(path)
        if found is None:
            if len(self._nodes) > _MAX_KEPT:
                self._nodes.clear()
            found = self._nodes[path] = self.walk.at(path) or SchemaNode()
        return found

    def descend(self, path: Path) -> tuple[bytes, Path]:
        """Through the openings of objects to the first value inside: `{"seller": {"name": ` and the name's path."""
        opened = b""
        for _ in range(_MAX_NESTING):
            node = self.node(path)
            if node.sole != "object" or not node.keys:
                break
            opened += b"{" + key_text(node.keys[0])
            path = (*path, node.keys[0])
        return opened, path

    def opening(self, path: Path) -> bytes:
        """The first bytes of the value at `path` as far as the schema knows them: `"`, `[{"name": "`, or nothing."""
        opened, path = self.descend(path)
        node = self.node(path)
        if node.sole == "string" and not node.enum:
            return opened + b'"'
        if node.sole == "array" and len(path) < _MAX_NESTING:
            return opened + b"[" + self.opening((*path, 0))
        return opened

    def after(self, path: Path) -> tuple[Way, ...]:
        """The ways on after the value at `path` has ended: to the next item first, then ever further out."""
        if path not in self._after:
            if len(self._after) > _MAX_KEPT:
                self._after.clear()
            self._after[path] = self._ways(path, closes=0, prefix=b"")
        return self._after[path]

    def _ways(self, path: Path, closes: int, prefix: bytes) -> tuple[Way, ...]:
        if not path:
            return (Way(prefix, None, closes),)
        parent, last = path[:-1], path[-1]
        if isinstance(last, int):
            return (
                self._to(prefix + b", ", (*parent, last + 1), closes),
                *self._ways(parent, closes + 1, prefix + b"]"),
            )
        key = _next(self.node(parent).keys, last)
        if key is None:
            return self._ways(parent, closes, prefix + b"}")
        return (self._to(prefix + b", " + key_text(key), (*parent, key), closes),)

    def _to(self, text: bytes, path: Path, closes: int) -> Way:
        opened, inner = self.descend(path)
        return Way(text + opened, inner, closes)


def literal_texts(node: SchemaNode) -> list[bytes]:
    """The closed list of values that the schema allows at a node, as JSON; [] where it is open.

    >>> literal_texts(SchemaNode(types=frozenset({"boolean"}))), literal_texts(SchemaNode(enum=("a",)))
    ([b'true', b'false'], [b'"a"'])
    """
    if node.enum:
        return [dumps(value) for value in node.enum]
    return [b"true", b"false"] if node.only("boolean") else []


def _next(keys: tuple[str, ...], key: str | int) -> str | None:
    """The key after `key`, None for the last one and for an unknown one."""
    if key not in keys:
        return None
    i = keys.index(str(key)) + 1
    return keys[i] if i < len(keys) else None
