"""Each request of a tab: let through, answered here, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as Tab
from playwright.async_api import Request, Route

from lookstruct.extractors.httpcache.cache import Kept
from lookstruct.extractors.httpcache.documents import Documents
from lookstruct.extractors.identity import same_origin
from lookstruct.extractors.job import Job
from lookstruct.extractors.options import FetchOptions

_PAGE_SCHEMES = ("http:", "https:", "data:", "blob:", "about:")


class Gate:
    """One tab's gate; `shown` is what the tab is given: the job, or another body than the server's after a reload."""

    def __init__(self, tab: Tab, job: Job, options: FetchOptions, documents: Documents | None) -> None:
        self.shown = job
        self._tab = tab
        self._job = job
        self._options = options
        self._documents = documents

    async def __call__(self, route: Route) -> None:
        """Decide on a request."""
        request = route.request
        with suppress(PlaywrightError):  # the page may be gone by now
            if self._is_page(request) and self.shown.body is not None and request.url == self.shown.url:
                await route.fulfill(body=self.shown.body, content_type="text/html; charset=utf-8")
            elif self._is_refused(request):
                await route.abort("blockedbyclient")
            elif self._options.headers and same_origin(request.url, self._job.url):
                await route.continue_(headers={**request.headers, **self._options.headers})
            elif self._documents is not None and self._is_page(request):
                await _answer(route, await self._documents.before(request))
            else:
                await route.continue_()

    def _is_page(self, request: Request) -> bool:
        return request.is_navigation_request() and request.frame == self._tab.main_frame

    def _is_refused(self, request: Request) -> bool:
        return self._job.is_offline or request.resource_type in self._options.block or not self._may_load(request.url)

    def _may_load(self, url: str) -> bool:
        return url.startswith(_PAGE_SCHEMES) or (self._job.is_local and url.startswith("file:"))


async def _answer(route: Route, known: Kept | Mapping[str, str]) -> None:
    """Answer a request with what is kept, or let it pass with conditions."""
    if isinstance(known, Kept):
        await route.fulfill(status=known.status, headers=dict(known.headers), body=known.body)
    else:
        await route.continue_(headers={**route.request.headers, **known} if known else None)
