"""A web page as fetched (`Page`) and as a person reads it (`Document`: blocks of text with offsets)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range [start, end) of code points in `Document.text`.

    >>> Span(3, 7).of("on Tuesday")
    'Tues'
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span needs 0 <= start <= end, got [{self.start}, {self.end})")

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """The text that the span covers."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Whether the two share at least one code point."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Page:
    """What came back for a target, before any cleaning.

    `url` is what was asked for, `final_url` where redirects led (the base of relative links). `status` is the HTTP
    status, 200 for files. `html` is decoded text: the rendered DOM when a browser fetched it. `hidden_paths` are the
    DOM paths of elements that the browser computed as invisible, None when no browser looked; `include_hidden` asks for
    their text all the same.
    """

    url: str
    final_url: str
    html: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hidden_paths: frozenset[str] | None = None
    screenshot: bytes | None = None
    fetch_s: float = 0.0
    notes: tuple[str, ...] = ()
    include_hidden: bool = False


class BlockKind(Enum):
    """What a block is on the page."""

    TITLE = "title"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    DEFINITION = "definition"
    PRE = "pre"
    FORM = "form"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Link:
    """An absolute `href` and the span of its visible text.

    `is_image` says that it is where an image comes from, and no place to go; its text is what the image shows, if the
    page says so.
    """

    span: Span
    href: str
    is_image: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One table cell: its span, and the text of the column header above it (None where the table has none)."""

    span: Span
    header: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """One line or paragraph of visible text: blocks never overlap and stand in reading order.

    `dom_path` is a CSS path from the root (`html > body > main > p:nth-of-type(2)`). `boilerplate` marks navigation,
    banners and footers: kept, but the prompt may leave them out. `consent` marks, among these, what asks for consent to
    cookies, which is never the content. `level` is 1 to 6 for headings and the nesting depth
    for list items. `cells` is filled for table rows; `table` numbers the table a row belongs to.
    """

    kind: BlockKind
    span: Span
    dom_path: str
    boilerplate: bool = False
    level: int = 0
    cells: tuple[Cell, ...] = ()
    table: int | None = None
    consent: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """The text a person can see, in reading order; every offset in this package points into `text`.

    `text` is the blocks' texts joined by newlines and never changes after cleaning. `metadata` holds what the page
    says about itself in machine form: `{"json-ld": [...], "opengraph": {...}, "microdata": [...]}`.
    """

    url: str
    text: str
    blocks: tuple[Block, ...]
    title: str = ""
    lang: str | None = None
    links: tuple[Link, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    n_hidden_chars: int = 0

    def block_at(self, offset: int) -> Block | None:
        """The block that covers the code point at `offset`, or None between blocks."""
        low, high = 0, len(self.blocks)
        while low < high:
            mid = (low + high) // 2
            if self.blocks[mid].span.end <= offset:
                low = mid + 1
            else:
                high = mid
        found = self.blocks[low] if low < len(self.blocks) else None
        return found if found is not None and found.span.start <= offset else None
