"""Target -> Page: through a warm browser for URLs and files, straight from the bytes for HTML that is already here."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from playwright.async_api import Error as PlaywrightError

from lookstruct.extractors import archive
from lookstruct.extractors.agent import user_agent
from lookstruct.extractors.browser import NO_SANDBOX_NOTE, is_root
from lookstruct.extractors.contenttypes import check_bytes
from lookstruct.extractors.decode import decode
from lookstruct.extractors.download import OtherInput, download
from lookstruct.extractors.egress.dialer import Upstream
from lookstruct.extractors.egress.guard import Guard
from lookstruct.extractors.egress.proxy import EgressProxy
from lookstruct.extractors.httpcache.caches import Caches
from lookstruct.extractors.identity import device_settings, without_credentials
from lookstruct.extractors.inputs import Converted, convert, kind_of
from lookstruct.extractors.job import BLANK, Job, Means
from lookstruct.extractors.lifetime import Keeper, Running
from lookstruct.extractors.manners.manners import IGNORED_NOTE, Manners
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.processes import Family
from lookstruct.extractors.render import render
from lookstruct.extractors.room import Room
from lookstruct.extractors.target import Target, resolve_target
from lookstruct.extractors.traffic import MOST_RESOURCES
from lookstruct.schemas.document import Page
from lookstruct.schemas.errors import BrowserLost, EmptyPage, FetchTimeout, Interrupted, PageTooLarge, UsageError


class Fetcher:
    """Fetches pages, several at once if asked, with one browser that starts when it is first needed.

    Use it as an async context manager; on leaving, by whatever way, the browser and its temporary files are gone.

        async with Fetcher() as fetcher:
            page = await fetcher.fetch("https://example.com/")

    It is one guest: all that is fetched through it waits its turn at each host (`manners`).
    """

    def __init__(
        self, options: FetchOptions | None = None, *, max_pages: int = 4, egress: EgressProxy | None = None
    ) -> None:
        self._options = options or FetchOptions()
        self._egress = egress or EgressProxy()
        self._caches = Caches()
        self._manners = Manners(self._egress, caches=self._caches)
        self._keeper = Keeper(self._options.page_memory_mb * 1_000_000)
        self._room = Room(max_pages)

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
            return await self._visited(Job(url, url, typed=resolved.typed, credentials=credentials), options)
        if resolved.kind == "file" and (kept := await asyncio.to_thread(archive.load, Path(resolved.value))):
            return kept
        began = time.monotonic()
        read = await asyncio.to_thread(_read, resolved, options.max_bytes)
        url = Path(resolved.value).as_uri() if resolved.kind == "file" else options.base_url or BLANK
        if not (render_it and read.needs_browser):
            return _static_page(read, resolved.name, url, began)
        page = await self._rendered(Job(url, resolved.name, read.html, is_offline=read.base_url is not None), options)
        return replace(page, final_url=read.base_url or page.final_url, notes=(*read.notes, *page.notes))

    async def _visited(self, job: Job, options: FetchOptions) -> Page:
        """The page at a URL, fetched as a guest behaves."""
        await self._egress.start()
        await self._keeper.warm(self._egress.url)
        page = await self._manners.visited(job.url, partial(self._rendered, job, options), options, typed=job.typed)
        ignored = (IGNORED_NOTE,) if options.ignore_robots else ()
        return replace(page, notes=(*page.notes, *ignored, *self._caches.notes(options)))

    async def _rendered(self, job: Job, options: FetchOptions) -> Page:
        async with self._room.place(options.least_free_mb * 1_000_000):
            try:
                page = await self._shown(job, options)
            except BrowserLost:  # the next one is new: the page gets one more chance
                page = await self._shown(job, options)
        return replace(page, notes=(*page.notes, NO_SANDBOX_NOTE)) if is_root() else page

    async def _shown(self, job: Job, options: FetchOptions) -> Page:
        """The page in the browser; `BrowserLost` if that was the browser's last one."""
        await self._egress.start()
        guard = Guard.for_target(job.typed or job.url, options.allow_private, for_others=options.for_others)
        upstream = Upstream.parse(options.proxy) if options.proxy else None
        cache = await self._caches.of(options) if job.body is None and not job.is_local else None
        async with self._keeper.lend(self._egress.url) as running:
            with self._egress.admit(guard, max_bytes=MOST_RESOURCES * options.max_bytes, upstream=upstream) as ticket:
                try:
                    next_turn = partial(self._manners.next_turn, options=options, typed=job.typed or job.url)
                    took_one = running.outgrown.took_one
                    means = Means(ticket, _device(running, options), cache, next_turn, took_one)
                    return await running.unless_lost(render(running.browser, job, options, means))
                except OtherInput as other:
                    return await download(other, job.url, options, ticket, cache)
                except (Interrupted, FetchTimeout, PlaywrightError) as exc:
                    if await running.is_alive():
                        raise
                    running.is_given_up = True
                    raise BrowserLost(f"{job.name} was not read because the browser died: try again") from exc

    def families(self) -> list[Family]:
        """The processes of the browsers that run now."""
        return self._keeper.families()

    async def close(self) -> None:
        """Stop the browser and remove its temporary files; safe to call twice."""
        try:
            await self._manners.close()
            await self._caches.close()
        finally:
            try:
                await self._keeper.close()
            finally:
                await self._egress.close()


def _device(running: Running, options: FetchOptions) -> dict[str, Any]:
    """What the context needs to pass for the device that is asked for, or for itself."""
    own = {"user_agent": user_agent(running.browser.version)}
    return {**own, **(device_settings(running.playwright.devices, options.emulate) if options.emulate else {})}


def _read(target: Target, max_bytes: int) -> Converted:
    """A file, standard input, or given HTML, as HTML; larger than `max_bytes` is refused unread."""
    if target.kind == "html":
        return Converted(target.value, needs_browser=True)
    if target.kind == "stdin":
        data = sys.stdin.buffer.read(max_bytes + 1)
    else:
        with Path(target.value).open("rb") as file:
            data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise PageTooLarge(
            f"{target.name} is larger than {max_bytes / 1e6:g} MB: raise max_bytes if you want all of it"
        )
    kind = kind_of(target.value, data)
    if kind is not None:
        return convert(kind, data, target.name)
    check_bytes(target.name, data)
    decoded = decode(data)
    return Converted(decoded.text, notes=(decoded.note,) if decoded.note else (), needs_browser=True)


def _static_page(read: Converted, name: str, url: str, began: float) -> Page:
    if not read.html.strip():
        raise EmptyPage(f"{name} is empty: expected HTML")
    return Page(
        url=url,
        final_url=read.base_url or url,
        html=read.html,
        fetch_s=time.monotonic() - began,
        notes=read.notes,
    )


async def fetch(target: Target | str, options: FetchOptions | None = None) -> Page:
    """One page with a browser of its own; for several pages keep a `Fetcher`."""
    async with Fetcher(options) as fetcher:
        return await fetcher.fetch(target)
