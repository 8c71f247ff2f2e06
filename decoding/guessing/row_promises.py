"""Schema and page -> where an array's items may come from before one is written: a header, cards, a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lookstruct.decoding.guessing.atom_values import AtomValues, Reader
from lookstruct.decoding.guessing.field_words import similarity, words
from lookstruct.decoding.guessing.page_values import Labels
from lookstruct.decoding.guessing.row_mapping import REACH, Column, RowMapping, RowReader, as_json, reader_for
from lookstruct.decoding.guessing.schema_walk import Path, SchemaNode

_ENOUGH_HEADERS = 2
_NAMED = 0.45  # likeness of a list's name and the heading above it
_SHORT_LINE = 48
_ALIKE = 0.4  # likeness of a field's name and a column's header
_LIST_BONUS = 0.05

Fields = Mapping[Path, SchemaNode]
"""The fields of an item, in the schema's order."""


class RowPromises:
    """What one page promises for arrays that have no items yet."""

    def __init__(self, values: AtomValues) -> None:
        self._page = values.page
        self._labels = Labels(values.page)
        self._reader = RowReader(values)

    def from_header(self, fields: Fields) -> RowMapping | None:
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
                like = similarity(wanted, words(text)) + (
                    _LIST_BONUS if self._page.lines[at + 1].marker == "-" else 0.0
                )
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

    def from_cards(self, fields: Fields) -> RowMapping | None:
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

    def _whole_lines(self, first: int) -> RowMapping:
        """One item a line; a line of several cells is read as a whole."""
        line = self._page.lines[first]
        reader = Reader("text", 0) if line.last - line.first == 1 else Reader("row", 0)
        return RowMapping({(): Column(0, 0, reader)}, first=first)

    def _match_header(self, at: int, fields: Fields) -> tuple[dict[Path, Column], float]:
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
                columns[rel] = Column(0, i, reader_for(fields[rel]))
                total += like
        if columns:
            self._fill(columns, fields, range(len(cells)), at + 1)
        return columns, total

    def _fill(self, columns: dict[Path, Column], fields: Fields, cells: range, first_line: int) -> None:
        """Columns for the fields without one, from the cells without a field, where the first row has the type."""
        left = [i for i in cells if all(column.atom != i for column in columns.values())]
        for rel, node in fields.items():
            if rel in columns:
                continue
            for i in left:
                column = Column(0, i, reader_for(node))
                text = self._reader.read(column, first_line)
                if text is not None and as_json(text, node, short=False) is not None:
                    columns[rel] = column
                    left.remove(i)
                    break

    def _fill_below(self, columns: dict[Path, Column], fields: Fields, at: int) -> None:
        """Columns for the other fields from the lines under a card's heading, by type, each line's text once."""
        end = next((i for i in range(at + 1, len(self._page.lines)) if self._page.lines[i].marker), at + REACH)
        texts = list(range(1, min(end - at, REACH)))
        for rel, node in fields.items():
            if rel in columns or not node.types:
                continue
            reader = reader_for(node)
            for below in texts:
                column = Column(below, 0, reader)
                text = self._reader.read(column, at)
                if text is not None and as_json(text, node, short=False) is not None:
                    columns[rel] = column
                    if reader.kind == "text":
                        texts.remove(below)
                    break
