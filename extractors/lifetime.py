"""One browser for many pages: started when first needed, replaced when worn, lost or hung, ended for sure."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from playwright.async_api import Browser, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from lookstruct.extractors.browser import launch, temporary_folder
from lookstruct.extractors.outgrown import Outgrown
from lookstruct.extractors.patience import patiently
from lookstruct.extractors.processes import Family, family_of
from lookstruct.schemas.errors import BrowserLost

T = TypeVar("T")

PAGES_PER_BROWSER = 250
"""A browser that has shown so many pages is replaced: whatever it holds on to goes with it."""

_CLOSE_S = 10.0
_PING_S = 5.0


@dataclass(eq=False, slots=True)
class Running:
    """A browser that runs, with its driver, its temporary files and its processes."""

    playwright: Playwright
    browser: Browser
    temporary: tempfile.TemporaryDirectory[str]
    family: Family
    lost: asyncio.Event
    outgrown: Outgrown
    watch: asyncio.Task[None]
    n_shown: int = 0
    n_open: int = 0
    is_given_up: bool = False

    @property
    def is_fit(self) -> bool:
        """Whether it may be given another page."""
        return (
            not self.is_given_up
            and not self.lost.is_set()
            and self.n_shown < PAGES_PER_BROWSER
            and self.browser.is_connected()
        )

    async def unless_lost(self, work: Awaitable[T]) -> T:
        """What `work` returns; it is cancelled, and `BrowserLost` raised, when the browser dies meanwhile.

        Calls to a browser that has just died would wait for ever.
        """
        task, death = asyncio.ensure_future(work), asyncio.ensure_future(self.lost.wait())
        try:
            await asyncio.wait({task, death}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise BrowserLost("the browser died: try again")
            return await task
        finally:
            for pending in (task, death):
                pending.cancel()
            await asyncio.gather(task, death, return_exceptions=True)

    async def is_alive(self) -> bool:
        """Whether it answers; a hung one does not."""
        if not self.browser.is_connected():
            return False
        try:
            async with asyncio.timeout(_PING_S):
                session = await self.browser.new_browser_cdp_session()
                await session.send("Browser.getVersion")
                await session.detach()
        except (PlaywrightError, TimeoutError):
            return False
        return True


class Keeper:
    """Lends out the browser; one that is no longer fit is ended as soon as its last page is done.

    A page whose process takes more than `page_bytes` is ended. `close` ends every process and removes every file, even
    of a browser that does not answer.
    """

    def __init__(self, page_bytes: int) -> None:
        self._page_bytes = page_bytes
        self._current: Running | None = None
        self._all: set[Running] = set()
        self._starting = asyncio.Lock()

    async def warm(self, proxy_url: str) -> None:
        """Start the browser if none is there. Raises `BrowserUnavailable`."""
        await self._fit_one(proxy_url)

    @asynccontextmanager
    async def lend(self, proxy_url: str) -> AsyncIterator[Running]:
        """The browser for one page; whatever it opens goes through the proxy."""
        running = await self._fit_one(proxy_url)
        running.n_shown += 1
        running.n_open += 1
        try:
            yield running
        finally:
            running.n_open -= 1
            if not running.is_fit and not running.n_open:
                await asyncio.shield(self._end(running))

    async def _fit_one(self, proxy_url: str) -> Running:
        async with self._starting:
            current = self._current
            if current is None or not current.is_fit:
                self._current = None
                if current is not None and not current.n_open:
                    await self._end(current)
                self._current = current = await self._start(proxy_url)
            return current

    async def _start(self, proxy_url: str) -> Running:
        temporary = temporary_folder()
        playwright: Playwright | None = None
        mark = f"--lookstruct-run={secrets.token_hex(8)}"
        try:
            playwright = await async_playwright().start()
            browser = await launch(playwright, Path(temporary.name), proxy_url=proxy_url, mark=mark)
            family = await asyncio.to_thread(family_of, mark)
        except BaseException:
            if playwright is not None:
                await patiently(playwright.stop(), _CLOSE_S)
            unfinished = family_of(mark)
            unfinished.kill()
            unfinished.clean_up()
            temporary.cleanup()
            raise
        lost = asyncio.Event()
        browser.on("disconnected", lambda _: lost.set())
        outgrown = Outgrown(family, self._page_bytes)
        watch = asyncio.create_task(outgrown.run())
        running = Running(playwright, browser, temporary, family, lost, outgrown, watch)
        self._all.add(running)
        return running

    async def _end(self, running: Running) -> None:
        """Close in order; what is left of it then is killed."""
        if running not in self._all:
            return
        self._all.discard(running)
        running.watch.cancel()
        members = await asyncio.to_thread(running.family.members)
        try:
            if running.browser.is_connected() and not running.is_given_up:
                await patiently(running.browser.close(), _CLOSE_S)
        finally:
            await asyncio.to_thread(running.family.kill, members)
            try:
                await patiently(running.playwright.stop(), _CLOSE_S)
            finally:
                await asyncio.to_thread(running.family.clean_up)
                running.temporary.cleanup()

    def families(self) -> list[Family]:
        """The processes of every browser that runs."""
        return [running.family for running in self._all]

    async def close(self) -> None:
        """End all browsers; safe to call twice."""
        self._current = None
        for running in list(self._all):
            await self._end(running)
