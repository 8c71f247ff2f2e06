"""Document -> its lines and lists, as a field may take them (`PageLines`): what lies over several blocks is one line,
what only counts is none, a list is whole, and each has the headings that may name it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from unicodedata import normalize

from lookstruct.pipeline.holding.field_names import is_other_section, opens_section
from lookstruct.pipeline.holding.items import split_items
from lookstruct.pipeline.holding.marks import controls, counters, unnumbered, without_common_end
from lookstruct.pipeline.holding.whole_lists import headings_over, names_above, place_of, whole_lists
from lookstruct.schemas.document import Block, BlockKind, Cell, Document

CELLS, CELL_LINES = " | ", "; "
"""What stands between the cells of a row, and between the lines of a cell, in a document's text."""
_MARKER = re.compile(r"^(?:\[[ x]\] |[•·▪◦●‣*–|-]\s+(?=\S))")
"""What only marks an item: a checkbox (a sign of ours), a bullet that is typed into the text."""
_VALUE = re.compile(r"\W{0,2}\d.{0,12}")
"""A line that is a figure and its unit."""
_TITLE_BREAK = re.compile(r"\s+[|·•–—-]\s+|:\s+")
"""Between the name of a page and that of its site."""
_MOST_CELLS = 3
"""Cells of a row that is one thing, as an amount and what it is of."""


@dataclass(frozen=True, slots=True)
class Run:
    """A list of the page, or a line alone: each item in its spellings, and the texts above that may name it.

    `first` is the number of its first block, `place` how that block lies in the page: lines of one kind share it.
    """

    items: tuple[tuple[str, ...], ...]
    names: tuple[str, ...] = ()
    first: int = 0
    place: tuple[str, ...] = ()

    @property
    def n_chars(self) -> int:
        """Code points of the longest item."""
        return max(len(text) for spellings in self.items for text in spellings)


@dataclass(frozen=True)
class PageLines:
    """The lines and lists of `blocks`, which are those that the model is shown."""

    document: Document
    blocks: Sequence[Block]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Whole lines, cells, and the values of "label: value" lines, in page order.

        A list item that lies over several lines is one; the number before a step is none of it.
        """
        texts = (text for number, whole in self._wholes.items() for text in self._lines_of(number, whole) if text)
        return tuple(dict.fromkeys(form for text in dict.fromkeys(texts) for form in spellings(text)))

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The page in reading order, its lists whole; every other line and cell alone, without the headings."""
        items = [number for number in self._wholes if self.blocks[number].kind is BlockKind.LIST_ITEM]
        wholes = whole_lists(self.document, self.blocks, items, is_other_section)
        lists = {run[0]: run for run in wholes if len(run) > 1}
        inside = {number for run in lists.values() for number in run}
        found: list[Run] = []
        above: set[int] = set()  # headings whose list has come
        for number in self._wholes:
            if number in lists:
                found.append(self._list([(n, self._wholes[n]) for n in lists[number]], above))
                above.update(self._headings[number])
            elif number not in inside:
                found += self._alone(number)
        return tuple(found)

    @cached_property
    def tables(self) -> tuple[Run, ...]:
        """The tables without column headers as lists, each row an item: an amount in one cell, in the next of what."""
        rows = ((number, self._row(number)) for number in range(len(self.blocks)))
        found = groupby((row for row in rows if row[1]), key=lambda row: self.blocks[row[0]].table)
        lists = (list(table) for _, table in found)
        return tuple(self._list(table, frozenset()) for table in lists if len(table) > 1)

    def _row(self, number: int) -> str:
        """A row of few cells as one line; empty for other blocks."""
        cells = self.blocks[number].cells
        if len(cells) > _MOST_CELLS or any(cell.header for cell in cells):
            return ""
        return " ".join(filter(None, (cell.span.of(self.document.text).strip() for cell in cells)))

    def _list(self, items: Sequence[tuple[int, str]], above: Set[int]) -> Run:
        """A list, named by what is right above it, and by the headings that it is the first list under."""
        first = items[0][0]
        headings = (self._text(at) for at in self._headings[first] if at not in above)
        names = (*names_above(self.document, self.blocks, first), *headings)
        texts = without_common_end([text for _, text in items])
        return Run(tuple(tuple(spellings(text)) for text in texts), names, first, place_of(self.blocks[first]))

    def _alone(self, number: int) -> Iterator[Run]:
        whole, block = self._wholes[number], self.blocks[number]
        if block.kind not in (BlockKind.HEADING, BlockKind.TITLE) and not self._opens(number):
            names = tuple(map(self._text, self._headings[number]))
            for text in dict.fromkeys(filter(None, self._lines_of(number, whole))):
                yield Run((tuple(spellings(text)),), names, number, place_of(block))

    def _text(self, number: int) -> str:
        return self.blocks[number].span.of(self.document.text)

    @cached_property
    def _headings(self) -> list[tuple[int, ...]]:
        return headings_over(self.blocks, self._opens)

    def _opens(self, number: int) -> bool:
        """Whether a line only says what follows, and what follows is not the mere value of a label."""
        text, *after = (block.span.of(self.document.text) for block in self.blocks[number : number + 2])
        return opens_section(text) and not any(map(_VALUE.fullmatch, after))

    @cached_property
    def _wholes(self) -> Mapping[int, str]:
        """Block number -> the line that begins there, without those that are part of the line above or only count."""
        texts = [_MARKER.sub("", self._text(number).strip(), count=1) for number in range(len(self.blocks))]
        counting = counters(texts) | controls(self.document, self.blocks)
        parts = (tuple(n for n in run if n not in counting) for run in split_items(self.document, self.blocks))
        items = {run[0]: run for run in parts if run}
        left_out = counting | {number for run in items.values() for number in run[1:]}
        return {
            number: unnumbered(" ".join(texts[n] for n in items.get(number, (number,))))
            for number in range(len(self.blocks))
            if number not in left_out
        }

    def _lines_of(self, number: int, whole: str) -> Iterator[str]:
        """What may be taken as a line of one block: all of it, its cells, its value behind a label, its lines."""
        block = self.blocks[number]
        if block.kind is BlockKind.TITLE:
            yield from _TITLE_BREAK.split(whole)
            return
        if not block.cells or CELLS not in whole:  # a whole row is no value
            yield whole
        yield from (part for cell in block.cells for part in self._cell_lines(cell))
        yield from (cell.span.of(self.document.text).strip() for cell in block.cells)
        if block.kind in (BlockKind.DEFINITION, BlockKind.TABLE_ROW) and ": " in whole:
            yield whole.partition(": ")[2]
        if "\n" in whole:
            yield from (line.strip() for line in whole.split("\n"))

    def _cell_lines(self, cell: Cell) -> list[str]:
        """The lines of a cell, which the page's text joins."""
        return [part.strip() for part in cell.span.of(self.document.text).split(CELL_LINES)]


def spellings(text: str) -> Iterable[str]:
    """A text as the page has it, and with accents as models write them: one character with its letter."""
    return dict.fromkeys((text, normalize("NFC", text)))
