"""When is a page ready to be read? Loaded, then settled: its visible text has stopped changing."""

from __future__ import annotations

import asyncio
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as Tab
from playwright.async_api import TimeoutError as PlaywrightTimeout

from lookstruct.extractors.inpage import SETTLED
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.traffic import Traffic

_QUIET_MS = 300
_EMPTY_S = 2.0  # a page without text and without traffic may still be starting its script
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
    if options.wait == "settled":
        notes += await _settled(tab, traffic, options)
    return notes


async def _loaded(tab: Tab, state: Any, options: FetchOptions) -> list[str]:
    try:
        await tab.wait_for_load_state(state, timeout=min(options.settle_s, options.timeout_s) * 1000)
    except PlaywrightTimeout:
        return [f"the page did not reach {state!r} within {options.settle_s:g} s and was read as it was"]
    return []


async def _settled(tab: Tab, traffic: Traffic, options: FetchOptions) -> list[str]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    navigations = 0
    while (left := began + options.settle_s - loop.time()) > 0:
        try:
            state = await tab.evaluate(SETTLED, {"quietMs": _QUIET_MS, "limitMs": left * 1000})
        except PlaywrightError as exc:
            if tab.is_closed() or navigations == _MOST_NAVIGATIONS or "navigat" not in str(exc):
                raise
            navigations += 1
            await tab.wait_for_load_state("domcontentloaded", timeout=options.timeout_s * 1000)
            continue
        waited = loop.time() - began
        if state["quiet"] and not traffic.n_pending and (not state["empty"] or waited > _EMPTY_S):
            return []
    return [f"the page was still changing after {options.settle_s:g} s and was read as it was"]
