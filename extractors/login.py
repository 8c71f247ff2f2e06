"""A person logs in, in a browser of ours that they can see -> a file of cookies and local storage for later visits."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, async_playwright
from playwright.async_api import Error as PlaywrightError

from lookstruct.extractors.browser import launch, temporary_folder
from lookstruct.extractors.egress.guard import Guard
from lookstruct.extractors.egress.proxy import EgressProxy
from lookstruct.extractors.identity import read_storage
from lookstruct.schemas.errors import BrowserUnavailable, FetchError, SinkError

_LOOK_S = 0.5  # between two looks at the cookies: once the window is closed they can no longer be asked for
_MOST_BYTES = 2_000_000_000

Done = Callable[[], Awaitable[None]]


def check_display() -> None:
    """BrowserUnavailable where no window can be shown."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise BrowserUnavailable(
            "logging in needs a screen, and there is none here (DISPLAY is not set): run extract login on a desktop "
            "and copy the file it writes, or give this machine a screen with xvfb-run or VNC"
        )


async def log_in(url: str, path: Path, *, done: Done, headless: bool = False) -> int:
    """Show `url` until `done` returns or the window is closed, and keep the cookies in `path`; how many they are.

    What is in `path` already is taken along. The file is for its owner's eyes only.
    """
    if not headless:
        check_display()
    _check_writable(path)  # now, not after the person has logged in
    before = read_storage(path) if path.exists() else None
    async with _window(url, before, headless=headless) as context:
        try:
            await context.pages[0].goto(url, wait_until="commit")
        except PlaywrightError as exc:
            raise FetchError(f"{url} could not be opened: check the address and your network") from exc
        state = await _watched(context, done)
    _keep(path, state)
    return len(state["cookies"])


@asynccontextmanager
async def _window(url: str, state: Any, *, headless: bool) -> AsyncIterator[BrowserContext]:
    egress = EgressProxy()
    with temporary_folder() as temporary:
        async with async_playwright() as playwright:
            await egress.start()
            browser = await launch(playwright, Path(temporary), headless=headless, proxy_url=egress.url)
            try:
                with egress.admit(Guard.for_target(url), max_bytes=_MOST_BYTES, upstream=None) as ticket:
                    context = await browser.new_context(
                        proxy=ticket.settings, storage_state=state, no_viewport=not headless
                    )
                    await context.new_page()
                    yield context
            finally:
                with suppress(PlaywrightError):
                    await browser.close()
                await egress.close()


async def _watched(context: BrowserContext, done: Done) -> Any:
    """The latest cookies and local storage, looked at until it is done or no window is left."""
    waiting = asyncio.ensure_future(done())
    state: Any = {"cookies": [], "origins": []}
    try:
        while context.pages:
            finished, _ = await asyncio.wait([waiting], timeout=_LOOK_S)
            with suppress(PlaywrightError):  # the window may be closing
                state = await context.storage_state()
            if finished:
                await waiting
                break
    finally:
        waiting.cancel()
    return state


def _check_writable(path: Path) -> None:
    folder = path if path.exists() else next(parent for parent in path.resolve().parents if parent.exists())
    if path.is_dir() or not os.access(folder, os.W_OK):
        raise SinkError(f"the cookies cannot be kept in {path}: name a file that can be written")


def _keep(path: Path, state: Any) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(state, file, indent=1)
    except OSError as exc:
        raise SinkError(f"the cookies cannot be kept in {path} ({exc.strerror}): name another file") from exc
