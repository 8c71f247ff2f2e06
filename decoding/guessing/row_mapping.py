"""How items come from rows of the page (`RowMapping`), and reading rows by it (`RowReader`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from lookstruct.decoding.guessing.atom_values import AtomValues, Reader
from lookstruct.decoding.guessing.json_text import number_forms, string
from lookstruct.decoding.guessing.page_text import Line
from lookstruct.decoding.guessing.schema_walk import Path, SchemaNode

REACH = 12
"""Lines that one item may take."""
_SLACK = 2  # lines that may stand between items beyond what stood there so far


class Column(NamedTuple):
    """Where an item's field stands: lines below the item's own line, atom within that line, and how it is read."""

    below: int
    atom: int
    reader: Reader


@dataclass(frozen=True, slots=True)
class RowMapping:
    """How items come from the page. `lines` are the items' own lines, by index; `fields` without a column or a
    constant are unknown. `short` tells how numbers of a field were written: without trailing zeros or with.
    """

    columns: Mapping[Path, Column]
    constants: Mapping[Path, bytes] = field(default_factory=dict)
    lines: Mapping[int, int] = field(default_factory=dict)
    short: Mapping[Path, bool] = field(default_factory=dict)
    first: int | None = None  # where the first item is expected, for mappings that come from a header
    width: int | None = None  # atoms in an item's own line, where that is always the same

    @property
    def reach(self) -> int:
        """Lines that an item takes, its own included."""
        return 1 + max((column.below for column in self.columns.values()), default=0)


class RowReader:
    """Applies mappings to the lines of one page."""

    def __init__(self, values: AtomValues) -> None:
        self._values = values
        self._page = values.page

    def next_lines(self, mapping: RowMapping, index: int) -> Iterator[int]:
        """Lines where the item `index` may stand, likeliest first."""
        if index in mapping.lines:
            yield mapping.lines[index]
            return
        if not mapping.lines:
            if mapping.first is not None:
                yield from range(mapping.first, min(mapping.first + 3, len(self._page.lines)))
            return
        start = mapping.lines[max(mapping.lines)]
        like = self._page.lines[start]
        period = _period(mapping.lines)
        first = start + (mapping.reach if period is None else period)
        for line in range(start + 1, min(first + first - start + _SLACK, len(self._page.lines))):
            found = self._page.lines[line]
            if found.marker.startswith("#") and found.marker != like.marker:
                return
            if line >= first and found.shape == like.shape:
                yield line

    def value(self, mapping: RowMapping, rel: Path, line: int, node: SchemaNode) -> bytes | None:
        """The field of the item at `line` as JSON, None where the page does not say."""
        if rel in mapping.constants:
            return mapping.constants[rel]
        column = mapping.columns.get(rel)
        text = None if column is None else self.read(column, line, mapping.width)
        raw = None if text is None else as_json(text, node, mapping.short.get(rel, False))
        return b"null" if raw is None and node.nullable else raw

    def fits(self, mapping: RowMapping, line: int, nodes: Mapping[Path, SchemaNode]) -> bool:
        """Whether an item could stand at `line`: its required columns can be read there, and half of all."""
        readable = {
            rel: text is not None and as_json(text, nodes.get(rel, SchemaNode()), short=False) is not None
            for rel, column in mapping.columns.items()
            for text in [self.read(column, line, mapping.width)]
        }
        required = all(found or nodes.get(rel, SchemaNode()).nullable for rel, found in readable.items())
        return required and sum(readable.values()) * 2 >= len(readable)

    def read(self, column: Column, line: int, width: int | None = None) -> str | None:
        """What a column says for the item at `line`; `width` is the usual number of cells of an item's own line."""
        at = line + column.below
        if not 0 <= at < len(self._page.lines):
            return None
        row = self._page.lines[at]
        atom = self._atom(row, column.atom, width if column.below == 0 else None)
        return None if atom is None else self._values.read(atom, column.reader)

    def _atom(self, row: Line, column: int, width: int | None) -> int | None:
        """The atom of a row in that column; in a row with fewer cells than usual only the first and last are known."""
        n_cells = row.last - row.first
        if width is None or n_cells == width:
            return row.first + column if column < n_cells else None
        return row.first if column == 0 else row.last - 1 if column == width - 1 else None


def _period(lines: Mapping[int, int]) -> int | None:
    """The lines from one item to the next where that is always the same, None where it is not known.

    >>> _period({0: 10, 1: 13, 3: 19}), _period({0: 10, 1: 12, 2: 15}), _period({0: 10})
    (3, None, None)
    """
    ordered = sorted(lines)
    steps = {(lines[b] - lines[a]) / (b - a) for a, b in pairwise(ordered)}
    step = steps.pop() if len(steps) == 1 else 0
    return int(step) if step > 0 and step == int(step) else None


def reader_for(node: SchemaNode) -> Reader:
    """How a cell is read for a field of this type, as far as nothing else is known."""
    if node.only("integer", "number"):
        return Reader("any number", 0)
    return Reader("date", 0) if node.format in ("date", "date-time") else Reader("text", 0)


def as_json(text: str, node: SchemaNode, short: bool) -> bytes | None:
    """A reading as a value of the field's type, None if it cannot be one."""
    if node.only("integer", "number"):
        forms = number_forms(text, integer=node.only("integer"))
        return forms[min(len(forms) - 1, int(short))].encode() if forms else None
    return string(text) if not node.types or "string" in node.types else None
