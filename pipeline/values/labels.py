"""A place on the page -> the texts that name it: a column's header, the words before a colon, the heading above."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from lookstruct.pipeline.values.currencies import SIGNS
from lookstruct.schemas.document import Block, BlockKind, Cell, Document, Span

_LONGEST = 60
"""Code points of a line that is short enough to name what stands below it."""
_BREAK = re.compile(r"[;|•·…!?()\[\]\n]|[.,](?=\s)|\s[–—-]\s")
_DIGIT = re.compile(r"\d")
_WORDS_AFTER = re.compile(r"[^\S\n]?[^\W\d_][\w'’-]*(?:[^\S\n][^\W\d_][\w'’-]*)?")
_EDGE = " \t\u00a0:：.,-–—#*=\u3000" + SIGNS
_BULLET = re.compile(r"(?:\[[ x]\]|[-*•·▪●○‣–—☐☑✓]|\d{1,2}[.)])\s+")


class Labels:
    """The labels of one page's places."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._blocks = document.blocks
        self._starts = [block.span.start for block in document.blocks]
        self._headings = _headings_above(document)
        self._n_columns = _n_columns(document.blocks)

    def of(self, span: Span) -> tuple[str, ...]:
        """The texts that name what stands at `span`, the nearest first; () where nothing does.

        >>> text = "Totals\\nTotal due: 12.50"
        >>> blocks = (Block(BlockKind.HEADING, Span(0, 6), "h2"), Block(BlockKind.PARAGRAPH, Span(7, 23), "p"))
        >>> Labels(Document("", text, blocks)).of(Span(18, 23))
        ('Total due', 'Totals')
        """
        number = bisect_right(self._starts, span.start) - 1
        if number < 0 or span.start >= self._blocks[number].span.end:
            return ()
        return tuple(dict.fromkeys(label for label in self._all(number, span) if label))

    def _all(self, number: int, span: Span) -> Iterator[str]:
        block = self._blocks[number]
        cell = _cell_at(block, span.start)
        field = block.cells[cell].span if cell is not None else block.span
        before = self._text[max(field.start, span.start - _LONGEST) : span.start].rstrip(" \u00a0\t" + SIGNS)
        yield from _named_before(before) if before.endswith((":", "：")) else ()
        if cell is not None:
            yield from self._of_cell(block, cell)
        after = self._after(field, span)
        yield from (after, *_named_before(before)) if _DIGIT.search(before) else (*_named_before(before), after)
        if not before.strip(_EDGE) and cell is None:
            yield self._line_beside(number)
        yield self._headings[number]

    def _after(self, field: Span, span: Span) -> str:
        """The one or two words right after `span`: the `bedrooms` of `3 bedrooms`."""
        found = _WORDS_AFTER.match(self._text, span.end, min(field.end, span.end + 40))
        return found[0].strip() if found is not None else ""

    def _of_cell(self, block: Block, cell: int) -> Iterator[str]:
        """Header and row label; the row's own comes first where the row is shorter than its table (a sum below it)."""
        first, header = self._first_cell(block, cell), (block.cells[cell].header or "").strip(_EDGE)
        is_shorter = len(block.cells) < self._n_columns.get(block.table, 0)
        yield from (first, header) if is_shorter or not header else (header, first)

    def _first_cell(self, block: Block, cell: int) -> str:
        text = block.cells[0].span.of(self._text) if cell > 0 else ""
        return text.strip(_EDGE) if len(text) <= _LONGEST else ""

    def _line_beside(self, number: int) -> str:
        """The line above, or the one below where that one alone is in the element around the value."""
        below = self._shares_element(number, number + 1) and not self._shares_element(number, number - 1)
        return self._name_at(number + 1 if below else number - 1)

    def _shares_element(self, one: int, other: int) -> bool:
        there = 0 <= other < len(self._blocks)
        return there and _element_around(self._blocks[one]) == _element_around(self._blocks[other])

    def _name_at(self, number: int) -> str:
        """A line that reads like a name for what is beside it: short, no row, no item, no value of its own; else ""."""
        line = self._blocks[number] if 0 <= number < len(self._blocks) else None
        if line is None or line.kind not in (BlockKind.HEADING, BlockKind.PARAGRAPH) or len(line.span) > _LONGEST:
            return ""
        label = line.span.of(self._text).strip(_EDGE)
        return "" if ":" in label or _DIGIT.search(label) else label


def _element_around(block: Block) -> str:
    return block.dom_path.rpartition(" > ")[0]


def _named_before(before: str) -> Iterator[str]:
    """The words right before a value, back to the last break or the last number; then those before a colon.

    >>> list(_named_before("Tel. 12; Delivery: from")), list(_named_before("2 bedrooms"))
    (['from', 'Delivery'], ['bedrooms'])
    """
    piece = _BREAK.split(without_bullet(before))[-1].rstrip(_EDGE)
    name, colon, rest = piece.rpartition(":")
    digits = list(_DIGIT.finditer(rest))
    yield (rest[digits[-1].end() :] if digits else rest).strip(_EDGE)
    if colon:
        yield name.strip(_EDGE)


def without_bullet(text: str) -> str:
    """A line without the mark that makes it an item.

    >>> without_bullet("[ ] 3 tbsp oil"), without_bullet("2 eggs"), without_bullet("- 5 °C")
    ('3 tbsp oil', '2 eggs', '5 °C')
    """
    found = _BULLET.match(text)
    return text[found.end() :] if found is not None else text


def _cell_at(block: Block, offset: int) -> int | None:
    return next((number for number, cell in enumerate(block.cells) if _covers(cell, offset)), None)


def _covers(cell: Cell, offset: int) -> bool:
    return cell.span.start <= offset < cell.span.end


def _headings_above(document: Document) -> list[str]:
    """For each block the text of the nearest heading above it, "" where there is none."""
    found, heading = [], ""
    for block in document.blocks:
        found.append(heading)
        if block.kind is BlockKind.HEADING:
            heading = block.span.of(document.text).strip(_EDGE)
    return found


def _n_columns(blocks: tuple[Block, ...]) -> dict[int | None, int]:
    """How many cells the widest row of each table has."""
    found: dict[int | None, int] = {}
    for block in blocks:
        if block.table is not None:
            found[block.table] = max(found.get(block.table, 0), len(block.cells))
    return found
