"""Which parts of a page are its frame (menus, banners, footers) and which its content."""

from __future__ import annotations

from collections.abc import Iterable

from bs4.element import Tag

from lookstruct.extractors.consent import is_consent_banner
from lookstruct.extractors.htmltree import contains, elements

_FRAME_ROLES = frozenset({"navigation", "banner", "contentinfo", "search"})
_CONTENT_TAGS = frozenset({"main", "article"})
_OWN_EDGES = frozenset({"main", "article", "section", "dialog"})  # may have a header and footer of their own
_HEAD_OF_CONTENT = frozenset({"main", "article", "h1"})


class Frame:
    """Answers `begins(tag)` for the tags of one page.

    `nav` and its ARIA roles are always part of the frame. `header` and `footer` are, outside the content, where the
    page says which part that is (`main`, `article`). Everywhere else, and for `aside`, only what is mostly links: many
    an invoice has its number in a `header`, and many a shop the price in an `aside`.
    """

    def __init__(self, *, names_content: bool, banners: Iterable[Tag] = ()) -> None:
        self._names_content = names_content
        self._banners = {id(banner) for banner in banners}

    def begins(self, tag: Tag) -> bool:
        """Whether `tag` opens a part of the frame."""
        if tag.name == "nav" or self.asks_consent(tag):
            return True
        if tag.name == "aside" or tag.attrs.get("role") == "complementary":
            return holds_menu(tag)
        if tag.name in ("header", "footer"):
            return self._is_page_edge(tag)
        return tag.attrs.get("role") in _FRAME_ROLES

    def asks_consent(self, tag: Tag) -> bool:
        """Whether `tag` asks for consent to cookies."""
        return id(tag) in self._banners or is_consent_banner(tag)

    def _is_page_edge(self, tag: Tag) -> bool:
        if any(parent.name in _OWN_EDGES for parent in tag.parents):
            return False
        if has_headline(tag):
            return False  # a menu beside it is a part of the frame by itself
        return (self._names_content and not contains(tag, ("h1",))) or holds_menu(tag)


def has_headline(tag: Tag) -> bool:
    """Whether a first-level heading in `tag` is more than a link home, as a logo is."""
    headings = (part for part in elements(tag) if part.name == "h1")
    return any(part.get_text(strip=True) and not contains(part, ("a",)) for part in headings)


def is_content(tag: Tag) -> bool:
    """Whether the page calls this element its content."""
    return tag.name in _CONTENT_TAGS or tag.attrs.get("role") == "main"


def holds_menu(tag: Tag) -> bool:
    """Whether most of the text in `tag` is links, or it has a `nav`."""
    inner = list(elements(tag))
    total = len(tag.get_text(strip=True))
    linked = sum(len(link.get_text(strip=True)) for link in inner if link.name == "a")
    return any(part.name == "nav" for part in inner) or linked * 2 > total
