"""Document -> the page as the model is shown it (`PageView`), and the way back from there to the Document's offsets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain

from lookstruct.pipeline.holding.items import labelled_values, split_items
from lookstruct.schemas.document import Block, BlockKind, Document, Link, Span

ENOUGH_CHARS = 400
"""This much text outside navigation, banners and footers is a page of its own."""
ENOUGH_SHARE = 0.2
"""... and so is this share of the whole text, on pages that are short altogether."""


REPEATED_CHARS = 8
"""Code points of a heading from which on it is what a title repeats, not a word of it."""


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

    def from_document(self, offset: int) -> int | None:
        """Where the view shows the document's code point at `offset`; None if it does not.

        >>> view = PageView("- Tea", (Piece(2, Span(10, 13)),))
        >>> view.from_document(11), view.from_document(13)
        (3, None)
        """
        at = bisect_right(self.pieces, offset, key=lambda piece: piece.span.start) - 1
        if at < 0 or offset >= self.pieces[at].span.end:
            return None
        return self.pieces[at].start + offset - self.pieces[at].span.start


Part = str | Span
"""Of a line: a marker of ours, or a range of the document."""


def worth_showing(document: Document) -> tuple[Block, ...]:
    """The blocks that are no boilerplate, or all of them where too little would be left, but no consent banner.

    A title that repeats a heading ("Leek soup | Spoon & Fork") is shown in two lines, so that the name of the page is
    the first line of all and the site's name no part of it.
    """
    shown = tuple(block for block in document.blocks if not block.consent)
    content = tuple(block for block in document.blocks if not block.boilerplate)
    n_content = sum(len(block.span) for block in content)
    n_all = sum(len(block.span) for block in shown)
    enough = n_content >= min(ENOUGH_CHARS, ENOUGH_SHARE * n_all) and content
    return _with_split_title(document, content if enough else shown)


def _with_split_title(document: Document, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    if not blocks or blocks[0].kind is not BlockKind.TITLE:
        return blocks
    title, text = blocks[0], blocks[0].span.of(document.text)
    top = min((block.level for block in blocks if block.kind is BlockKind.HEADING), default=0)
    headings = (b.span.of(document.text) for b in blocks if b.kind is BlockKind.HEADING and b.level == top)
    repeated = max((heading for heading in headings if heading in text), key=len, default="")
    if len(repeated) < REPEATED_CHARS:
        return blocks
    at = text.index(repeated)
    name = Span(at, at + len(repeated))
    site = max((_trimmed(side, text) for side in (Span(0, name.start), Span(name.end, len(text)))), key=len)
    parts = sorted(((name, BlockKind.TITLE), *([(site, BlockKind.PARAGRAPH)] if len(site) else [])))
    moved = ((Span(title.span.start + span.start, title.span.start + span.end), kind) for span, kind in parts)
    return (*(replace(title, span=span, kind=kind) for span, kind in moved), *blocks[1:])


def _trimmed(span: Span, text: str) -> Span:
    """A range without the white space and the bars and dashes at its ends."""
    start, end = span.start, span.end
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum() and text[end - 1] not in ")!?.":
        end -= 1
    return Span(start, end)


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """Text of ours that the view shows behind the document's code point `at`: a link's address, a date in ISO form."""

    at: int
    text: str


def show(
    document: Document, blocks: Sequence[Block], *, remarks: Iterable[Remark] = (), links: bool = False
) -> PageView:
    """The view of `blocks`, one line each, with `remarks` in their places; with `links`, also each link's address."""
    addresses = (_address(link) for link in (document.links if links else ()) if _leads_away(link, document))
    start, end = (blocks[0].span.start, blocks[-1].span.end) if blocks else (0, 0)
    placed = _by_block(sorted(one for one in chain(remarks, addresses) if start < one.at <= end), blocks)
    labelled = _labelled_rows(blocks)
    joined = labelled_values(document, blocks) | {n for run in split_items(document, blocks) for n in run[1:]}
    texts: list[str] = []
    pieces: list[Piece] = []
    at = 0
    for number, block in enumerate(blocks):
        gap = " " if number in joined else _gap(number, blocks, labelled) + _marker(block)
        for part in _line(block, placed.get(number, ()), gap, number in labelled):
            text = part.of(document.text) if isinstance(part, Span) else part
            if isinstance(part, Span) and text:
                pieces.append(Piece(at, part))
            texts.append(text)
            at += len(text)
    return PageView("".join(texts), tuple(pieces))


def _address(link: Link) -> Remark:
    return Remark(link.span.end, f" ({link.href})")


def _leads_away(link: Link, document: Document) -> bool:
    """Whether a link names another page of the web: neither a place on this one, nor a file or a script."""
    is_place = link.href.startswith(("http://", "https://")) and not link.is_image
    return is_place and link.href.partition("#")[0] != document.url


def _gap(number: int, blocks: Sequence[Block], labelled: Set[int]) -> str:
    """What goes before a block: a blank line before headings and tables, and around labelled rows."""
    if number == 0:
        return ""
    block, above = blocks[number], blocks[number - 1]
    begins_table = block.table is not None and block.table != above.table and len(block.cells) > 2
    other_rows = (number in labelled) != (number - 1 in labelled)
    is_heading = block.kind in (BlockKind.HEADING, BlockKind.TITLE)
    return "\n\n" if is_heading or begins_table or other_rows else "\n"


def _labelled_rows(blocks: Sequence[Block]) -> frozenset[int]:
    """The numbers of rows that are a label and its value, not one more item: the sums under a wider table, and the
    rows of a table that has two columns and no headers."""
    widths: dict[int, int] = {}
    headed: set[int] = set()
    for block in blocks:
        if block.table is not None:
            widths[block.table] = max(widths.get(block.table, 0), len(block.cells))
            if any(cell.header for cell in block.cells):
                headed.add(block.table)
    return frozenset(
        number
        for number, block in enumerate(blocks)
        if block.table is not None
        and len(block.cells) == len(_filled(block)) == 2
        and (widths[block.table] > 2 or block.table not in headed)
    )


def _filled(block: Block) -> list[Span]:
    """The cells of a row that say something."""
    return [cell.span for cell in block.cells if len(cell.span)]


def _line(block: Block, remarks: Sequence[Remark], gap: str, is_labelled: bool) -> Iterator[Part]:
    """A block's line: the gap before it, its text; a labelled row reads "label: value"."""
    yield gap
    if not is_labelled:
        yield from _remarked(block.span, remarks)
        return
    label, value = _filled(block)
    yield from _remarked(label, [r for r in remarks if r.at <= label.end])
    yield ": "
    yield from _remarked(value, [r for r in remarks if r.at > label.end])


def _marker(block: Block) -> str:
    """What goes before the text, in the manner of Markdown."""
    if block.kind is BlockKind.TITLE:
        return "# "
    if block.kind is BlockKind.HEADING:
        return "#" * min(max(block.level, 1), 6) + " "
    if block.kind is BlockKind.LIST_ITEM:
        return "  " * max(block.level - 1, 0) + "- "
    return ""


def _remarked(span: Span, remarks: Sequence[Remark]) -> Iterator[Part]:
    """`span` with each remark in its place."""
    at = span.start
    for remark in remarks:
        yield Span(at, remark.at)
        yield remark.text
        at = remark.at
    yield Span(at, span.end)


def _by_block(remarks: Sequence[Remark], blocks: Sequence[Block]) -> Mapping[int, list[Remark]]:
    """Which remarks belong in which of `blocks`, by the block's number."""
    starts = [block.span.start for block in blocks]
    found: dict[int, list[Remark]] = {}
    for remark in remarks:
        number = bisect_left(starts, remark.at) - 1  # a remark stands behind a character of its block
        if number >= 0 and remark.at <= blocks[number].span.end:
            found.setdefault(number, []).append(remark)
    return found
