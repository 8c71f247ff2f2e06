"""Page -> Document: the visible text in reading order, with offsets, DOM paths, tables, links and metadata."""

from __future__ import annotations

from collections.abc import Sequence

from bs4 import BeautifulSoup
from bs4.element import Tag

from lookstruct.extractors.boilerplate import Frame
from lookstruct.extractors.htmltree import Paths, parse
from lookstruct.extractors.lines import Line
from lookstruct.extractors.metadata import read_metadata
from lookstruct.extractors.visibility import Visibility
from lookstruct.extractors.walk import Walker, absolute
from lookstruct.extractors.whitespace import collapse, strip_invisible
from lookstruct.schemas.document import Block, BlockKind, Cell, Document, Link, Page, Span


def clean(page: Page, *, include_hidden: bool = False) -> Document:
    """What a person can see on `page`, one line a block.

    Hidden text is left out and counted in `n_hidden_chars`, or kept with `include_hidden`. Scripts, styles and
    comments are never read. The title comes first, unless the page repeats it as a heading.

    >>> clean(Page("", "https://a.example/", "<h1>Lamp</h1><p>12 <b>EUR</b><p hidden>x")).text
    'Lamp\\n12 EUR'
    """
    soup = parse(page.html)
    paths = Paths()
    base_url = _base_url(soup, page.final_url)
    walker = Walker(_body(soup), base_url, _visibility(soup, page, paths), Frame(soup), include_hidden=include_hidden)
    lines = walker.lines()
    title = _title(soup)
    blocks, links, text = _assembled(_with_title(lines, title, soup), paths)
    return Document(
        url=page.final_url,
        text=text,
        blocks=blocks,
        title=title,
        lang=_lang(soup),
        links=links,
        metadata=read_metadata(soup, base_url),
        n_hidden_chars=walker.n_hidden_chars,
    )


def _visibility(soup: BeautifulSoup, page: Page, paths: Paths) -> Visibility:
    if page.hidden_paths is None:
        return Visibility(frozenset(), computed=False)
    found = (paths.find(soup, path) for path in page.hidden_paths)
    return Visibility(frozenset(id(tag) for tag in found if tag is not None), computed=True)


def _body(soup: BeautifulSoup) -> Tag:
    return soup.html or soup


def _base_url(soup: BeautifulSoup, url: str) -> str:
    base = soup.find("base", href=True)
    found = absolute(url, str(base.attrs["href"])) if isinstance(base, Tag) else None
    return found or url


def _title(soup: BeautifulSoup) -> str:
    title = soup.find("title")
    return collapse(strip_invisible(title.get_text())) if isinstance(title, Tag) else ""


def _lang(soup: BeautifulSoup) -> str | None:
    root = soup.html
    lang = str(root.attrs.get("lang") or root.attrs.get("xml:lang") or "").strip() if root is not None else ""
    return lang or None


def _with_title(lines: list[Line], title: str, soup: BeautifulSoup) -> list[Line]:
    tag = soup.find("title")
    repeated = any(line.kind is BlockKind.HEADING and line.text == title for line in lines)
    if not title or repeated or not isinstance(tag, Tag):
        return lines
    return [Line(title, tag, BlockKind.TITLE), *lines]


def _assembled(lines: Sequence[Line], paths: Paths) -> tuple[tuple[Block, ...], tuple[Link, ...], str]:
    blocks: list[Block] = []
    links: list[Link] = []
    offset = 0
    for line in lines:
        blocks.append(_block(line, offset, paths))
        links += [Link(_span(link.start, link.end, offset), link.value or "") for link in line.links]
        offset += len(line.text) + 1
    return tuple(blocks), tuple(links), "\n".join(line.text for line in lines)


def _block(line: Line, offset: int, paths: Paths) -> Block:
    return Block(
        kind=line.kind,
        span=_span(0, len(line.text), offset),
        dom_path=paths.of(line.tag),
        boilerplate=line.boilerplate,
        level=line.level,
        cells=tuple(Cell(_span(cell.start, cell.end, offset), cell.value) for cell in line.cells),
        table=line.table,
    )


def _span(start: int, end: int, offset: int) -> Span:
    return Span(offset + start, offset + end)
