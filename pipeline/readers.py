"""The readers of one machine (`Readers`): as many pages at once as there are readers, each in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from lookstruct.pipeline.reader import Reader

T = TypeVar("T")

LoadReader = Callable[[], "Reader"]


def _own_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="lookstruct-model")


@dataclass(slots=True)
class _Seat:
    """A reader, loaded at its first page, and its thread. A reader that could not be loaded is tried again."""

    load: LoadReader
    thread: ThreadPoolExecutor = field(default_factory=_own_thread)
    reader: Reader | None = None


class Readers:
    """Gives each page to the next reader that is free. Models are loaded one after the other."""

    def __init__(self, loaders: Sequence[LoadReader]) -> None:
        self._seats = [_Seat(load) for load in loaders]
        self._free: asyncio.Queue[_Seat] = asyncio.Queue()
        self._loading = threading.Lock()
        for seat in self._seats:
            self._free.put_nowait(seat)

    def __len__(self) -> int:
        return len(self._seats)

    async def use(self, work: Callable[[Reader], T], loads: Callable[[], None] = lambda: None) -> T:
        """What `work` makes of a free reader, in that reader's thread; `loads` is called before it is loaded."""
        seat = await self._free.get()

        def run() -> T:
            with self._loading:
                if seat.reader is None:
                    loads()
                    seat.reader = seat.load()
            return work(seat.reader)

        try:
            return await asyncio.get_running_loop().run_in_executor(seat.thread, run)
        finally:  # also when cancelled: what still runs there is waited for by the thread's next page
            self._free.put_nowait(seat)

    def close(self, *, wait: bool) -> None:
        """Lets go of all readers; without `wait` their threads end when their work does."""
        for seat in self._seats:
            seat.thread.shutdown(wait=wait, cancel_futures=True)
            seat.reader = None


def shared(load: LoadReader) -> LoadReader:
    """A loader that gives everyone the same reader, for one that takes several pages at once."""
    loaded: list[Reader] = []

    def load_once() -> Reader:
        if not loaded:
            loaded.append(load())
        return loaded[0]

    return load_once
