"""Blocks of a page + what fits at once -> chunks, cut where the page's own structure has its joints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from lookstruct.pipeline.chunks.chunk import Chunk
from lookstruct.pipeline.chunks.context import context_of
from lookstruct.schemas.document import Block, BlockKind, Span

Fits = Callable[[Sequence[Block]], bool]
"""Whether some blocks, shown together, stay within what may be read at once."""

OVERLAP = 6
"""Blocks that are read twice where a cut may go through an item."""
_ROWS = (BlockKind.TABLE_ROW, BlockKind.LIST_ITEM)


def cut(blocks: Sequence[Block], fits: Fits) -> tuple[Chunk, ...]:
    """The page in chunks that fit, each as long as its last joint allows.

    A joint is best between large parts of the page, then before a heading, and in doubt as late as possible. Where
    there is none (paragraphs in a row), the next chunk begins some blocks earlier, so that what the cut goes through
    stands whole in one of the two.
    """
    kept: list[Chunk] = []
    for chunk in reversed(list(_chunks(list(blocks), fits))):
        if not kept or not _only_names(chunk, kept[-1]):
            kept.append(chunk)
    return tuple(reversed(kept))


def _only_names(chunk: Chunk, after: Chunk) -> bool:
    """Whether a chunk holds nothing but headings, which the next one shows again."""
    return all(block.kind is BlockKind.HEADING and block in after.context for block in chunk.blocks)


def _chunks(blocks: list[Block], fits: Fits) -> Iterator[Chunk]:
    """The chunks; a block that does not fit alone is replaced in `blocks` by its pieces."""
    first = 0
    while first < len(blocks):
        if not fits(blocks[first : first + 1]):
            blocks[first : first + 1] = _halves(blocks[first], fits)
        context = _fitting_context(blocks, first, fits)
        n_fit = first + max(1, largest(len(blocks) - first, lambda n: fits((*context, *blocks[first : first + n]))))  # noqa: B023
        end = n_fit if n_fit == len(blocks) else _best_joint(blocks, first, n_fit)
        yield Chunk(tuple(blocks[first:end]), context)
        first = (
            end if end == len(blocks) or is_joint(blocks, end) else max(first + 1, end - OVERLAP, (first + end) // 2)
        )


def _halves(block: Block, fits: Fits) -> Iterator[Block]:
    """As much of a block's beginning as fits, and the rest."""
    n_chars = max(1, largest(len(block.span) - 1, lambda n: fits((_part(block, 0, n),))))
    yield _part(block, 0, n_chars)
    if n_chars < len(block.span):
        yield _part(block, n_chars, len(block.span))


def _part(block: Block, start: int, end: int) -> Block:
    """Some of a block's characters; a row in pieces is only text."""
    return replace(block, span=Span(block.span.start + start, block.span.start + end), cells=())


def _fitting_context(blocks: Sequence[Block], first: int, fits: Fits) -> tuple[Block, ...]:
    """The context, or as much of its end as leaves room for the first block."""
    context = context_of(blocks, first)
    while context and not fits((*context, blocks[first])):
        context = context[1:]
    return context


def _best_joint(blocks: Sequence[Block], first: int, last: int) -> int:
    """Where to end a chunk that may reach up to `last`: never before its half."""
    return min(range(max(first + 1, (first + last) // 2), last + 1), key=lambda at: (*_strength(blocks, at), -at))


def _strength(blocks: Sequence[Block], at: int) -> tuple[int, int]:
    """How deep a joint lies; less is better: the depth of what both sides are parts of, then a heading's rank."""
    block = blocks[at]
    rank = block.level if block.kind is BlockKind.HEADING else 7
    return n_shared(blocks[at - 1].dom_path, block.dom_path), rank


def is_joint(blocks: Sequence[Block], at: int) -> bool:
    """Whether nothing is cut that belongs together: at `blocks[at]` a heading, a row or a part of its own begins."""
    before, after = blocks[at - 1], blocks[at]
    if after.kind is BlockKind.HEADING or (before.kind in _ROWS and after.kind in _ROWS):
        return True
    shared = n_shared(before.dom_path, after.dom_path)
    return n_steps(before.dom_path) > shared + 1 and n_steps(after.dom_path) > shared + 1


def n_shared(a: str, b: str) -> int:
    """How many elements two DOM paths go through together.

    >>> n_shared("html > body > div:nth-of-type(1) > h3", "html > body > div:nth-of-type(2) > h3")
    2
    """
    pairs = zip(a.split(" > "), b.split(" > "), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def n_steps(path: str) -> int:
    """How many elements a DOM path goes through."""
    return path.count(" > ") + 1


def largest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest n in [0, most] for which `holds(n)`, given that it holds for all below; large ones are tried last."""
    high = 1
    while high < most and holds(high):
        high *= 2
    low, high = high // 2, min(high, most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
