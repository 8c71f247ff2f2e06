"""Arrays of the record <-> rows of the page: which line an item comes from, and what its fields read there."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lookstruct.decoding.guessing.atom_values import AtomValues
from lookstruct.decoding.guessing.page_text import PageText
from lookstruct.decoding.guessing.progress import Done, Progress
from lookstruct.decoding.guessing.row_learning import RowLearner
from lookstruct.decoding.guessing.row_mapping import RowMapping, RowReader
from lookstruct.decoding.guessing.row_promises import RowPromises
from lookstruct.decoding.guessing.schema_walk import Path, SchemaNode
from lookstruct.decoding.guessing.skeleton import Skeleton
from lookstruct.decoding.request import Hints

_RECENT = 6  # items that a mapping is learnt from
_INLINE = re.compile(r"\s*(?:[,;/·•|]|\band\b|&)\s+")


@dataclass(frozen=True, slots=True)
class Row:
    """Item `index` of `array`, taken to come from line `line` of the page."""

    array: Path
    index: int
    line: int


def split_path(path: Path) -> tuple[Path, int, Path] | None:
    """The innermost array around `path`, the index in it and the place in the item; None outside arrays.

    >>> split_path(("lines", 2, "price")), split_path(("total",))
    ((('lines',), 2, ('price',)), None)
    """
    for depth in range(len(path) - 1, -1, -1):
        step = path[depth]
        if isinstance(step, int):
            return path[:depth], step, path[depth + 1 :]
    return None


class Items:
    """What the page says about the items of every array of one record."""

    def __init__(self, hints: Hints, page: PageText, skeleton: Skeleton, progress: Progress) -> None:
        self._page = page
        self._skeleton = skeleton
        self._progress = progress
        values = AtomValues(page, hints.candidates)
        self._learner, self._reader, self._promises = RowLearner(values), RowReader(values), RowPromises(values)
        self._learnt: dict[Path, tuple[int, RowMapping | None]] = {}
        self._after: dict[tuple[Row, int], Row | None] = {}
        self._promised: dict[Path, tuple[RowMapping | None, str]] = {}

    def mapping(self, array: Path) -> tuple[RowMapping | None, str]:
        """What the items so far teach ("rows", or "row" if it was one), else what the page promises ("header",
        "cards", "heading", "list")."""
        items = self._progress.items.get(array, {})
        if not items:
            return self._promise(array)
        n_done = self._progress.n_done[array]
        if self._learnt.get(array, (0, None))[0] != n_done:
            recent = {index: items[index] for index in sorted(items)[-_RECENT:]}
            self._learnt[array] = (n_done, self._learner.learn(recent, self._promise(array)[0]))
            self._after.clear()
        mapping = self._learnt[array][1]
        if mapping is None:
            return self._promise(array) if len(items) == 1 and 0 in items else (None, "")
        return mapping, "rows" if len(mapping.lines) > 1 else "row"

    def rows(self, array: Path, index: int) -> list[Row]:
        """Where the item may stand, likeliest first."""
        mapping = self.mapping(array)[0]
        if mapping is None:
            return []
        nodes = self._nodes(mapping, array)
        lines = self._reader.next_lines(mapping, index)
        return [Row(array, index, line) for line in lines if self._reader.fits(mapping, line, nodes)]

    def next_line(self, array: Path, index: int) -> Row | None:
        """The line right after the last item's, whatever it looks like: models go on where they should stop."""
        mapping = self.mapping(array)[0]
        if mapping is None or index - 1 not in mapping.lines:
            return None
        line = mapping.lines[index - 1] + mapping.reach
        return Row(array, index, line) if line < len(self._page.lines) else None

    def after(self, row: Row) -> Row | None:
        """The row of the next item, None where the rows end."""
        mapping = self.mapping(row.array)[0]
        if mapping is None:
            return None
        key = (row, self._progress.n_done[row.array])
        if key not in self._after:
            self._after[key] = self._find_after(mapping, row)
        return self._after[key]

    def _find_after(self, mapping: RowMapping, row: Row) -> Row | None:
        known = replace(mapping, lines={**mapping.lines, row.index: row.line})
        nodes = self._nodes(mapping, row.array)
        lines = self._reader.next_lines(known, row.index + 1)
        found = next((line for line in lines if self._reader.fits(mapping, line, nodes)), None)
        return None if found is None else Row(row.array, row.index + 1, found)

    def value(self, row: Row, rel: Path) -> bytes | None:
        """What the field `rel` reads in that row, as JSON; None where the mapping says nothing of it."""
        mapping = self.mapping(row.array)[0]
        node = self._skeleton.node((*row.array, row.index, *rel))
        return None if mapping is None else self._reader.value(mapping, rel, row.line, node)

    def place(self, row: Row) -> int:
        """Where the row begins on the page."""
        return self._page.atoms[self._page.lines[row.line].first][0]

    def end(self, row: Row) -> int:
        """Where it ends."""
        return self._page.atoms[self._page.lines[row.line].last - 1][1]

    def parts_after(self, done: Done) -> list[str]:
        """What follows a value within its line, where that is a list: `green` and `blue` after `red` in "red, green
        and blue"."""
        if done.end is None or done.start is None:
            return []
        atom = self._page.atom_at(done.start)
        rest = self._page.text[done.end : self._page.atoms[atom][1]] if atom >= 0 else ""
        first = _INLINE.match(rest)
        if first is None:
            return []
        return [part.strip(" .") for part in _INLINE.split(rest[first.end() :]) if part.strip(" .")]

    def _nodes(self, mapping: RowMapping, array: Path) -> dict[Path, SchemaNode]:
        return {rel: self._skeleton.node((*array, 0, *rel)) for rel in mapping.columns}

    def _promise(self, array: Path) -> tuple[RowMapping | None, str]:
        """What the page suggests for an array without items: a table's header, cards, a list."""
        if array not in self._promised:
            item = self._skeleton.node((*array, 0))
            if item.keys:
                fields: dict[Path, SchemaNode] = {(key,): self._skeleton.node((*array, 0, key)) for key in item.keys}
                header = self._promises.from_header(fields)
                self._promised[array] = (header, "header") if header else (self._promises.from_cards(fields), "cards")
            else:
                name = next((step for step in reversed(array) if isinstance(step, str)), "")
                self._promised[array] = self._promises.from_heading(name), "heading"
        found = self._promised[array]
        if found[0] is None and self._skeleton.node((*array, 0)).only("string"):
            return self._promises.from_list(self._progress.last), "list"
        return found
