"""The pages of a listing after the first: each waits its host's turn, has its own time, and is read as part of one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from playwright.async_api import Error as PlaywrightError

from lookstruct.extractors.download import OtherInput
from lookstruct.extractors.following import Further, Next, find_next
from lookstruct.extractors.interact import press
from lookstruct.extractors.job import Turn
from lookstruct.extractors.visit import Visit
from lookstruct.schemas.errors import FetchError


async def read_further(visit: Visit, next_turn: Turn) -> Sequence[Further]:
    """The pages that follow what the visit has read; what cannot be had ends the listing there, with a note."""
    visit.deadline.reschedule(None)  # from here on each page has its own
    further: list[Further] = []
    seen = {visit.tab.url}
    try:
        while len(further) < visit.options.follow_next:
            following = await _next(visit, seen)
            if following is None:
                break
            async with next_turn(following.url or visit.tab.url):  # waiting is no part of a page's time
                page = await _page(visit, following)
            if page is None:
                break
            further.append(page)
    except OtherInput as exc:
        visit.note(f"the listing was read up to page {len(further) + 1}: {exc.url} is {exc.kind.title}, and no page")
    except (FetchError, PlaywrightError, TimeoutError) as exc:
        visit.note(f"the listing was read up to page {len(further) + 1}: {_reason(visit, exc)}")
    if further:
        visit.note(f"{len(further) + 1} pages of the listing were read as one")
    return further


async def _next(visit: Visit, seen: set[str]) -> Next | None:
    """What leads on, None on the last page and where it leads to one that was read already."""
    async with asyncio.timeout(visit.options.timeout_s):
        following = await find_next(visit.tab, visit.options.next_selector)
    if following is None or following.url in seen:
        return None
    visit.name = following.url or f"the page after {visit.tab.url}"
    if following.url is not None:
        seen.add(following.url)
    return following


async def _page(visit: Visit, following: Next) -> Further | None:
    """The next page; None where pressing the button brings nothing."""
    async with asyncio.timeout(visit.options.timeout_s) as visit.deadline:
        if following.url is not None:
            await visit.go_on(following.url)
        elif not await press(visit.hands(), following.button):
            return None
        return Further(visit.tab.url, await visit.ready(inner=True))


def _reason(visit: Visit, exc: Exception) -> str:
    if isinstance(exc, TimeoutError):
        return str(visit.ended())
    return str(visit.explained(exc) if isinstance(exc, PlaywrightError) else exc)
