"""Document -> the page as lean HTML, for models that were trained on HTML; offsets lead back to the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from lookstruct.pipeline.view import PageView, Part, Piece, Remark
from lookstruct.schemas.document import Block, BlockKind, Document, Span

if TYPE_CHECKING:
    from lookstruct.schemas.document import Link

_TAGS = {
    BlockKind.TITLE: "title",
    BlockKind.LIST_ITEM: "li",
    BlockKind.TABLE_ROW: "tr",
    BlockKind.PRE: "pre",
}
_CLOSES, _REMARK, _OPENS = range(3)
"""What comes first of several insertions at one place."""

Insertion = tuple[int, int, str]
"""Offset in the document, rank among those at one place, text."""


def show_html(
    document: Document, blocks: Sequence[Block], *, remarks: Sequence[Remark] = (), links: bool = False
) -> PageView:
    """The view of `blocks`, an element a line; with `links`, anchors too. The page's own text stays as it is, not
    escaped, so that it can be copied."""
    inserted = sorted([*((one.at, _REMARK, one.text) for one in remarks), *(_anchors(document.links) if links else ())])
    texts: list[str] = []
    pieces: list[Piece] = []
    at = 0
    for number, block in enumerate(blocks):
        for part in ("\n" if number else "", *_element(block, [*_within(inserted, block.span)])):
            text = part.of(document.text) if isinstance(part, Span) else part
            if isinstance(part, Span) and text:
                pieces.append(Piece(at, part))
            texts.append(text)
            at += len(text)
    return PageView("".join(texts), tuple(pieces))


def _anchors(links: Sequence[Link]) -> Iterator[Insertion]:
    for link in links:
        if link.href.startswith(("http://", "https://")) and len(link.span) and not link.is_image:
            yield link.span.start, _OPENS, f'<a href="{escape(link.href)}">'
            yield link.span.end, _CLOSES, "</a>"


def _element(block: Block, inserted: Sequence[Insertion]) -> Iterator[Part]:
    tag = f"h{min(max(block.level, 1), 6)}" if block.kind is BlockKind.HEADING else _TAGS.get(block.kind, "p")
    yield f"<{tag}>"
    if block.cells:
        for cell in block.cells:
            yield "<td>"
            yield from _with(cell.span, [*_within(inserted, cell.span)])
            yield "</td>"
    else:
        yield from _with(block.span, inserted)
    yield f"</{tag}>"


def _with(span: Span, inserted: Sequence[Insertion]) -> Iterator[Part]:
    """`span` with each insertion in its place."""
    at = span.start
    for offset, _, text in inserted:
        yield Span(at, offset)
        yield text
        at = offset
    yield Span(at, span.end)


def _within(inserted: Sequence[Insertion], span: Span) -> Iterator[Insertion]:
    """What belongs into a range: an anchor opens before its end, all else stands behind its beginning."""
    for offset, rank, text in inserted:
        opens = rank == _OPENS
        if (span.start <= offset < span.end) if opens else (span.start < offset <= span.end):
            yield offset, rank, text
