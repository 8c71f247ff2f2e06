"""A rendered tab -> one flat HTML text: the page itself, with the frames of other origins in their places."""

from __future__ import annotations

import asyncio
import re
import secrets
from dataclasses import dataclass, replace

from playwright.async_api import ElementHandle, Frame, JSHandle
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as Tab

from lookstruct.extractors.inpage.snapshot import SNAPSHOT

_MOST_DEPTH = 1000
_MOST_FRAMES = 40  # of one document; advertisements nest dozens
_MOST_NESTED = 6
_FRAME_S = 3.0
_WITHOUT_FRAMES = "({ frames, ...rest }) => ({ ...rest, nFrames: frames.length })"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a tab shows: flat HTML, the code points of visible text in it, and how Chromium decoded the page."""

    html: str
    n_visible: int
    n_nodes: int
    is_truncated: bool
    encoding: str
    n_unread_frames: int = 0


async def take_snapshot(tab: Tab, max_nodes: int, *, inner: bool = False) -> Snapshot:
    """Reads the whole tab; with `inner` only what is in its body, its links absolute, to stand inside another page."""
    return await _snapshot(tab.main_frame, max_nodes, inner=inner, n_nested=0)


async def _snapshot(frame: Frame, max_nodes: int, *, inner: bool, n_nested: int) -> Snapshot:
    # The page cannot know the token, so it cannot put a frame's text where it likes.
    token = f"[frame {secrets.token_hex(8)} #]"
    handle = await frame.evaluate_handle(
        SNAPSHOT, {"nodes": max_nodes, "depth": _MOST_DEPTH, "token": token, "inner": inner}
    )
    read = await handle.evaluate(_WITHOUT_FRAMES)
    own = Snapshot(read["html"], read["nVisible"], read["nNodes"], read["truncated"], read["characterSet"])
    n_frames = read["nFrames"] if n_nested < _MOST_NESTED else 0
    room = max(max_nodes - own.n_nodes, 0)
    found = await asyncio.gather(*(_framed(handle, n, room, n_nested + 1) for n in range(min(n_frames, _MOST_FRAMES))))
    return _joined(own, token, found)


async def _framed(handle: JSHandle, number: int, max_nodes: int, n_nested: int) -> Snapshot | None:
    """What the `number`-th frame shows; None if it cannot be read (gone, blocked, or hung)."""
    try:
        async with asyncio.timeout(_FRAME_S):
            element = (await handle.evaluate_handle("(read, n) => read.frames[n]", number)).as_element()
            frame = await _content_of(element)
            if frame is None or not max_nodes:
                return None
            return await _snapshot(frame, max_nodes, inner=True, n_nested=n_nested)
    except (PlaywrightError, TimeoutError):
        return None


async def _content_of(element: ElementHandle | None) -> Frame | None:
    frame = await element.content_frame() if element is not None else None
    failed = frame is None or frame.url.startswith("chrome-error:")  # Chromium's own words about a blocked frame
    return None if failed else frame


def _joined(own: Snapshot, token: str, found: list[Snapshot | None]) -> Snapshot:
    """The document with its frames in the places that hold the token."""

    def body(match: re.Match[str]) -> str:
        number = int(match.group(1))
        inside = found[number] if number < len(found) else None
        return inside.html if inside is not None else ""

    read = [inside for inside in found if inside is not None]
    return replace(
        own,
        html=re.sub(re.escape(token).replace(re.escape("#"), r"(\d+)"), body, own.html),
        n_visible=own.n_visible + sum(inside.n_visible for inside in read),
        n_nodes=own.n_nodes + sum(inside.n_nodes for inside in read),
        is_truncated=own.is_truncated or any(inside.is_truncated for inside in read),
        n_unread_frames=len(found) - len(read) + sum(inside.n_unread_frames for inside in read),
    )
