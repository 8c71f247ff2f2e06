"""From one page of a listing to the next: what leads there, and all pages joined into one.

<html><body> first page  <lookstruct-page data-url="...">second page</lookstruct-page> ... </body></html>
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import urldefrag

from playwright.async_api import ElementHandle
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as Tab

from lookstruct.extractors.neterrors import first_line
from lookstruct.extractors.snapshot import Snapshot
from lookstruct.extractors.tags import MARK_FLOW
from lookstruct.schemas.errors import UsageError

BY_RELATION = "a[rel~='next'][href], link[rel~='next'][href]"
"""What leads to the next page where the page says so itself."""


@dataclass(frozen=True, slots=True)
class Next:
    """What leads to the next page: an address, or something to press that has none."""

    url: str | None
    button: ElementHandle


@dataclass(frozen=True, slots=True)
class Further:
    """One more page of a listing."""

    url: str
    snapshot: Snapshot


async def find_next(tab: Tab, selector: str | None) -> Next | None:
    """What leads on from the page in `tab`, None on the last one; UsageError for a selector that is none."""
    try:
        found = await tab.query_selector(selector or BY_RELATION)
    except PlaywrightError as exc:
        if selector is None or "selector" not in str(exc).lower():
            raise
        raise UsageError(
            f"next_selector is {selector!r}, which is no selector ({first_line(exc)}): correct it"
        ) from exc
    if found is None:
        return None
    url = urldefrag(str(await found.evaluate("(el) => el.href || ''"))).url
    if url.startswith(("http:", "https:", "file:")) and url != urldefrag(tab.url).url:
        return Next(url, found)
    pressable = selector is not None and await found.is_visible() and await found.is_enabled()
    return Next(None, found) if pressable else None


def joined(html: str, further: Sequence[Further]) -> str:
    """The first page's HTML with the other pages behind what is in its body.

    >>> joined("<body>a</body>", [Further("https://a.example/2", Snapshot("b", 1, 1, False, "UTF-8"))])
    '<body>a<lookstruct-page data-url="https://a.example/2" data-lookstruct-flow="block">b</lookstruct-page></body>'
    """
    before, end, after = html.rpartition("</body>")
    pages = "".join(
        f'<lookstruct-page data-url="{escape(page.url)}" {MARK_FLOW}="block">{page.snapshot.html}</lookstruct-page>'
        for page in further
    )
    return f"{before}{pages}{end}{after}" if end else html + pages
