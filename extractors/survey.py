"""One pass over a tree -> the elements that are asked for by name later: title, base, meta, scripts,
microdata and RDFa."""

from __future__ import annotations

from dataclasses import dataclass, field

from bs4 import BeautifulSoup
from bs4.element import Tag

from lookstruct.extractors.boilerplate import is_content
from lookstruct.extractors.htmltree import elements


@dataclass(slots=True)
class Parts:
    """The elements of a page that stand for the whole of it; `base` is the first one with an `href`."""

    title: Tag | None = None
    base: Tag | None = None
    names_content: bool = False
    meta: list[Tag] = field(default_factory=list)
    scripts: list[Tag] = field(default_factory=list)
    scopes: list[Tag] = field(default_factory=list)
    typed: list[Tag] = field(default_factory=list)


def survey(soup: BeautifulSoup) -> Parts:
    """Look at every element once."""
    parts = Parts()
    for tag in elements(soup):
        match tag.name:
            case "meta":
                parts.meta.append(tag)
            case "script":
                parts.scripts.append(tag)
            case "title" if parts.title is None and not _in_drawing(tag):
                parts.title = tag
            case "base" if parts.base is None and "href" in tag.attrs:
                parts.base = tag
        if "itemscope" in tag.attrs:
            parts.scopes.append(tag)
        if "typeof" in tag.attrs:
            parts.typed.append(tag)
        parts.names_content = parts.names_content or is_content(tag)
    return parts


def _in_drawing(tag: Tag) -> bool:
    return tag.parent is not None and tag.parent.name in ("svg", "g", "symbol", "a")
