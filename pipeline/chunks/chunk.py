"""A document + some of its blocks -> the part of the page that they are (`Chunk`), with the offsets of the whole."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lookstruct.pipeline.values.found import Found
from lookstruct.schemas.document import Block, Document, Span


@dataclass(frozen=True, slots=True)
class Chunk:
    """Blocks that are read together. `context` stands above them on the page and is shown again: headings, a table's
    header. Both are in page order."""

    blocks: tuple[Block, ...]
    context: tuple[Block, ...] = ()

    @property
    def shown(self) -> tuple[Block, ...]:
        """All that the model is shown."""
        return (*self.context, *self.blocks)

    @property
    def n_chars(self) -> int:
        """Code points of the page that it covers, the context not counted."""
        return sum(len(block.span) for block in self.blocks)


def excerpt(document: Document, chunk: Chunk) -> Document:
    r"""The document with everything else blanked: offsets stay those of the whole page.

    >>> from lookstruct.schemas.document import BlockKind
    >>> blocks = tuple(Block(BlockKind.PARAGRAPH, Span(at, at + 3), "p") for at in (0, 4, 8))
    >>> excerpt(Document("", "one\ntwo\nsix", blocks), Chunk(blocks[2:], blocks[:1])).text
    'one\n\n\n\n\nsix'
    """
    shown = tuple(replace(block, boilerplate=False) for block in chunk.shown)  # what is shown here is no frame
    inside = _Inside(shown)
    return replace(
        document,
        text="".join(_blanked(document.text, shown)),
        blocks=shown,
        links=tuple(link for link in document.links if inside.has(link.span)),
    )


def found_in(found: Found, chunk: Chunk) -> Found:
    """What of a page's dates, numbers and the like stands in a chunk of it, read as the whole page reads it."""
    inside = _Inside(chunk.shown)
    return replace(
        found,
        numbers=tuple(one for one in found.numbers if inside.has(one.span)),
        moments=tuple(one for one in found.moments if inside.has(one.span)),
        durations=tuple(one for one in found.durations if inside.has(one.span)),
        contacts=tuple(one for one in found.contacts if inside.has(one.span)),
    )


def _blanked(text: str, blocks: Sequence[Block]) -> Iterator[str]:
    at = 0
    for block in blocks:
        yield "\n" * (block.span.start - at)
        yield block.span.of(text)
        at = block.span.end
    yield "\n" * (len(text) - at)


class _Inside:
    """Whether spans stand in some blocks, which are in page order."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._starts = [block.span.start for block in blocks]
        self._ends = [block.span.end for block in blocks]

    def has(self, span: Span) -> bool:
        number = bisect_right(self._starts, span.start) - 1
        return number >= 0 and span.end <= self._ends[number]
