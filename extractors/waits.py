"""When is a page ready to be read? Loaded, then settled: its visible text has stopped changing."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame
from playwright.async_api import Page as Tab
from playwright.async_api import TimeoutError as PlaywrightTimeout

from lookstruct.extractors.inpage.settled import SETTLED
from lookstruct.extractors.neterrors import first_line
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.traffic import Traffic
from lookstruct.schemas.errors import UsageError

_QUIET_MS = 300
_EMPTY_S = 2.0  # a page without text and without traffic may still be starting its script
_FRAME_S = 1.0
_MOST_NAVIGATIONS = 5  # that a page may do by itself (meta refresh, location=...) while it is read


async def wait_until_ready(tab: Tab, traffic: Traffic, options: FetchOptions) -> list[str]:
    """Wait as `options` say; returns notes about what did not come in time and was not waited for.

    The markup must come; images, a slow tracker or a clock that never stops do not hold the page up.
    """
    notes: list[str] = []
    await tab.wait_for_load_state("domcontentloaded", timeout=options.timeout_s * 1000)
    if options.wait != "dom":
        notes += await _loaded(tab, "networkidle" if options.wait == "networkidle" else "load", options)
    if options.selector is not None:
        await tab.wait_for_selector(options.selector, state="attached", timeout=options.timeout_s * 1000)
    if options.wait_function is not None:
        await _until(tab, options)
    if options.wait == "settled" and not await settle(tab, traffic, options.settle_s):
        notes.append(f"the page was still changing after {options.settle_s:g} s and was read as it was")
    return notes


async def _loaded(tab: Tab, state: Any, options: FetchOptions) -> list[str]:
    try:
        await tab.wait_for_load_state(state, timeout=min(options.settle_s, options.timeout_s) * 1000)
    except PlaywrightTimeout:
        return [f"the page did not reach {state!r} within {options.settle_s:g} s and was read as it was"]
    return []


async def _until(tab: Tab, options: FetchOptions) -> None:
    try:
        await tab.wait_for_function(options.wait_function or "", timeout=options.timeout_s * 1000)
    except PlaywrightTimeout:
        raise
    except PlaywrightError as exc:
        raise UsageError(f"wait_function cannot be evaluated on {tab.url} ({first_line(exc)}): correct it") from exc


async def settle(tab: Tab, traffic: Traffic, limit_s: float, *, quiet_ms: int = _QUIET_MS) -> bool:
    """Wait until the visible text has not changed for `quiet_ms` and nothing that may bring text is under way.

    False if that did not come within `limit_s`.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    navigations = 0
    while (left := began + limit_s - loop.time()) > 0:
        try:
            state, *_ = await asyncio.gather(
                tab.evaluate(SETTLED, {"quietMs": quiet_ms, "limitMs": left * 1000}),
                *(_frame_settled(frame, min(left, _FRAME_S)) for frame in tab.frames[1:]),
            )
        except PlaywrightError as exc:
            if tab.is_closed() or navigations == _MOST_NAVIGATIONS or "navigat" not in str(exc):
                raise
            navigations += 1
            await tab.wait_for_load_state("domcontentloaded")
            continue
        waited = loop.time() - began
        if state["quiet"] and not traffic.n_pending and (not state["empty"] or waited > _EMPTY_S):
            return True
    return False


async def _frame_settled(frame: Frame, limit_s: float) -> None:
    """Give a frame the chance to write its text; one that never rests, or is gone, holds nothing up."""
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(limit_s):
            await frame.evaluate(SETTLED, {"quietMs": _QUIET_MS, "limitMs": limit_s * 1000})
