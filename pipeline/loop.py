"""Coroutines run in an event loop of their own, in a background thread: so that a synchronous call works inside a
running loop or a notebook, and one browser serves callers from any thread or loop."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

POLL_S = 0.2
"""How often a waiting thread wakes, so that Ctrl-C is noticed on systems where a lock cannot be interrupted."""


class LoopThread:
    """An event loop in a daemon thread, until `close`."""

    def __init__(self) -> None:
        self._loop = _new_loop()
        # Own, so that closing it needs no new thread: none may start when the interpreter is on its way out.
        self._pool = ThreadPoolExecutor(thread_name_prefix="lookstruct-io")
        self._loop.set_default_executor(self._pool)
        self._thread = Thread(target=self._loop.run_forever, name="lookstruct-loop", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs `work` to its end and returns its result; an interrupted wait cancels it."""
        future = self.submit(work)
        try:
            while not wait([future], POLL_S).done:
                pass
        except BaseException:
            future.cancel()
            raise
        return future.result()

    async def arun(self, work: Coroutine[Any, Any, T]) -> T:
        """The same for a caller in another loop; cancelling the caller cancels `work`."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts `work`."""
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("this extractor is closed; make a new one")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self, last: Coroutine[Any, Any, None], *, wait: bool = True) -> None:
        """Cancels what still runs, runs `last`, and ends all threads.

        Without `wait`, a thread that is stuck (reading from a terminal) is left to end by itself.
        """
        try:
            asyncio.run_coroutine_threadsafe(_wind_up(last), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._pool.shutdown(wait=wait, cancel_futures=True)
            self._loop.close()


def _new_loop() -> asyncio.AbstractEventLoop:
    """A loop that can run subprocesses (the browser): on Windows notebooks install another kind as the default."""
    if sys.platform == "win32":
        return asyncio.ProactorEventLoop()
    return asyncio.new_event_loop()


async def _wind_up(last: Coroutine[Any, Any, None]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await last
    await asyncio.get_running_loop().shutdown_asyncgens()
