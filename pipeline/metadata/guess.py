"""Document + Schema -> the record as the page's own metadata has it (`MetadataGuess`): a guess, never an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.leaves import escape
from lookstruct.pipeline.metadata.fitting import Fitter
from lookstruct.pipeline.metadata.names import Names, follow
from lookstruct.pipeline.metadata.nodes import nodes_of
from lookstruct.pipeline.schema_nodes import Fields, Node, core

if TYPE_CHECKING:
    from lookstruct.pipeline.values.found import Found
    from lookstruct.schemas.document import Document
    from lookstruct.schemas.loader import Schema

_ENOUGH = 0.5
"""The share of a schema's fields that something of an unknown type must fill to be taken for it."""
_LINES = re.compile(r"\s*[\r\n]+\s*|\s*<(?:br|/p|/li)\s*/?>\s*")
_COMMAS = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in the metadata a value stands: the kind ("json-ld") and the path of schema.org properties there."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class MetadataGuess:
    """The record; fields that the metadata does not give are left out. `origins` are by JSON pointer, of a list's
    items that of the list."""

    data: Mapping[str, Any]
    origins: Mapping[str, Origin] = field(default_factory=dict)


def guess_from_metadata(document: Document, schema: Schema, found: Found) -> MetadataGuess | None:
    """What the metadata says of the one thing that the schema asks for; None where it says nothing of such a thing.

    Each field comes from the most reliable kind of metadata that has it.
    """
    fields = Fields(schema.grammar_schema)
    if not fields.names or not document.metadata:
        return None
    fitter = Fitter(document, found)
    nodes = nodes_of(document.metadata)
    readings = [_NodeReader(fields, fitter, Names(schema.name, node)).read() for node in nodes]
    n_fields = len(fields.names)
    chosen = [best for some in _by_kind(readings) if (best := _best(some, document, n_fields)) is not None]
    return _joined(chosen) if any(reading.is_meant(n_fields) for reading in chosen) else None


def _joined(readings: Sequence[_Reading]) -> MetadataGuess:
    """One record; a field that several have comes whole from the first."""
    owners: dict[str, _Reading] = {}
    for reading in readings:
        owners = {**dict.fromkeys(reading.data, reading), **owners}
    origins = {
        pointer: origin
        for name, reading in owners.items()
        for pointer, origin in reading.origins.items()
        if pointer.split("/")[1] == escape(name)
    }
    return MetadataGuess({name: reading.data[name] for name, reading in owners.items()}, origins)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One thing of the metadata, read as a record."""

    names: Names
    data: Mapping[str, Any]
    origins: Mapping[str, Origin]

    @property
    def kind(self) -> str:
        """The kind of metadata."""
        return self.names.node.kind

    def is_meant(self, n_fields: int) -> bool:
        """Whether it is of a type that the schema stands for, or fills so many of its fields that it must be."""
        return self.names.fits or len(self.data) > _ENOUGH * n_fields


@dataclass(frozen=True, slots=True)
class _Place:
    """A field's JSON pointer, and its name as `SchemaOrg.paths` writes it, without the numbers of items."""

    pointer: str
    name: str

    def field(self, name: str) -> _Place:
        """A field of the object here."""
        return _Place(f"{self.pointer}/{escape(name)}", f"{self.name}.{name}" if self.name else name)

    def item(self, at: int) -> _Place:
        """An item of the list here."""
        return _Place(f"{self.pointer}/{at}", self.name)


def _by_kind(readings: Sequence[_Reading]) -> Iterator[list[_Reading]]:
    """The readings that say something, by kind of metadata."""
    said = [reading for reading in readings if reading.data]
    for kind in dict.fromkeys(reading.kind for reading in said):
        yield [reading for reading in said if reading.kind == kind]


def _best(readings: Sequence[_Reading], document: Document, n_fields: int) -> _Reading | None:
    """Of several things the one that is meant: of the right type, named in the page's title, with the most fields.

    OpenGraph describes the page as a whole, so it may add to whatever the page is about.
    """

    def rank(reading: _Reading) -> tuple[bool, bool, int]:
        named = any(isinstance(v, str) and len(v) > 3 and v in document.title for v in reading.data.values())
        return reading.names.fits, named, len(reading.data)

    meant = [reading for reading in readings if reading.is_meant(n_fields) or reading.kind == "opengraph"]
    return max(meant, key=rank, default=None)


class _NodeReader:
    """Reads one thing of the metadata as a record of one schema."""

    def __init__(self, fields: Fields, fitter: Fitter, names: Names) -> None:
        self._fields = fields
        self._fitter = fitter
        self._names = names
        self._origins: dict[str, Origin] = {}

    def read(self) -> _Reading:
        """The whole record."""
        data = self._object(self._names.node.data, self._fields.root, _Place("", ""))
        return _Reading(self._names, data, self._origins)

    def _object(self, item: Any, node: Node, place: _Place) -> dict[str, Any]:
        """The fields of an object that `item` gives."""
        found = {
            name: self._field(item, child, place.field(name)) for name, child in node.get("properties", {}).items()
        }
        return {name: value for name, value in found.items() if value is not None}

    def _field(self, item: Any, node: Node, place: _Place) -> Any:
        """The value of the first path that leads to one; None where none does."""
        for path in self._names.paths(place.name):
            value = self._value(follow(item, path), core(node, self._fields.defs), place)
            if value is not None:
                self._origins[place.pointer] = Origin(self._names.node.kind, path)
                return value
        return None

    def _value(self, given: list[Any], node: Node, place: _Place) -> Any:
        """What a field becomes of the values that a path led to; None where none fits."""
        if node.get("type") == "array":
            return self._items(given, core(node.get("items", {}), self._fields.defs), place) or None
        if node.get("type") == "object":
            return next(filter(None, (self._object(one, node, place) for one in given)), None)
        return next((fit for one in given if (fit := self._fitter.fit(one, node)) is not None), None)

    def _items(self, given: list[Any], node: Node, place: _Place) -> list[Any]:
        if node.get("type") == "object":
            return [made for at, one in enumerate(given) if (made := self._object(one, node, place.item(at)))]
        separator = _LINES if node.get("x-source") in ("line", "item") else _COMMAS
        parts = [part for one in given for part in (separator.split(one) if isinstance(one, str) else [one])]
        return [fit for one in parts if (fit := self._fitter.fit(one, node)) not in (None, "")]
