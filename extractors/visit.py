"""One tab on its way: to a page, until it is ready, and what went wrong if it does not get there."""

from __future__ import annotations

import asyncio
from functools import partial

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as Tab
from playwright.async_api import Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from lookstruct.extractors.arrival import check_answer
from lookstruct.extractors.contenttypes import not_a_page
from lookstruct.extractors.decode import decode, is_garbled, undone
from lookstruct.extractors.download import basic_auth
from lookstruct.extractors.egress.guard import Passage, Refused
from lookstruct.extractors.gate import Gate
from lookstruct.extractors.httpcache.documents import Documents
from lookstruct.extractors.identity import same_origin
from lookstruct.extractors.interact import Hands, interact, wants_hands
from lookstruct.extractors.job import BLANK, Job, Means
from lookstruct.extractors.neterrors import fetch_error, first_line, net_error_name
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.snapshot import Snapshot, take_snapshot
from lookstruct.extractors.traffic import Traffic
from lookstruct.extractors.waits import wait_until_ready
from lookstruct.schemas.errors import BlockedByPolicy, FetchError, FetchTimeout, Interrupted, PageTooLarge


class Visit:
    """One visit; `name` is what messages call what is being read, `deadline` the time it has, `notes` what to tell."""

    def __init__(self, tab: Tab, job: Job, options: FetchOptions, means: Means) -> None:
        self.tab = tab
        self.name = job.name
        self.options = options
        self.deadline = asyncio.timeout(options.timeout_s)
        self.traffic = Traffic(tab, options.max_bytes, on_excess=self._stop)
        self.answer: Response | None = None  # the server's own, after a reload from its bytes
        self._job = job
        self._means = means
        self._notes: list[str] = []
        self._has_crashed = False
        self._documents = _documents(tab, job, options, means)
        self._gate = Gate(tab, job, options, self._documents)
        self._passage.on_excess = self.traffic.stop
        tab.on("crash", self._crashed)

    @property
    def _passage(self) -> Passage:
        return self._means.ticket.passage

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of it so far."""
        kept = self._documents.notes if self._documents is not None else ()
        return (*self._notes, *self._passage.notes(), *kept)

    def note(self, text: str) -> None:
        """Tell a person something."""
        self._notes.append(text)

    async def arrive(self) -> None:
        """Go to the job's page."""
        await self.tab.route("**/*", self._gate)
        session = await self.traffic.watch()
        if self._documents is not None:
            self._documents.watch(session)
        self._check(await self._navigate())

    async def _navigate(self) -> Response | None:
        if self._job.url == BLANK:
            await self.tab.set_content(self._job.body or "", wait_until="commit")
            return None
        try:
            return await self._goto(self._job.url)
        except PlaywrightError:
            if self.traffic.main is not None:
                self._check(self.traffic.main)  # a download or an empty answer ends the navigation: say which
            raise

    async def go_on(self, url: str) -> None:
        """Go to a page that this one leads to."""
        self._check(await self._goto(url, referer=self.tab.url))

    async def _goto(self, url: str, referer: str | None = None) -> Response | None:
        """Navigate, by way of the cache if there is one."""
        timeout_ms = self.options.timeout_s * 1000
        go = partial(self.tab.goto, url, wait_until="commit", timeout=timeout_ms, referer=referer)
        return await (self._documents.navigated(url, go) if self._documents is not None else go())

    def _check(self, response: Response | None) -> None:
        if not self._job.is_local:
            check_answer(response, self.name)

    async def ready(self, *, inner: bool = False) -> Snapshot:
        """Wait, do what the options ask for, and read what is shown then."""
        notes = await wait_until_ready(self.tab, self.traffic, self.options)
        self._check_arrival()
        snapshot = await take_snapshot(self.tab, self.options.max_nodes, inner=inner)
        if self._documents is not None:
            await self._documents.keep(self.traffic.main)
        if await self._is_reloaded(snapshot.html, snapshot.encoding):
            notes = await wait_until_ready(self.tab, self.traffic, self.options)
            snapshot = await take_snapshot(self.tab, self.options.max_nodes, inner=inner)
        if wants_hands(self.options):
            notes += await interact(self.hands())
            snapshot = await take_snapshot(self.tab, self.options.max_nodes, inner=inner)
        self._notes += notes
        return snapshot

    def hands(self) -> Hands:
        """What acts on the page, within the time that is left."""
        now = asyncio.get_running_loop().time
        until = self.deadline.when() or now() + self.options.timeout_s
        return Hands(self.tab, self.traffic, self.options, lambda: until - now())

    def _check_arrival(self) -> None:
        """Raise where the page has gone somewhere by itself and Chromium's own error page is shown."""
        if self.tab.url.startswith("chrome-error:"):
            raise self.explained(PlaywrightError(self.traffic.main_failure or "the page left for nowhere"))

    async def _is_reloaded(self, html: str, encoding: str) -> bool:
        """Show a garbled page again from its bytes, decoded by what they are instead of what they are said to be."""
        answer = self.traffic.main
        if answer is None or self._job.body is not None or not is_garbled(html, encoding):
            return False
        try:
            body = await answer.body()
        except PlaywrightError:  # Chromium no longer has the bytes
            self.note("the page declares a wrong charset: some characters are garbled")
            return False
        decoded = decode(undone(body, encoding), answer.headers.get("content-type"))
        if decoded.note is None:
            return False
        self.note(decoded.note)
        self.answer, self._gate.shown = answer, Job(self.tab.url, self.name, decoded.text)
        await self.tab.goto(self.tab.url, wait_until="commit", timeout=self.options.timeout_s * 1000)
        return True

    async def headers_for(self, url: str) -> dict[str, str]:
        """What the browser would send along with a request for `url`."""
        is_own = same_origin(url, self._job.url)
        cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in await self.tab.context.cookies(url))
        return {
            "User-Agent": await self.tab.evaluate("navigator.userAgent"),
            **({"Cookie": cookies} if cookies else {}),
            **(basic_auth(self._job.credentials or self.options.http_auth) if is_own else {}),
            **(self.options.headers if is_own else {}),
        }

    def _stop(self) -> None:
        self.deadline.reschedule(asyncio.get_running_loop().time())

    def _crashed(self, _: Tab) -> None:
        self._has_crashed = True
        self._stop()

    def ended(self) -> FetchError:
        """Why there was no more time."""
        if self._has_crashed:
            return self._lost()
        if self.traffic.too_large:
            limit = self.options.max_bytes / 1e6
            return PageTooLarge(f"{self.name} is larger than {limit:g} MB: raise max_bytes if you want all of it")
        limit = self.options.timeout_s
        return FetchTimeout(f"{self.name} did not load within {limit:g} s: raise timeout_s, or check it in a browser")

    def _lost(self) -> FetchError:
        if self._means.was_outgrown():
            return PageTooLarge(
                f"{self.name} took more than {self.options.page_memory_mb} MB of memory and was closed: "
                "raise page_memory_mb if the machine has more"
            )
        return Interrupted(f"{self.name} made its tab in the browser crash: try again, or check it in a browser")

    def explained(self, exc: PlaywrightError) -> FetchError:
        """The error that says what Chromium's or Playwright's words mean."""
        if self._has_crashed:
            return self._lost()
        if isinstance(exc, PlaywrightTimeout):
            return FetchTimeout(f"{self.name} was not ready in time ({first_line(exc)}): raise timeout_s")
        fault = self._passage.fault(self.traffic.main_url or self._job.url)
        if isinstance(fault, Refused):
            return BlockedByPolicy(f"{self.name} {fault}")
        name = fault.name if fault is not None else net_error_name(str(exc))
        if name is not None:
            return fetch_error(self.name, name)
        if "Download is starting" in str(exc):
            return not_a_page(self.name, "a download")
        return FetchError(f"{self.name} could not be read ({first_line(exc)}): try again")


def _documents(tab: Tab, job: Job, options: FetchOptions, means: Means) -> Documents | None:
    """The tab's way through the cache; none for pages that are shown to this visitor alone."""
    is_personal = options.headers or options.http_auth or job.credentials
    if means.cache is None or is_personal or job.body is not None:
        return None
    variant = f"{options.emulate} {options.user_agent} {options.locale}"
    return Documents(means.cache, tab.context, means.ticket.passage.guard.admits_url, variant)
