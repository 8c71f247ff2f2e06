"""One page in the browser: navigate, wait, read. A URL -> `Page`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from playwright.async_api import Browser, BrowserContext, Response, Route
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as Tab
from playwright.async_api import TimeoutError as PlaywrightTimeout

from lookstruct.extractors.contenttypes import check_content_type, not_a_page
from lookstruct.extractors.decode import decode, is_garbled, undone
from lookstruct.extractors.download import OtherInput, basic_auth
from lookstruct.extractors.egress.guard import Passage, Refused
from lookstruct.extractors.egress.proxy import Ticket
from lookstruct.extractors.following import Further, find_next, joined
from lookstruct.extractors.htmltree import marked_paths
from lookstruct.extractors.httpcache.cache import HttpCache, Kept
from lookstruct.extractors.httpcache.documents import Documents
from lookstruct.extractors.identity import credentials_for, read_storage, same_origin
from lookstruct.extractors.inputs import kind_of
from lookstruct.extractors.interact import Hands, interact, press, wants_hands
from lookstruct.extractors.manners.retrying import retry_after
from lookstruct.extractors.neterrors import fetch_error, first_line, net_error_name
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.patience import patiently
from lookstruct.extractors.snapshot import Snapshot, take_snapshot
from lookstruct.extractors.tags import MARK_HIDDEN
from lookstruct.extractors.traffic import Traffic
from lookstruct.extractors.waits import wait_until_ready
from lookstruct.schemas.document import Page
from lookstruct.schemas.errors import (
    BlockedByPolicy,
    BrowserLost,
    EmptyPage,
    FetchError,
    FetchTimeout,
    HTTPStatusError,
    Interrupted,
    PageTooLarge,
)

BLANK = "about:blank"
"""The URL of HTML that comes from nowhere."""

_CLOSE_S = 5.0
_PAGE_SCHEMES = ("http:", "https:", "data:", "blob:", "about:")


@dataclass(frozen=True, slots=True)
class Job:
    """What to navigate to: `url`, or `body` shown under that URL; `name` is what messages call it.

    `is_offline` lets nothing be loaded besides.
    """

    url: str
    name: str
    body: str | None = None
    typed: str | None = None
    credentials: str | None = field(default=None, repr=False)
    is_offline: bool = False

    @property
    def is_local(self) -> bool:
        """Whether the page is a file, which may load other files."""
        return self.url.startswith("file:")


async def render(
    browser: Browser,
    job: Job,
    options: FetchOptions,
    ticket: Ticket,
    device: Mapping[str, Any] | None = None,
    cache: HttpCache | None = None,
) -> Page:
    """Load a page in a context of its own, which is closed whatever happens, and read it.

    `device` are the context settings of the device that the browser is to pass for.
    What the page loads goes through the egress proxy, which let it in by `ticket`.
    Raises one of the `FetchError`s, `FetchTimeout` after `options.timeout_s`.
    """
    began = time.monotonic()
    settings = {"proxy": ticket.settings, **_context_settings(job, options, device or {})}
    async with _tab(browser, job, settings, options.timeout_s) as tab:
        return await _Visit(
            tab, job, options, ticket.passage, began, _documents(cache, tab, job, options, ticket)
        ).read()


def _documents(cache: HttpCache | None, tab: Tab, job: Job, options: FetchOptions, ticket: Ticket) -> Documents | None:
    """The tab's way through the cache; none for pages that are shown to this visitor alone."""
    is_personal = options.headers or options.http_auth or job.credentials
    if cache is None or is_personal or job.body is not None:
        return None
    variant = f"{options.emulate} {options.user_agent} {options.locale}"
    return Documents(cache, tab.context, ticket.passage.guard.admits_url, variant)


@asynccontextmanager
async def _tab(browser: Browser, job: Job, settings: Mapping[str, Any], timeout_s: float) -> AsyncIterator[Tab]:
    context: BrowserContext | None = None
    try:
        try:
            async with asyncio.timeout(timeout_s):
                context = await browser.new_context(**settings)
                tab = await context.new_page()
        except (PlaywrightError, TimeoutError) as exc:
            raise BrowserLost(f"{job.name} was not tried because the browser stopped answering: try again") from exc
        context.on("page", _close_popup)
        yield tab
    finally:
        if context is not None:
            await _close(context)


def _context_settings(job: Job, options: FetchOptions, device: Mapping[str, Any]) -> dict[str, Any]:
    width, height = options.viewport
    window = (
        {}
        if "viewport" in device and "viewport" not in options.model_fields_set
        else {"width": width, "height": height}
    )
    agent = {} if options.user_agent is None else {"user_agent": options.user_agent}
    return {
        **device,
        **({"viewport": window} if window else {}),
        **agent,
        "locale": options.locale,
        "timezone_id": options.timezone,
        "http_credentials": credentials_for(job.url, job.credentials or options.http_auth),
        "storage_state": read_storage(options.storage_state) if options.storage_state else None,
        "accept_downloads": False,
        "permissions": [],  # none is granted, none is asked for
        "service_workers": "block",
        "reduced_motion": "reduce",  # what would fade in is there at once
        "color_scheme": "light",
    }


async def _close_popup(popup: Tab) -> None:
    """A page has one tab; what it opens besides is nothing that a person asked for."""
    with suppress(PlaywrightError):
        await popup.close()


async def _close(context: BrowserContext) -> None:
    """Close even while being cancelled; a browser that does not answer is left to its owner."""
    await patiently(context.close(), _CLOSE_S)


class _Visit:
    """One visit of one page, from navigation to `Page`."""

    def __init__(
        self,
        tab: Tab,
        job: Job,
        options: FetchOptions,
        passage: Passage,
        began: float,
        documents: Documents | None = None,
    ) -> None:
        self._tab = tab
        self._job = job
        self._name = job.name  # of what is being read, as messages call it
        self._options = options
        self._passage = passage
        self._began = began
        self._deadline = asyncio.timeout(options.timeout_s)
        self._traffic = Traffic(tab, options.max_bytes, on_excess=self._stop)
        passage.on_excess = self._traffic.stop
        self._has_crashed = False
        tab.on("crash", self._crashed)
        self._shown = job  # what the tab is given: another body than the server's after a reload
        self._answer: Response | None = None
        self._notes: list[str] = []
        self._documents = documents

    async def read(self) -> Page:
        """Navigate, wait, and read, within the time and size that the options allow."""
        try:
            async with self._deadline:
                return await self._read()
        except TimeoutError as exc:
            raise self._ended() from exc
        except OtherInput as exc:
            raise replace(exc, headers=await self._headers_for(exc.url)) from exc
        except PlaywrightError as exc:
            raise self._explained(exc) from exc

    async def _headers_for(self, url: str) -> dict[str, str]:
        """What the browser would send along with a request for `url`."""
        is_own = same_origin(url, self._job.url)
        cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in await self._tab.context.cookies(url))
        return {
            "User-Agent": await self._tab.evaluate("navigator.userAgent"),
            **({"Cookie": cookies} if cookies else {}),
            **(basic_auth(self._job.credentials or self._options.http_auth) if is_own else {}),
            **(self._options.headers if is_own else {}),
        }

    async def _read(self) -> Page:
        await self._tab.route("**/*", self._gate)
        session = await self._traffic.watch()
        if self._documents is not None:
            self._documents.watch(session)
        response = await self._navigate()
        self._check(response)
        page = await self._page(await self._ready())
        return await self._with_further(page) if self._options.follow_next else page

    async def _ready(self, *, inner: bool = False) -> Snapshot:
        """Wait, do what the options ask for, and read what is shown then."""
        notes = await wait_until_ready(self._tab, self._traffic, self._options)
        self._check_arrival()
        snapshot = await take_snapshot(self._tab, self._options.max_nodes, inner=inner)
        if await self._is_reloaded(snapshot.html, snapshot.encoding):
            notes = await wait_until_ready(self._tab, self._traffic, self._options)
            snapshot = await take_snapshot(self._tab, self._options.max_nodes, inner=inner)
        if wants_hands(self._options):
            notes += await interact(self._hands())
            snapshot = await take_snapshot(self._tab, self._options.max_nodes, inner=inner)
        self._notes += notes
        if self._documents is not None:
            await self._documents.keep(self._traffic.main)
        return snapshot

    def _hands(self) -> Hands:
        now = asyncio.get_running_loop().time
        until = self._deadline.when() or now() + self._options.timeout_s
        return Hands(self._tab, self._traffic, self._options, lambda: until - now())

    async def _with_further(self, page: Page) -> Page:
        """The first page with those that follow it; what cannot be had ends the listing there, with a note."""
        self._deadline.reschedule(None)  # from here on each page has its own
        further: list[Further] = []
        seen = {self._tab.url}
        try:
            while len(further) < self._options.follow_next:
                async with asyncio.timeout(self._options.timeout_s) as self._deadline:
                    if not await self._turn(seen):
                        break
                    further.append(Further(self._tab.url, await self._ready(inner=True)))
        except (FetchError, PlaywrightError, TimeoutError) as exc:
            self._notes.append(f"the listing was read up to page {len(further) + 1}: {self._reason(exc)}")
        html = joined(page.html, further)
        if further:
            self._notes.append(f"{len(further) + 1} pages of the listing were read as one")
        return replace(
            page,
            html=html,
            hidden_paths=marked_paths(html, MARK_HIDDEN),
            fetch_s=time.monotonic() - self._began,
            notes=(*self._notes, *self._passage.notes(), *(self._documents.notes if self._documents else ())),
        )

    async def _turn(self, seen: set[str]) -> bool:
        """Go to the next page of the listing; False if there is none, or only one that was read already."""
        following = await find_next(self._tab, self._options.next_selector)
        if following is None or following.url in seen:
            return False
        self._name = following.url or f"the page after {self._tab.url}"
        if following.url is None:
            return await press(self._hands(), following.button)
        seen.add(following.url)
        self._check(await self._goto(following.url, referer=self._tab.url))
        return True

    def _reason(self, exc: Exception) -> str:
        if isinstance(exc, TimeoutError):
            return str(self._too_large() if self._traffic.too_large else self._too_late())
        return str(self._explained(exc) if isinstance(exc, PlaywrightError) else exc)

    async def _is_reloaded(self, html: str, encoding: str) -> bool:
        """Show a garbled page again from its bytes, decoded by what they are instead of what they are said to be."""
        answer = self._traffic.main
        if answer is None or self._job.body is not None or not is_garbled(html, encoding):
            return False
        try:
            body = await answer.body()
        except PlaywrightError:  # Chromium no longer has the bytes
            self._notes.append("the page declares a wrong charset: some characters are garbled")
            return False
        decoded = decode(undone(body, encoding), answer.headers.get("content-type"))
        if decoded.note is None:
            return False
        self._notes.append(decoded.note)
        self._answer, self._shown = answer, Job(self._tab.url, self._name, decoded.text)
        await self._tab.goto(self._shown.url, wait_until="commit", timeout=self._options.timeout_s * 1000)
        return True

    def _stop(self) -> None:
        self._deadline.reschedule(asyncio.get_running_loop().time())

    async def _gate(self, route: Route) -> None:
        """Let a request pass, answer it, or refuse it."""
        request = route.request
        is_page = request.is_navigation_request() and request.frame == self._tab.main_frame
        with suppress(PlaywrightError):  # the page may be gone by now
            if is_page and self._shown.body is not None and request.url == self._shown.url:
                await route.fulfill(body=self._shown.body, content_type="text/html; charset=utf-8")
            elif (
                self._job.is_offline or request.resource_type in self._options.block or not self._may_load(request.url)
            ):
                await route.abort("blockedbyclient")
            elif self._options.headers and same_origin(request.url, self._job.url):
                await route.continue_(headers={**request.headers, **self._options.headers})
            elif is_page and self._documents is not None:
                await _answer(route, await self._documents.before(request))
            else:
                await route.continue_()

    def _may_load(self, url: str) -> bool:
        return url.startswith(_PAGE_SCHEMES) or (self._job.is_local and url.startswith("file:"))

    async def _navigate(self) -> Response | None:
        if self._job.url == BLANK:
            await self._tab.set_content(self._job.body or "", wait_until="commit")
            return None
        try:
            return await self._goto(self._job.url)
        except PlaywrightError:
            if self._traffic.main is not None:
                self._check(self._traffic.main)  # a download or an empty answer ends the navigation: say which
            raise

    async def _goto(self, url: str, referer: str | None = None) -> Response | None:
        """Navigate, by way of the cache if there is one."""
        timeout_ms = self._options.timeout_s * 1000
        go = partial(self._tab.goto, url, wait_until="commit", timeout=timeout_ms, referer=referer)
        return await (self._documents.navigated(url, go) if self._documents is not None else go())

    def _check(self, response: Response | None) -> None:
        """Raise for an error status, or for something that is no page."""
        if response is None or self._job.is_local or 300 <= response.status < 400:
            return
        if response.status >= 400:
            wait_s = retry_after(response.headers.get("retry-after"))
            raise HTTPStatusError(f"{self._name} answered {_status_text(response)}", response.status, wait_s)
        if response.status in (204, 205):
            raise EmptyPage(f"{self._name} answered {response.status}, which means no content: check the address")
        content_type = response.headers.get("content-type")
        if (kind := kind_of(response.url, b"", content_type)) is not None:
            raise OtherInput(response.url, kind)
        check_content_type(self._name, content_type)
        if response.headers.get("content-disposition", "").strip().lower().startswith("attachment"):
            raise not_a_page(self._name, response.headers.get("content-type", "a download").split(";")[0])

    def _check_arrival(self) -> None:
        """Raise where the page has gone somewhere by itself and Chromium's own error page is shown."""
        if self._tab.url.startswith("chrome-error:"):
            raise self._explained(PlaywrightError(self._traffic.main_failure or "the page left for nowhere"))

    async def _page(self, snapshot: Snapshot) -> Page:
        if not snapshot.n_visible:
            raise EmptyPage(f"{self._name} has no text that a person could read: check it in a browser")
        if snapshot.is_truncated:
            self._notes.append(f"the page has more than {self._options.max_nodes} elements: the rest was not read")
        if snapshot.n_unread_frames:
            self._notes.append(f"{snapshot.n_unread_frames} frames of other sites could not be read")
        answer = None if self._job.is_local else self._answer or self._traffic.main
        return Page(
            url=self._job.url,
            final_url=self._tab.url,
            html=snapshot.html,
            status=answer.status if answer is not None else 200,
            headers=dict(answer.headers) if answer is not None else {},
            hidden_paths=marked_paths(snapshot.html, MARK_HIDDEN),
            screenshot=await self._tab.screenshot(full_page=True) if self._options.screenshot else None,
            fetch_s=time.monotonic() - self._began,
            notes=(*self._notes, *self._passage.notes(), *(self._documents.notes if self._documents else ())),
        )

    def _crashed(self, _: Tab) -> None:
        self._has_crashed = True
        self._stop()

    def _ended(self) -> FetchError:
        """Why there was no more time."""
        if self._has_crashed:
            return Interrupted(f"{self._name} made its tab in the browser crash: try again, or check it in a browser")
        return self._too_large() if self._traffic.too_large else self._too_late()

    def _too_large(self) -> PageTooLarge:
        limit = self._options.max_bytes / 1e6
        return PageTooLarge(f"{self._name} is larger than {limit:g} MB: raise max_bytes if you want all of it")

    def _too_late(self) -> FetchTimeout:
        return FetchTimeout(
            f"{self._name} did not load within {self._options.timeout_s:g} s: raise timeout_s, or check it in a browser"
        )

    def _explained(self, exc: PlaywrightError) -> FetchError:
        if self._has_crashed:
            return self._ended()
        if isinstance(exc, PlaywrightTimeout):
            return FetchTimeout(f"{self._name} was not ready in time ({first_line(exc)}): raise timeout_s")
        fault = self._passage.fault(self._traffic.main_url or self._job.url)
        if isinstance(fault, Refused):
            return BlockedByPolicy(f"{self._name} {fault}")
        if fault is not None:
            return fetch_error(self._name, fault.name)
        name = net_error_name(str(exc))
        if name is not None:
            return fetch_error(self._name, name)
        if "Download is starting" in str(exc):
            return not_a_page(self._name, "a download")
        return FetchError(f"{self._name} could not be read ({first_line(exc)}): try again")


async def _answer(route: Route, known: Kept | Mapping[str, str]) -> None:
    """Answer a request with what is kept, or let it pass with conditions."""
    if isinstance(known, Kept):
        await route.fulfill(status=known.status, headers=dict(known.headers), body=known.body)
    else:
        await route.continue_(headers={**route.request.headers, **known} if known else None)


def _status_text(response: Response) -> str:
    advice = {
        401: "log in first, or pass credentials",
        403: "the site refuses this program, or wants a login",
        404: "check the address",
        410: "the page was removed",
        429: "too many requests: wait, then ask more slowly",
    }.get(response.status, "try again later" if response.status >= 500 else "check the address")
    return f"{response.status} {response.status_text}".strip() + f": {advice}"
