"""Schema -> columns: how a record lies in a table.

Objects inside a record become columns of their own (`address_city`); lists become JSON in one column, or tables of
their own. What has no fixed form (a choice between objects, an open object, a schema that contains itself) is JSON.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema

LONGEST_NAME = 60
"""PostgreSQL cuts names at 63 bytes; SQLite takes any."""
ROOT_VALUE = "value"
"""The column of a record that is no object."""
RESERVED = ("_id", "_row", "_url", "_run", "_at", "_confidence", "_evidence")
"""Columns of ours, which stand beside the record's."""
Node = Mapping[str, Any]


class Kind(Enum):
    """What a column holds."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    JSON = "JSON"


@dataclass(frozen=True, slots=True)
class Column:
    """`path` leads from a record to the value: ("address", "city"); () is the record itself."""

    name: str
    kind: Kind
    path: tuple[str, ...]

    def value_in(self, record: Any) -> Any:
        """The value; None where something on the way is missing."""
        for step in self.path:
            record = record.get(step) if isinstance(record, Mapping) else None
        return record


@dataclass(frozen=True, slots=True)
class Layout:
    """A table: its columns, and the tables of the lists inside a record, by the list's path."""

    columns: tuple[Column, ...]
    lists: Mapping[tuple[str, ...], Layout]

    def column(self, name: str) -> Column | None:
        """The column of this name, or None."""
        return next((column for column in self.columns if column.name == name), None)


def layout_of(schema: Schema, *, separator: str = "_", lists_apart: bool = False) -> Layout:
    """The layout of a schema's records; of a schema whose root is a list, that of its items.

    >>> from lookstruct.schemas.loader import load_schema
    >>> [c.name for c in layout_of(load_schema("name, maker: {city, zip}, tags: [str]")).columns]
    ['name', 'maker_city', 'maker_zip', 'tags']
    """
    reader = _Reader(schema.grammar_schema, separator, lists_apart)
    root = reader.resolve(schema.grammar_schema)
    return reader.layout(root["items"] if _types(root) == {"array"} and isinstance(root.get("items"), dict) else root)


@dataclass(frozen=True, slots=True)
class _Reader:
    root: Node
    separator: str
    lists_apart: bool

    def layout(self, node: Node, above: tuple[str, ...] = ()) -> Layout:
        """`above` are the references that lead here: one of them again means that the schema contains itself."""
        found = list(self._walk(node, (), above))
        names = unique_names([self.separator.join(path) or ROOT_VALUE for path, _, _ in found])
        columns: list[Column] = []
        lists: dict[tuple[str, ...], Layout] = {}
        for name, (path, kind, items) in zip(names, found, strict=True):
            if items is not None:
                lists[path] = items
            else:
                columns.append(Column(name, kind, path))
        return Layout(tuple(columns), lists)

    def resolve(self, node: Node) -> Node:
        """What `$ref`s and nullability lead to."""
        while True:
            inner = [n for n in node.get("anyOf", ()) if n.get("type") != "null"]
            if "$ref" in node:
                node = self._target(str(node["$ref"]))
            elif len(inner) == 1:
                node = inner[0]
            else:
                return node

    def _target(self, ref: str) -> Node:
        node: Any = self.root
        for step in ref.removeprefix("#").strip("/").split("/"):
            node = node[step.replace("~1", "/").replace("~0", "~")] if step else node
        return node if isinstance(node, Mapping) else {}

    def _walk(
        self, node: Node, path: tuple[str, ...], above: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, ...], Kind, Layout | None]]:
        """(path, kind, layout of the items where a list gets a table) of every column under a node."""
        refs = _refs(node)
        if set(refs) & set(above):
            yield path, Kind.JSON, None
            return
        above = (*above, *refs)
        node = self.resolve(node)
        fields = node.get("properties") or {}
        if _types(node) == {"object"} and fields and node.get("additionalProperties", False) is False:
            for name, inner in fields.items():
                yield from self._walk(inner, (*path, name), above)
        elif _types(node) == {"array"} and self.lists_apart and isinstance(node.get("items"), Mapping) and path:
            yield path, Kind.JSON, self.layout(node["items"], above)
        else:
            yield path, _kind(node), None


def _refs(node: Node) -> tuple[str, ...]:
    inner = [node, *(n for n in node.get("anyOf", ()))]
    return tuple(str(n["$ref"]) for n in inner if "$ref" in n)


def _types(node: Node) -> set[str]:
    """The types a node allows besides null."""
    if "type" in node:
        given = node["type"]
        return {given} - {"null"} if isinstance(given, str) else set(given) - {"null"}
    values = node.get("enum", [node["const"]] if "const" in node else None)
    return {_type_of(value) for value in values if value is not None} if values is not None else set()


def _type_of(value: Any) -> str:
    known = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return known.get(type(value), "object")


def _kind(node: Node) -> Kind:
    types = _types(node)
    if types == {"string"}:
        return Kind.TEXT
    if types == {"integer"}:
        return Kind.INTEGER
    if types and types <= {"integer", "number"}:
        return Kind.NUMBER
    return Kind.BOOLEAN if types == {"boolean"} else Kind.JSON


def unique_names(names: list[str]) -> list[str]:
    """Names that databases tell apart, in any case of letters, and do not cut; none of them is `RESERVED`.

    >>> unique_names(["a_b", "A_b", "_url"])
    ['a_b', 'A_b_2', '_url_2']
    """
    taken = set(RESERVED)
    found = []
    for name in names:
        short, candidate, n = _shortened(name), _shortened(name), 1
        while candidate.casefold() in taken:
            n += 1
            candidate = f"{short}_{n}"
        taken.add(candidate.casefold())
        found.append(candidate)
    return found


def _shortened(name: str) -> str:
    """A name that is too long ends in a few letters that stand for all of it."""
    if len(name.encode()) <= LONGEST_NAME - 4:
        return name
    kept = name.encode()[: LONGEST_NAME - 13].decode("utf-8", "ignore")
    return f"{kept}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
