"""Blocks of a page + where a chunk begins -> what stands above it and names what is in it: it is shown again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from lookstruct.schemas.document import Block, BlockKind

_MOST_HEADER_ROWS = 3
_LONGEST = 200
"""Code points of a line that names what follows it; a longer one is text of its own."""


def context_of(blocks: Sequence[Block], first: int) -> tuple[Block, ...]:
    """The page's title and the headings that `blocks[first]` stands under; the header rows of its table, the line
    above its list.

    >>> from lookstruct.schemas.document import Span
    >>> def block(kind, at, level=0): return Block(kind, Span(at, at + 1), "", level=level)
    >>> H, P = BlockKind.HEADING, BlockKind.PARAGRAPH
    >>> page = [block(H, 0, 1), block(P, 2), block(H, 4, 2), block(H, 6, 2), block(P, 8)]
    >>> [at.span.start for at in context_of(page, 4)]
    [0, 6]
    """
    if first == 0 or first >= len(blocks):
        return ()
    numbers = {*_headings(blocks, first), *_header_rows(blocks, first), *_lines_above(blocks, first)}
    return tuple(blocks[number] for number in sorted(numbers))


def _headings(blocks: Sequence[Block], first: int) -> Iterator[int]:
    """The headings above, each of a higher rank than the one below it, and the title."""
    rank = blocks[first].level if blocks[first].kind is BlockKind.HEADING else 7
    for number in range(first - 1, -1, -1):
        block = blocks[number]
        if block.kind is BlockKind.TITLE or (block.kind is BlockKind.HEADING and block.level < rank):
            rank = block.level if block.kind is BlockKind.HEADING else 0
            yield number
        if rank == 0:
            return


def _header_rows(blocks: Sequence[Block], first: int) -> Iterator[int]:
    """The rows at the top of the table that `blocks[first]` is a row of, and the line right above the table."""
    table = blocks[first].table
    if table is None:
        return
    top = next(number for number, block in enumerate(blocks) if block.table == table)
    rows = takewhile(lambda number: _is_header(blocks[number], table), range(top, min(first, top + _MOST_HEADER_ROWS)))
    yield from rows
    if top < first and top > 0 and _names_what_follows(blocks[top - 1]):
        yield top - 1


def _is_header(block: Block, table: int) -> bool:
    return block.table == table and bool(block.cells) and all(cell.header is None for cell in block.cells)


def _lines_above(blocks: Sequence[Block], first: int) -> Iterator[int]:
    """The line above the list that `blocks[first]` is an item of."""
    if blocks[first].kind is not BlockKind.LIST_ITEM:
        return
    above = first - 1
    while above >= 0 and blocks[above].kind is BlockKind.LIST_ITEM:
        above -= 1
    if above >= 0 and _names_what_follows(blocks[above]):
        yield above


def _names_what_follows(block: Block) -> bool:
    return block.kind in (BlockKind.PARAGRAPH, BlockKind.HEADING) and len(block.span) <= _LONGEST
