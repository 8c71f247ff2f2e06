"""Page -> Document: the visible text in reading order, with offsets, DOM paths, tables, links and metadata."""

from __future__ import annotations

from collections.abc import Sequence

from bs4 import BeautifulSoup
from bs4.element import Tag

from lookstruct.extractors.boilerplate import Frame
from lookstruct.extractors.consent import unnamed_banners
from lookstruct.extractors.htmltree import Paths, collector_paused, parse
from lookstruct.extractors.lines import Line
from lookstruct.extractors.metadata import read_metadata
from lookstruct.extractors.survey import Parts, survey
from lookstruct.extractors.visibility import Visibility
from lookstruct.extractors.walk import View, Walker, absolute
from lookstruct.extractors.whitespace import collapse, strip_invisible
from lookstruct.schemas.document import Block, BlockKind, Cell, Document, Link, Page, Span
from lookstruct.schemas.errors import EmptyPage


def clean(page: Page, *, include_hidden: bool = False) -> Document:
    """What a person can see on `page`, one line a block.

    Hidden text is left out and counted in `n_hidden_chars`, or kept where the page or `include_hidden` asks. Scripts,
    styles and comments are never read. The title comes first, unless the page repeats it as a heading.

    >>> clean(Page("", "https://a.example/", "<h1>Lamp</h1><p>12 <b>EUR</b><p hidden>x")).text
    'Lamp\\n12 EUR'
    """
    with collector_paused():
        soup = parse(page.html)
        parts = survey(soup)
        paths = Paths()
        base_url = _base_url(parts, page.final_url)
        frame = Frame(names_content=parts.names_content, banners=unnamed_banners(soup))
        everything = include_hidden or page.include_hidden
        walker = Walker(soup.html or soup, View(base_url, _visibility(soup, page, paths), frame, everything))
        lines = _with_title(walker.lines(), parts.title)
        _mark_consent(lines, frame)
        blocks, links, text = _assembled(lines, paths)
        return Document(
            url=page.final_url,
            text=text,
            blocks=blocks,
            title=_text(parts.title),
            lang=_lang(soup),
            links=links,
            metadata=read_metadata(parts, base_url),
            n_hidden_chars=walker.n_hidden_chars,
        )


def check_content(document: Document) -> None:
    """EmptyPage if the page shows nothing but a banner that asks for consent to cookies."""
    shown = [block for block in document.blocks if block.kind is not BlockKind.TITLE]
    if shown and all(block.consent for block in shown):
        raise EmptyPage(
            f"{document.url} shows nothing but a question about cookies: set consent to reject or accept in the "
            "section fetch of the settings file"
        )


def _visibility(soup: BeautifulSoup, page: Page, paths: Paths) -> Visibility:
    if page.hidden_paths is None:
        return Visibility(frozenset(), computed=False)
    found = (paths.find(soup, path) for path in page.hidden_paths)
    return Visibility(frozenset(id(tag) for tag in found if tag is not None), computed=True)


def _base_url(parts: Parts, url: str) -> str:
    return (absolute(url, str(parts.base.attrs["href"])) if parts.base is not None else None) or url


def _text(tag: Tag | None) -> str:
    return collapse(strip_invisible(tag.get_text())) if tag is not None else ""


def _lang(soup: BeautifulSoup) -> str | None:
    root = soup.html
    return (str(root.attrs.get("lang", "")).strip() or None) if root is not None else None


def _with_title(lines: list[Line], tag: Tag | None) -> list[Line]:
    title = _text(tag)
    repeated = any(line.kind is BlockKind.HEADING and line.text == title for line in lines)
    if tag is None or not title or repeated:
        return lines
    return [Line(title, tag, BlockKind.TITLE), *lines]


def _mark_consent(lines: Sequence[Line], frame: Frame) -> None:
    """Say of each line that belongs to the frame whether it asks for consent to cookies."""
    for line in lines:
        line.consent = line.boilerplate and any(map(frame.asks_consent, (line.tag, *line.tag.parents)))


def _assembled(lines: Sequence[Line], paths: Paths) -> tuple[tuple[Block, ...], tuple[Link, ...], str]:
    blocks: list[Block] = []
    links: list[Link] = []
    offset = 0
    for line in lines:
        blocks.append(_block(line, offset, paths))
        links += [Link(_span(link.start, link.end, offset), link.value or "", link.is_image) for link in line.links]
        offset += len(line.text) + 1
    return tuple(blocks), tuple(links), "\n".join(line.text for line in lines)


def _block(line: Line, offset: int, paths: Paths) -> Block:
    return Block(
        kind=line.kind,
        span=_span(0, len(line.text), offset),
        dom_path=paths.of(line.tag),
        boilerplate=line.boilerplate,
        consent=line.consent,
        level=line.level,
        cells=tuple(Cell(_span(cell.start, cell.end, offset), cell.value) for cell in line.cells),
        table=line.table,
    )


def _span(start: int, end: int, offset: int) -> Span:
    return Span(offset + start, offset + end)
