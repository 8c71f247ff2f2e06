"""Target -> Page: through a warm browser for URLs and files, straight from the bytes for HTML that is already here."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from playwright.async_api import Browser, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from lookstruct.extractors import archive
from lookstruct.extractors.browser import NO_SANDBOX_NOTE, is_root, launch, temporary_folder
from lookstruct.extractors.contenttypes import check_bytes
from lookstruct.extractors.decode import Decoded, decode
from lookstruct.extractors.egress.dialer import Upstream
from lookstruct.extractors.egress.guard import Guard
from lookstruct.extractors.egress.proxy import EgressProxy
from lookstruct.extractors.identity import device_settings, without_credentials
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.render import BLANK, Job, render
from lookstruct.extractors.target import Target, resolve_target
from lookstruct.extractors.traffic import MOST_RESOURCES
from lookstruct.schemas.document import Page
from lookstruct.schemas.errors import EmptyPage, PageTooLarge, UsageError

_CLOSE_S = 10.0


class Fetcher:
    """Fetches pages, several at once if asked, with one browser that starts when it is first needed.

    Use it as an async context manager; on leaving, by whatever way, the browser and its temporary files are gone.

        async with Fetcher() as fetcher:
            page = await fetcher.fetch("https://example.com/")
    """

    def __init__(
        self, options: FetchOptions | None = None, *, max_pages: int = 4, egress: EgressProxy | None = None
    ) -> None:
        self._options = options or FetchOptions()
        self._egress = egress or EgressProxy()
        self._room = asyncio.Semaphore(max_pages)
        self._starting = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    async def __aenter__(self) -> Fetcher:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def fetch(self, target: Target | str, options: FetchOptions | None = None) -> Page:
        """The page that `target` names; a string is resolved by `resolve_target`.

        Raises `TargetError`, or the `FetchError` that says why the page could not be had.
        """
        resolved = resolve_target(target) if isinstance(target, str) else target
        options = options or self._options
        page = replace(await self._fetch(resolved, options), include_hidden=options.include_hidden)
        if options.snapshot is not None:
            await asyncio.to_thread(archive.save, page, options.snapshot)
        return page

    async def _fetch(self, resolved: Target, options: FetchOptions) -> Page:
        render_it = options.render if options.render is not None else resolved.kind in ("url", "file")
        if resolved.kind == "url":
            if not render_it:
                raise UsageError(f"{resolved.value} needs the browser: render=False is for files, stdin and given HTML")
            url, credentials = without_credentials(resolved.value)
            return await self._rendered(Job(url, url, typed=resolved.typed, credentials=credentials), options)
        if resolved.kind == "file" and (kept := await asyncio.to_thread(archive.load, Path(resolved.value))):
            return kept
        began = time.monotonic()
        read = await asyncio.to_thread(_read, resolved, options.max_bytes)
        url = Path(resolved.value).as_uri() if resolved.kind == "file" else options.base_url or BLANK
        if not render_it:
            return _static_page(read, resolved.name, url, began)
        page = await self._rendered(Job(url, resolved.name, read.text), options)
        return replace(page, notes=(read.note, *page.notes)) if read.note else page

    async def _rendered(self, job: Job, options: FetchOptions) -> Page:
        async with self._room:
            browser = await self._warm_browser()
            guard = Guard.for_target(job.typed or job.url, options.allow_private, for_others=options.for_others)
            upstream = Upstream.parse(options.proxy) if options.proxy else None
            with self._egress.admit(guard, max_bytes=MOST_RESOURCES * options.max_bytes, upstream=upstream) as ticket:
                page = await render(browser, job, options, ticket, self._device(options))
        return replace(page, notes=(*page.notes, NO_SANDBOX_NOTE)) if is_root() else page

    def _device(self, options: FetchOptions) -> dict[str, Any]:
        """What the context needs to pass for the device that is asked for."""
        if options.emulate is None or self._playwright is None:
            return {}
        return device_settings(self._playwright.devices, options.emulate)

    async def _warm_browser(self) -> Browser:
        async with self._starting:
            if self._browser is None or not self._browser.is_connected():
                await self.close()
                self._temporary = temporary_folder()
                await self._egress.start()
                self._playwright = await async_playwright().start()
                self._browser = await launch(self._playwright, Path(self._temporary.name), proxy_url=self._egress.url)
            return self._browser

    async def close(self) -> None:
        """Stop the browser and remove its temporary files; safe to call twice."""
        browser, self._browser = self._browser, None
        playwright, self._playwright = self._playwright, None
        temporary, self._temporary = self._temporary, None
        try:
            if browser is not None:
                with suppress(PlaywrightError, TimeoutError):
                    await asyncio.wait_for(asyncio.shield(browser.close()), _CLOSE_S)
        finally:
            try:
                if playwright is not None:
                    with suppress(PlaywrightError):
                        await playwright.stop()
            finally:
                await self._egress.close()
                if temporary is not None:
                    temporary.cleanup()


def _read(target: Target, max_bytes: int) -> Decoded:
    """The text of a file, of standard input, or of given HTML; larger than `max_bytes` is refused unread."""
    if target.kind == "html":
        return Decoded(target.value, "str")
    if target.kind == "stdin":
        data = sys.stdin.buffer.read(max_bytes + 1)
    else:
        with Path(target.value).open("rb") as file:
            data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise PageTooLarge(
            f"{target.name} is larger than {max_bytes / 1e6:g} MB: raise max_bytes if you want all of it"
        )
    check_bytes(target.name, data)
    return decode(data)


def _static_page(read: Decoded, name: str, url: str, began: float) -> Page:
    if not read.text.strip():
        raise EmptyPage(f"{name} is empty: expected HTML")
    return Page(
        url=url,
        final_url=url,
        html=read.text,
        fetch_s=time.monotonic() - began,
        notes=(read.note,) if read.note else (),
    )


async def fetch(target: Target | str, options: FetchOptions | None = None) -> Page:
    """One page with a browser of its own; for several pages keep a `Fetcher`."""
    async with Fetcher(options) as fetcher:
        return await fetcher.fetch(target)
