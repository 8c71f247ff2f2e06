"""Places for pages: so many at once, and none more while there is no memory for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from lookstruct.extractors.memory import free_bytes

PAGE_BYTES = 150_000_000
"""What an ordinary page is expected to take; one that has just begun is counted so, as it has not taken it yet."""

_YOUNG_S = 5.0
_LOOK_S = 0.25


class Room:
    """Places for `most` pages; `free` and `sleep` are the machine, which tests replace."""

    def __init__(
        self,
        most: int,
        free: Callable[[], int] = free_bytes,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._places = asyncio.Semaphore(most)
        self._free = free
        self._sleep = sleep
        self._began: list[float] = []

    @asynccontextmanager
    async def place(self, least_free: int) -> AsyncIterator[None]:
        """A place while the block runs: begun where `least_free` bytes are left besides, or nobody else has one.

        A page alone is never kept waiting: what takes the memory is not ours then, and may never go away.
        """
        async with self._places:
            while self._began and not self._is_enough(least_free):
                await self._sleep(_LOOK_S)
            began = asyncio.get_running_loop().time()
            self._began.append(began)
            try:
                yield
            finally:
                self._began.remove(began)

    def _is_enough(self, least_free: int) -> bool:
        now = asyncio.get_running_loop().time()
        n_young = sum(now - began < _YOUNG_S for began in self._began)
        return self._free() - n_young * PAGE_BYTES >= least_free
