"""A page + what fits at once -> the chunks that are read (`Plan`): all of it, or the most relevant sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lookstruct.pipeline.chunks.chunk import Chunk
from lookstruct.pipeline.chunks.cutting import Fits, cut, largest
from lookstruct.pipeline.chunks.relevance import by_relevance
from lookstruct.schemas.document import Block, Document

SECTIONS = 4
"""Sections that are as long as a chunk together: what is chosen and left out by its relevance."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What of a page is read, in page order; `n_chars_left_out` is what is not."""

    chunks: tuple[Chunk, ...]
    n_chars_left_out: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the page is read at once."""
        return len(self.chunks) == 1 and not self.n_chars_left_out


def plan(
    document: Document,
    blocks: Sequence[Block],
    schema: Mapping[str, Any],
    fits_in: Callable[[int], Fits],
    max_chunks: int,
) -> Plan:
    """The chunks of a page; where there are more than `max_chunks`, those of its most relevant sections.

    `fits_in(n)` says whether blocks fit into the n-th part of what may be read at once.
    """
    fits = fits_in(1)
    if fits(blocks):
        return Plan((Chunk(tuple(blocks)),))
    chunks = cut(blocks, fits)
    if len(chunks) <= max_chunks:
        return Plan(chunks)
    sections = cut(blocks, fits_in(SECTIONS))
    kept = _most(sections, by_relevance(document, sections, schema), fits, max_chunks)
    read = {block.span.start: len(block.span) for chunk in kept for block in chunk.shown}
    return Plan(kept, sum(len(block.span) for block in blocks) - sum(read.values()))


def _most(sections: Sequence[Chunk], order: Sequence[int], fits: Fits, max_chunks: int) -> tuple[Chunk, ...]:
    """As many of the sections, the likeliest first, as `max_chunks` chunks hold."""

    def packed(n_kept: int) -> tuple[Chunk, ...]:
        return tuple(_packed([sections[number] for number in sorted(order[:n_kept])], fits))

    return packed(max(1, largest(len(order), lambda n: len(packed(n)) <= max_chunks)))


def _packed(sections: Sequence[Chunk], fits: Fits) -> Iterator[Chunk]:
    """The sections, put together into chunks that fit."""
    together: list[Chunk] = []
    for section in sections:
        if together and not fits(_joined([*together, section]).shown):
            yield _joined(together)
            together = []
        together.append(section)
    if together:
        yield _joined(together)


def _joined(sections: Sequence[Chunk]) -> Chunk:
    """Sections as one chunk: each keeps its context unless that is there already."""
    shown = {block.span.start: block for section in sections for block in section.shown}
    own = {block.span.start for section in sections for block in section.blocks}
    context = tuple(block for block in sections[0].context if block.span.start not in own)
    known = {block.span.start for block in context}
    return Chunk(tuple(shown[at] for at in sorted(shown) if at not in known), context)
