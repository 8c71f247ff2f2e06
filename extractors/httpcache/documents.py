"""The documents that a tab navigates to, by way of the cache: before the request, at a 304, and when one is whole.

The browser itself asks, with the cache's conditions among its headers. Chromium gives a navigation up that is answered
with 304; it is then done again, and answered with what was kept. Where the page goes by itself, and what it loads, the
cache has no part in: resources are many, and each would have to pass through this process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Request, Response
from playwright.async_api import Error as PlaywrightError

from lookstruct.extractors.httpcache.cache import HttpCache, Kept, Lookup

_TOLD_S = 2.0  # for word of a 304 after its navigation was given up
_BODY_S = 5.0
_GIVEN_UP = "net::ERR_ABORTED"

Go = Callable[[], Awaitable[Response | None]]


class Documents:
    """One tab's documents; `is_admitted` tells of a URL whether a person's word lets it be private.

    `notes` are what a person should know: that a page was not asked for.
    """

    def __init__(
        self, cache: HttpCache, context: BrowserContext, is_admitted: Callable[[str], bool], variant: str
    ) -> None:
        self.notes: list[str] = []
        self._cache = cache
        self._context = context
        self._is_admitted = is_admitted
        self._variant = f"browser {variant}"
        self._wanted: str | None = None  # where we are going; where the page goes by itself is its own affair
        self._lookup: Lookup | None = None
        self._kept: Kept | None = None
        self._sent: dict[str, str] = {}
        self._unchanged: asyncio.Queue[tuple[str, Mapping[str, str]]] = asyncio.Queue()

    def watch(self, session: CDPSession) -> None:
        """Hear of answers that Playwright does not tell of."""
        session.on("Network.requestWillBeSent", self._asked)
        session.on("Network.responseReceivedExtraInfo", self._told)

    def _asked(self, event: dict[str, Any]) -> None:
        if event.get("type") == "Document":
            self._sent[event["requestId"]] = event["request"]["url"]

    def _told(self, event: dict[str, Any]) -> None:
        if event["statusCode"] == 304 and event["requestId"] in self._sent:
            self._unchanged.put_nowait((self._sent[event["requestId"]], event["headers"]))

    async def navigated(self, url: str, go: Go) -> Response | None:
        """What `go`, which navigates to `url`, brings: from its server, or out of the cache."""
        self._wanted, self._lookup, self._kept = url, None, None
        try:
            return await go()
        except PlaywrightError as exc:
            if _GIVEN_UP not in str(exc) or self._lookup is None or not self._lookup.conditions:
                raise
            unchanged = await self._word()
            if unchanged is None:
                raise
            where, headers = unchanged
            self._kept = await self._cache.confirmed(self._lookup, headers) if where == url else None
            self._lookup = None
            if self._kept is None:
                self._wanted = None  # 304 of another page, or of what was removed meanwhile: ask without conditions
            return await go()
        finally:
            self._wanted = None

    async def _word(self) -> tuple[str, Mapping[str, str]] | None:
        with suppress(TimeoutError):
            return await asyncio.wait_for(self._unchanged.get(), _TOLD_S)
        return None

    async def before(self, request: Request) -> Kept | Mapping[str, str]:
        """What answers the request of a document, or the conditions to ask with (none: as it is)."""
        if request.url != self._wanted or request.method != "GET":
            return {}
        if self._kept is not None:
            return self._kept
        if self._lookup is None and not await self._context.cookies(request.url):
            admitted = self._is_admitted(request.url)
            self._lookup = await self._cache.look_up(
                request.url, request.headers, is_admitted=admitted, variant=self._variant
            )
        if self._lookup is None:
            return {}
        if self._lookup.fresh is not None:
            age = f"{self._lookup.fresh.age_s:.0f} s old"
            self.notes.append(f"the page is the HTTP cache's copy, {age}, which its server lets be used unasked")
            return self._lookup.fresh
        return self._lookup.conditions

    async def keep(self, response: Response | None) -> None:
        """Keep the document that came of the latest navigation, if all of it is there."""
        lookup, self._lookup = self._lookup, None
        if lookup is None or lookup.fresh is not None or response is None or response.status != 200:
            return
        if response.url != lookup.request.url or response.request.redirected_from is not None:
            return
        with suppress(PlaywrightError, TimeoutError):  # what Chromium no longer has is not kept
            async with asyncio.timeout(_BODY_S):
                await response.finished()
                if response.request.failure is None:
                    await self._cache.keep(lookup, 200, await response.all_headers(), await response.body())
