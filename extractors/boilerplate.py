"""Which parts of a page are its frame (menus, banners, footers) and which its content."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup
from bs4.element import Tag

_FRAME_TAGS = frozenset({"nav", "aside"})
_FRAME_ROLES = frozenset({"navigation", "banner", "contentinfo", "complementary", "search"})
_CONTENT_TAGS = ("main", "article")
_CONSENT = re.compile(
    r"(?:cookies?|consent|gdpr|ccpa|privacy)[-_ ]?(?:law[-_ ]?)?(?:banner|consent|notice|notification|bar|pop-?up|policy|"
    r"message|modal|dialog|overlay|prompt|wall|info|alert|settings|manager|root|container|disclaimer)"
    r"|onetrust|cybotcookiebot|didomi|usercentrics|qc-cmp|truste|sp_message|cc-window|cmp(?:box|-container|wrapper)"
    r"|cookie-?(?:script|yes|first|hub)|klaro|iubenda-cs|borlabs|complianz",
    re.IGNORECASE,
)
_CONSENT_TAGS = frozenset({"div", "section", "aside", "dialog", "form", "footer", "header", "p", "span", "iframe"})
_MOST_CONSENT_CHARS = 6000  # a longer "banner" is the page itself under a misleading class


class Frame:
    """Answers `begins(tag)` for the tags of one page.

    `nav`, `aside` and their ARIA roles are always part of the frame, and so are `header` and `footer` outside the
    content where the page says which part that is (`main`, `article`). Where it does not, as on many invoices, a
    `header` or `footer` counts as frame only if it holds a menu of links.
    """

    def __init__(self, soup: BeautifulSoup) -> None:
        self._names_content = soup.find(_CONTENT_TAGS) is not None or soup.find(attrs={"role": "main"}) is not None

    def begins(self, tag: Tag) -> bool:
        """Whether `tag` opens a part of the frame."""
        if tag.name in _FRAME_TAGS:
            return True
        if tag.name in ("header", "footer"):
            return self._is_page_edge(tag) or is_consent_banner(tag)
        role = tag.attrs.get("role")
        if role is not None and role in _FRAME_ROLES:
            return True
        return is_consent_banner(tag)

    def _is_page_edge(self, tag: Tag) -> bool:
        if any(parent.name in ("main", "article", "section", "dialog") for parent in tag.parents):
            return False
        return self._names_content or holds_menu(tag)


def holds_menu(tag: Tag) -> bool:
    """Whether most of the text in `tag` is links, or it has a `nav`."""
    if tag.find("nav") is not None:
        return True
    total = len(tag.get_text(strip=True))
    linked = sum(len(link.get_text(strip=True)) for link in tag.find_all("a"))
    return total > 0 and linked * 2 > total


def is_consent_banner(tag: Tag) -> bool:
    """Whether id or class say that `tag` asks for consent to cookies ("cookie recipes" do not)."""
    if tag.name not in _CONSENT_TAGS or not tag.attrs:
        return False
    names = f"{tag.attrs.get('id', '')} {tag.attrs.get('class', '')}"
    if len(names) < 2 or _CONSENT.search(names) is None:
        return False
    return tag.find(["main", "article", "h1"]) is None and len(tag.get_text()) <= _MOST_CONSENT_CHARS
