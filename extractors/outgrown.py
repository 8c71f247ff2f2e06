"""Pages whose process takes more memory than a page may: ended, before the machine or its owner ends the browser."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress

import psutil

from lookstruct.extractors.processes import Family, own_bytes

_LOOK_S = 0.5
_REMEMBERED_S = 10.0


class Outgrown:
    """Looks after one browser; `run` until it is cancelled."""

    def __init__(self, family: Family, most_bytes: int) -> None:
        self._family = family
        self._most = most_bytes
        self._ended: deque[float] = deque()

    async def run(self) -> None:
        """End each page process that is too large."""
        while True:
            await asyncio.sleep(_LOOK_S)
            await asyncio.to_thread(self.end_large)

    def end_large(self) -> None:
        """End those that are too large now.

        Each is noted before it is ended: the browser may tell of the crash before the call that caused it returns.
        """
        for process in self._family.pages():
            if own_bytes(process) > self._most:
                self._ended.append(time.monotonic())
                with suppress(psutil.Error):
                    process.kill()

    def took_one(self) -> bool:
        """Whether a page that has just crashed was ended here; each is told of once.

        Chromium does not say which process a page has, so this goes by time: a page crashes at once when its process
        is ended. Frames have processes too: theirs are forgotten after a while.
        """
        while self._ended and time.monotonic() - self._ended[0] > _REMEMBERED_S:
            self._ended.popleft()
        if not self._ended:
            return False
        self._ended.popleft()
        return True
