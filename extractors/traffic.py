"""What a tab loads: the main answer, what is under way, and a call when a resource grows too large."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from playwright.async_api import CDPSession, Request, Response
from playwright.async_api import Page as Tab

_CONTENT_TYPES = frozenset({"document", "script", "xhr", "fetch"})
MOST_RESOURCES = 5
"""All resources of a page together may be this many times as large as one."""


class Traffic:
    """Watches one tab; `main` is the answer to its latest navigation, None before there is one.

    `main_url` is where that navigation led last, whether or not an answer came, `main_failure` why none did.
    """

    def __init__(self, tab: Tab, max_bytes: int, *, on_excess: Callable[[], None]) -> None:
        self.main: Response | None = None
        self.main_url: str | None = None
        self.main_failure: str | None = None
        self.too_large = False
        self._tab = tab
        self._max_bytes = max_bytes
        self._pending: set[Request] = set()
        self._n_bytes: defaultdict[str, int] = defaultdict(int)
        self._total = 0
        self._on_excess = on_excess

    async def watch(self) -> CDPSession:
        """Start watching; call before the navigation. Returns the session that hears of the network."""
        self._tab.on("request", self._began)
        self._tab.on("requestfinished", self._ended)
        self._tab.on("requestfailed", self._failed)
        self._tab.on("response", self._answered)
        session = await self._tab.context.new_cdp_session(self._tab)
        session.on("Network.dataReceived", self._received)
        await session.send("Network.enable")
        return session

    @property
    def n_pending(self) -> int:
        """Requests under way that may still bring text."""
        return len(self._pending)

    def _began(self, request: Request) -> None:
        if request.is_navigation_request() and request.frame == self._tab.main_frame:
            self.main_url, self.main_failure = request.url, None
        if request.resource_type in _CONTENT_TYPES:
            self._pending.add(request)

    def _ended(self, request: Request) -> None:
        self._pending.discard(request)

    def _failed(self, request: Request) -> None:
        self._ended(request)
        if request.is_navigation_request() and request.frame == self._tab.main_frame:
            self.main_failure = request.failure

    def _answered(self, response: Response) -> None:
        request = response.request
        if request.is_navigation_request() and request.frame == self._tab.main_frame:
            self.main = response
            if int(response.headers.get("content-length", "0") or 0) > self._max_bytes:
                self.stop()

    def _received(self, event: dict[str, Any]) -> None:
        self._n_bytes[event["requestId"]] += event["dataLength"]
        self._total += event["dataLength"]
        if self._n_bytes[event["requestId"]] > self._max_bytes or self._total > MOST_RESOURCES * self._max_bytes:
            self.stop()

    def stop(self) -> None:
        """Too much came: say so, once."""
        if not self.too_large:
            self.too_large = True
            self._on_excess()
