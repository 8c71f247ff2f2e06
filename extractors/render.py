"""One page in the browser: navigate, wait, read. A job -> `Page`."""

from __future__ import annotations

import time
from dataclasses import replace

from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError

from lookstruct.extractors.download import OtherInput
from lookstruct.extractors.following import joined
from lookstruct.extractors.further import read_further
from lookstruct.extractors.htmltree import marked_paths
from lookstruct.extractors.job import Job, Means
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.snapshot import Snapshot
from lookstruct.extractors.tabs import open_tab
from lookstruct.extractors.tags import MARK_HIDDEN
from lookstruct.extractors.visit import Visit
from lookstruct.schemas.document import Page
from lookstruct.schemas.errors import EmptyPage


async def render(browser: Browser, job: Job, options: FetchOptions, means: Means) -> Page:
    """Load a page in a context of its own, which is closed whatever happens, and read it.

    Raises one of the `FetchError`s, `FetchTimeout` after `options.timeout_s`.
    """
    began = time.monotonic()
    async with open_tab(browser, job, options, means) as tab:
        visit = Visit(tab, job, options, means)
        return replace(await _read(visit, job, means), fetch_s=time.monotonic() - began)


async def _read(visit: Visit, job: Job, means: Means) -> Page:
    """The page within the time and size that the options allow."""
    try:
        async with visit.deadline:
            await visit.arrive()
            page = await _page(visit, job, await visit.ready())
            return await _with_further(visit, page, means) if visit.options.follow_next else page
    except TimeoutError as exc:
        raise visit.ended() from exc
    except OtherInput as exc:
        raise replace(exc, headers=await visit.headers_for(exc.url)) from exc
    except PlaywrightError as exc:
        raise visit.explained(exc) from exc


async def _page(visit: Visit, job: Job, snapshot: Snapshot) -> Page:
    if not snapshot.n_visible:
        raise EmptyPage(f"{visit.name} has no text that a person could read: check it in a browser")
    if snapshot.is_truncated:
        visit.note(f"the page has more than {visit.options.max_nodes} elements: the rest was not read")
    if snapshot.n_unread_frames:
        visit.note(f"{snapshot.n_unread_frames} frames of other sites could not be read")
    answer = None if job.is_local else visit.answer or visit.traffic.main
    return Page(
        url=job.url,
        final_url=visit.tab.url,
        html=snapshot.html,
        status=answer.status if answer is not None else 200,
        headers=dict(answer.headers) if answer is not None else {},
        hidden_paths=marked_paths(snapshot.html, MARK_HIDDEN),
        screenshot=await visit.tab.screenshot(full_page=True) if visit.options.screenshot else None,
        notes=visit.notes,
    )


async def _with_further(visit: Visit, page: Page, means: Means) -> Page:
    """The page with those that follow it in a listing."""
    html = joined(page.html, await read_further(visit, means.next_turn))
    return replace(page, html=html, hidden_paths=marked_paths(html, MARK_HIDDEN), notes=visit.notes)
