"""Document -> the page as the model is shown it (`PageView`), and the way back from there to the Document's offsets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lookstruct.schemas.document import Block, BlockKind, Document, Link, Span

ENOUGH_CHARS = 400
"""This much text outside navigation, banners and footers is a page of its own."""
ENOUGH_SHARE = 0.2
"""... and so is this share of the whole text, on pages that are short altogether."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A range copied as it stands: view offset `start` shows the document's `span`."""

    start: int
    span: Span

    @property
    def end(self) -> int:
        """The view offset after the last copied character."""
        return self.start + len(self.span)


@dataclass(frozen=True, slots=True)
class PageView:
    """What the model reads. `pieces` are ascending; text between them (markers, labels) stands nowhere on the page."""

    text: str
    pieces: tuple[Piece, ...]

    def to_document(self, span: Span) -> Span | None:
        """Where a range of the view stands in `Document.text`; None unless one piece covers it whole.

        >>> view = PageView("- Tea", (Piece(2, Span(10, 13)),))
        >>> view.to_document(Span(3, 5)), view.to_document(Span(1, 5))
        (Span(start=11, end=13), None)
        """
        at = bisect_right(self.pieces, span.start, key=lambda piece: piece.start) - 1
        if at < 0 or span.end > self.pieces[at].end:
            return None
        shift = self.pieces[at].span.start - self.pieces[at].start
        return Span(span.start + shift, span.end + shift)


Part = str | Span
"""Of a line: a marker of ours, or a range of the document."""


def worth_showing(document: Document) -> tuple[Block, ...]:
    """The blocks that are no boilerplate, or all of them where too little would be left."""
    content = tuple(block for block in document.blocks if not block.boilerplate)
    n_content = sum(len(block.span) for block in content)
    n_all = sum(len(block.span) for block in document.blocks)
    return content if n_content >= min(ENOUGH_CHARS, ENOUGH_SHARE * n_all) and content else document.blocks


def show(document: Document, blocks: Sequence[Block], *, links: bool = False) -> PageView:
    """The view of `blocks`, one line each; with `links`, each link's address stands behind its text."""
    shown_links = _by_block(document.links, blocks) if links else {}
    texts: list[str] = []
    pieces: list[Piece] = []
    at = 0
    for number, block in enumerate(blocks):
        for part in _line(block, shown_links.get(number, ()), first=number == 0):
            text = part.of(document.text) if isinstance(part, Span) else part
            if isinstance(part, Span) and text:
                pieces.append(Piece(at, part))
            texts.append(text)
            at += len(text)
    return PageView("".join(texts), tuple(pieces))


def _line(block: Block, links: Sequence[Link], *, first: bool) -> Iterator[Part]:
    """A block's line: a blank line before headings, the marker of its kind, its text."""
    if not first:
        yield "\n\n" if block.kind in (BlockKind.HEADING, BlockKind.TITLE) else "\n"
    yield _marker(block)
    yield from _linked(block.span, links)


def _marker(block: Block) -> str:
    """What goes before the text, in the manner of Markdown."""
    if block.kind is BlockKind.TITLE:
        return "# "
    if block.kind is BlockKind.HEADING:
        return "#" * min(max(block.level, 1), 6) + " "
    if block.kind is BlockKind.LIST_ITEM:
        return "  " * max(block.level - 1, 0) + "- "
    return ""


def _linked(span: Span, links: Sequence[Link]) -> Iterator[Part]:
    """`span` with the address of each link behind the link's text."""
    at = span.start
    for link in links:
        if at <= link.span.start and link.span.end <= span.end:
            yield Span(at, link.span.end)
            yield f" ({link.href})"
            at = link.span.end
    yield Span(at, span.end)


def _by_block(links: Sequence[Link], blocks: Sequence[Block]) -> Mapping[int, list[Link]]:
    """Which links stand in which of `blocks`, by the block's number."""
    starts = [block.span.start for block in blocks]
    found: dict[int, list[Link]] = {}
    for link in sorted(links, key=lambda link: link.span):
        number = bisect_right(starts, link.span.start) - 1
        if number >= 0 and link.span.end <= blocks[number].span.end:
            found.setdefault(number, []).append(link)
    return found
