"""Items written so far -> which row of the page gave each, which cell each field (`RowMapping`): then the next rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from lookstruct.decoding.atom_values import AtomValues, Place, Reader
from lookstruct.decoding.field_words import similarity, words
from lookstruct.decoding.json_text import number_forms, string
from lookstruct.decoding.page_text import Line
from lookstruct.decoding.page_values import Labels
from lookstruct.decoding.progress import Done
from lookstruct.decoding.schema_walk import Path, SchemaNode

_REACH = 12  # lines of one item
_SLACK = 2  # lines that may stand between items beyond what stood there so far
_ENOUGH_HEADERS = 2
_NAMED = 0.45  # likeness of a list's name and the heading above it
_SHORT_LINE = 48
_ALIKE = 0.4  # likeness of a field's name and a column's header
_READERS = (
    *("text", "cell", "price", "number", "date", "time", "duration", "url", "email", "phone", "any number"),
    *("rest", "head", "part", "row", "code"),
)

Items = Mapping[int, Mapping[Path, Done]]


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


class RowMapper:
    """Learns and applies mappings on one page."""

    def __init__(self, values: AtomValues) -> None:
        self._values = values
        self._page = values.page
        self._labels = Labels(values.page)

    def learn(self, items: Items, promise: RowMapping | None = None) -> RowMapping | None:
        """The mapping that explains the items written so far, None if the page explains none of them.

        Where the items leave a choice, and for fields that none of them has yet, `promise` decides.
        """
        key = self._key_field(items)
        if key is None:
            return None
        lines = self._lines(items, key)
        if not lines:
            return None
        votes: dict[Path, Counter[Column]] = {}
        for index, line in lines.items():
            for rel, done in items[index].items():
                seen = {column for place in self._places(done) if (column := self._column(place, line)) is not None}
                votes.setdefault(rel, Counter()).update(seen)
        promised = {} if promise is None else promise.columns
        columns = _choose(votes, promised)
        constants = _constants(items, {rel: votes[rel][column] for rel, column in columns.items()})
        columns = {rel: column for rel, column in columns.items() if rel not in constants}
        untold = {rel: column for rel, column in promised.items() if rel not in votes and rel not in constants}
        if not columns:
            return None
        return RowMapping({**untold, **columns}, constants, lines, self._short(items), width=self._width(lines))

    def _width(self, lines: Mapping[int, int]) -> int | None:
        """The number of atoms that most items' lines have, where it is more than one."""
        widths = Counter(self._page.lines[line].last - self._page.lines[line].first for line in lines.values())
        width = widths.most_common(1)[0][0]
        return width if width > 1 else None

    def from_header(self, fields: Mapping[Path, SchemaNode]) -> RowMapping | None:
        """The mapping that a table's header promises for items with these fields."""
        best: tuple[float, RowMapping | None] = (0.0, None)
        for at, header in enumerate(self._labels.headers):
            if header == at and at + 1 < len(self._page.lines):
                columns, score = self._match_header(at, fields)
                if len(columns) >= _ENOUGH_HEADERS and score > best[0]:
                    best = score, RowMapping(columns, first=at + 1)
        return best[1]

    def from_heading(self, name: str) -> RowMapping | None:
        """A list under a heading that reads like the field's name."""
        wanted = words(name)
        best, chosen = _NAMED, None
        for at, line in enumerate(self._page.lines[:-1]):
            text = self._page.atom_text(line.first)
            if line.last - line.first == 1 and len(text) < _SHORT_LINE:
                like = similarity(wanted, words(text)) + (0.05 if self._page.lines[at + 1].marker == "-" else 0.0)
                if like > best:
                    best, chosen = like, at + 1
        return None if chosen is None else self._whole_lines(chosen)

    def from_list(self, last: int) -> RowMapping | None:
        """The next list (two bullets or more) after the place `last`."""
        lines = self._page.lines
        for at in range(max(0, self._page.line_of(self._page.atom_at(last))), len(lines) - 1):
            begins = lines[at].marker == "-" and (at == 0 or lines[at - 1].marker != "-")
            if begins and lines[at + 1].marker == "-" and self._page.atoms[lines[at].first][0] >= last:
                return self._whole_lines(at)
        return None

    def _whole_lines(self, first: int) -> RowMapping:
        """One item a line; a line of several cells is read as a whole."""
        line = self._page.lines[first]
        reader = Reader("text", 0) if line.last - line.first == 1 else Reader("row", 0)
        return RowMapping({(): Column(0, 0, reader)}, first=first)

    def from_cards(self, fields: Mapping[Path, SchemaNode]) -> RowMapping | None:
        """Blocks under headings of one level, three or more: the heading is the first text, the rest stands below."""
        key = next((rel for rel, node in fields.items() if node.only("string") and not node.enum), None)
        counts = Counter(line.marker for line in self._page.lines if line.marker.startswith("#"))
        marker = max((m for m, n in counts.items() if n > 2), key=len, default=None)
        if key is None or marker is None:
            return None
        at = next(i for i, line in enumerate(self._page.lines) if line.marker == marker)
        columns = {key: Column(0, 0, Reader("text", 0))}
        self._fill_below(columns, fields, at)
        return RowMapping(columns, first=at)

    def _fill_below(self, columns: dict[Path, Column], fields: Mapping[Path, SchemaNode], at: int) -> None:
        """Columns for the other fields from the lines under a card's heading, by type, each line's text once."""
        end = next((i for i in range(at + 1, len(self._page.lines)) if self._page.lines[i].marker), at + _REACH)
        texts = list(range(1, min(end - at, _REACH)))
        for rel, node in fields.items():
            if rel in columns or not node.types:
                continue
            reader = _reader_for(node)
            for below in texts:
                column = Column(below, 0, reader)
                text = self._read(column, at)
                if text is not None and _as_json(text, node, short=False) is not None:
                    columns[rel] = column
                    if reader.kind == "text":
                        texts.remove(below)
                    break

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
        text = None if column is None else self._read(column, line, mapping.width)
        raw = None if text is None else _as_json(text, node, mapping.short.get(rel, False))
        return b"null" if raw is None and node.nullable else raw

    def _read(self, column: Column, line: int, width: int | None = None) -> str | None:
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

    def fits(self, mapping: RowMapping, line: int, nodes: Mapping[Path, SchemaNode]) -> bool:
        """Whether an item could stand at `line`: its required columns can be read there, and half of all."""
        readable = {
            rel: text is not None and _as_json(text, nodes.get(rel, SchemaNode()), short=False) is not None
            for rel, column in mapping.columns.items()
            for text in [self._read(column, line, mapping.width)]
        }
        required = all(found or nodes.get(rel, SchemaNode()).nullable for rel, found in readable.items())
        return required and sum(readable.values()) * 2 >= len(readable)

    def _places(self, done: Done) -> list[Place]:
        if isinstance(done.value, str):
            return self._values.places(done.value)
        if isinstance(done.value, bool) or done.value is None:
            return []
        return self._values.number_places(float(done.value))

    def _key_field(self, items: Items) -> Path | None:
        """The field that finds an item's line: one that stands on the page in most items, text before numbers."""
        found: Counter[Path] = Counter()
        texts: set[Path] = set()
        for item in items.values():
            for rel, done in item.items():
                if self._places(done):
                    found[rel] += 1
                    if isinstance(done.value, str) and len(done.value) > 2:
                        texts.add(rel)
        return max(found, key=lambda rel: (found[rel], rel in texts), default=None)

    def _lines(self, items: Items, key: Path) -> dict[int, int]:
        """The line of each item that has its key field: near its other fields, and after the item before."""
        lines: dict[int, int] = {}
        last = -1
        for index in sorted(items):
            done = items[index].get(key)
            if done is None:
                continue
            options = list(dict.fromkeys(self._page.line_of(place.atom) for place in self._places(done)))
            if not options:
                continue
            ahead = [line for line in options if line > last] or options
            line = max(ahead, key=lambda at: (self._support(items[index], at), -abs(at - last)))
            lines[index] = last = line
        return lines

    def _support(self, item: Mapping[Path, Done], line: int) -> int:
        """How many of the item's fields stand within reach of `line`."""
        return sum(
            any(abs(self._page.line_of(place.atom) - line) <= _REACH for place in self._places(done))
            for done in item.values()
        )

    def _column(self, place: Place, line: int) -> Column | None:
        at = self._page.line_of(place.atom)
        if abs(at - line) > _REACH:
            return None
        return Column(at - line, place.atom - self._page.lines[at].first, place.reader)

    def _match_header(self, at: int, fields: Mapping[Path, SchemaNode]) -> tuple[dict[Path, Column], float]:
        """Fields to columns by likeness of name and header; what is left over on both sides, in order and by type."""
        row = self._page.lines[at]
        cells = [words(self._page.atom_text(atom)) for atom in range(row.first, row.last)]
        likeness = {
            (rel, i): similarity(
                words(" ".join(step for step in rel if isinstance(step, str))), cell, words(node.words)
            )
            for rel, node in fields.items()
            for i, cell in enumerate(cells)
        }
        columns: dict[Path, Column] = {}
        total = 0.0
        for (rel, i), like in sorted(likeness.items(), key=lambda pair: -pair[1]):
            if like >= _ALIKE and rel not in columns and all(column.atom != i for column in columns.values()):
                columns[rel] = Column(0, i, _reader_for(fields[rel]))
                total += like
        if columns:
            self._fill(columns, fields, range(len(cells)), at + 1)
        return columns, total

    def _fill(
        self, columns: dict[Path, Column], fields: Mapping[Path, SchemaNode], cells: range, first_line: int
    ) -> None:
        """Columns for the fields without one, from the cells without a field, where the first row has the type."""
        left = [i for i in cells if all(column.atom != i for column in columns.values())]
        for rel, node in fields.items():
            if rel in columns:
                continue
            for i in left:
                column = Column(0, i, _reader_for(node))
                text = self._read(column, first_line)
                if text is not None and _as_json(text, node, short=False) is not None:
                    columns[rel] = column
                    left.remove(i)
                    break

    def _short(self, items: Items) -> dict[Path, bool]:
        """Per field, whether its numbers were last written shorter than they stand on the page."""
        found: dict[Path, bool] = {}
        for item in items.values():
            for rel, done in item.items():
                if isinstance(done.value, int | float) and not isinstance(done.value, bool):
                    shown = {
                        text
                        for place in self._places(done)
                        if (text := self._values.read(*place)) is not None and "." in text and text.endswith("0")
                    }
                    if shown:
                        found[rel] = not (b"." in done.raw and done.raw.endswith(b"0"))
        return found


def _period(lines: Mapping[int, int]) -> int | None:
    """The lines from one item to the next where that is always the same, None where it is not known.

    >>> _period({0: 10, 1: 13, 3: 19}), _period({0: 10, 1: 12, 2: 15}), _period({0: 10})
    (3, None, None)
    """
    ordered = sorted(lines)
    steps = {(lines[b] - lines[a]) / (b - a) for a, b in pairwise(ordered)}
    step = steps.pop() if len(steps) == 1 else 0
    return int(step) if step > 0 and step == int(step) else None


def _choose(votes: Mapping[Path, Counter[Column]], promised: Mapping[Path, Column]) -> dict[Path, Column]:
    """Each field's column: most votes, then what was promised, then a cell that no field has yet, then the nearest."""
    chosen: dict[Path, Column] = {}
    taken: set[tuple[int, int]] = set()

    def merit(rel: Path, column: Column, count: int) -> tuple[int, bool, bool, int, int, int]:
        kind = column.reader.kind
        rank = _READERS.index(kind) if kind in _READERS else len(_READERS)
        cell = (column.below, column.atom)
        as_promised = rel in promised and cell == (promised[rel].below, promised[rel].atom)
        return count, as_promised, cell not in taken, -abs(column.below), -rank, -column.atom

    for rel, count in votes.items():
        if count:
            best = max(count, key=lambda column: merit(rel, column, count[column]))
            chosen[rel] = best
            taken.add((best.below, best.atom))
    return chosen


def _constants(items: Items, explained: Mapping[Path, int]) -> dict[Path, bytes]:
    """Fields that have had one value in all items, and that the page explains less well."""
    raws: dict[Path, list[bytes]] = {}
    for item in items.values():
        for rel, done in item.items():
            raws.setdefault(rel, []).append(done.raw)
    return {rel: seen[0] for rel, seen in raws.items() if len(set(seen)) == 1 and explained.get(rel, 0) < len(seen)}


def _reader_for(node: SchemaNode) -> Reader:
    if node.only("integer", "number"):
        return Reader("any number", 0)
    return Reader("date", 0) if node.format in ("date", "date-time") else Reader("text", 0)


def _as_json(text: str, node: SchemaNode, short: bool) -> bytes | None:
    """A reading as a value of the field's type, None if it cannot be one."""
    if node.only("integer", "number"):
        forms = number_forms(text, integer=node.only("integer"))
        return forms[min(len(forms) - 1, int(short))].encode() if forms else None
    return string(text) if not node.types or "string" in node.types else None
