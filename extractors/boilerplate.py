"""Which parts of a page are its frame (menus, banners, footers) and which its content."""

from __future__ import annotations

import re

from bs4.element import Tag

from lookstruct.extractors.htmltree import contains, elements

_FRAME_ROLES = frozenset({"navigation", "banner", "contentinfo", "search"})
_CONTENT_TAGS = frozenset({"main", "article"})
_OWN_EDGES = frozenset({"main", "article", "section", "dialog"})  # may have a header and footer of their own
_HEAD_OF_CONTENT = frozenset({"main", "article", "h1"})
_CONSENT = re.compile(
    r"(?:cookies?|consent|gdpr|ccpa|privacy)[-_ ]?(?:law[-_ ]?)?"
    r"(?:banner|consent|notice|notification|bar|pop-?up|policy|message|modal|dialog|overlay|prompt|wall|info|alert|"
    r"settings|manager|root|container|disclaimer)"
    r"|onetrust|cybotcookiebot|didomi|usercentrics|qc-cmp|truste|sp_message|cc-window|cmp(?:box|-container|wrapper)"
    r"|cookie-?(?:script|yes|first|hub)|klaro|iubenda-cs|borlabs|complianz",
    re.IGNORECASE,
)
_CONSENT_TAGS = frozenset({
    "div", "section", "aside", "dialog", "form", "footer", "header", "p", "span", "lookstruct-frame",
})  # fmt: skip
_MOST_CONSENT_CHARS = 6000  # a longer "banner" is the page itself under a misleading class


class Frame:
    """Answers `begins(tag)` for the tags of one page.

    `nav` and its ARIA roles are always part of the frame. `header` and `footer` are, outside the content, where the
    page says which part that is (`main`, `article`). Everywhere else, and for `aside`, only what is mostly links: many
    an invoice has its number in a `header`, and many a shop the price in an `aside`.
    """

    def __init__(self, *, names_content: bool) -> None:
        self._names_content = names_content

    def begins(self, tag: Tag) -> bool:
        """Whether `tag` opens a part of the frame."""
        if tag.name == "nav":
            return True
        if tag.name == "aside":
            return holds_menu(tag) or is_consent_banner(tag)
        if tag.name in ("header", "footer"):
            return self._is_page_edge(tag) or is_consent_banner(tag)
        if not tag.attrs:
            return False
        role = tag.attrs.get("role")
        if role == "complementary":
            return holds_menu(tag)
        return role in _FRAME_ROLES or is_consent_banner(tag)

    def _is_page_edge(self, tag: Tag) -> bool:
        if any(parent.name in _OWN_EDGES for parent in tag.parents):
            return False
        return (self._names_content and not contains(tag, ("h1",))) or holds_menu(tag)


def is_content(tag: Tag) -> bool:
    """Whether the page calls this element its content."""
    return tag.name in _CONTENT_TAGS or tag.attrs.get("role") == "main"


def holds_menu(tag: Tag) -> bool:
    """Whether most of the text in `tag` is links, or it has a `nav`."""
    inner = list(elements(tag))
    total = len(tag.get_text(strip=True))
    linked = sum(len(link.get_text(strip=True)) for link in inner if link.name == "a")
    return any(part.name == "nav" for part in inner) or linked * 2 > total


def is_consent_banner(tag: Tag) -> bool:
    """Whether id or class say that `tag` asks for consent to cookies ("cookie recipes" do not)."""
    if tag.name not in _CONSENT_TAGS or not tag.attrs:
        return False
    names = f"{tag.attrs.get('id', '')} {tag.attrs.get('class', '')}"
    if len(names) < 2 or _CONSENT.search(names) is None:
        return False
    return not contains(tag, _HEAD_OF_CONTENT) and len(tag.get_text()) <= _MOST_CONSENT_CHARS
