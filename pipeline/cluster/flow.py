"""A batch's pages through workers on Ray (`RayFlow`): what `pipeline.flow.Flow` is on one machine.

A worker that dies is started again by Ray, and the pages it had are given out again, then one at a time: the page that
kills its worker each time has failed after `MOST_DEATHS`, and takes no other with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit
from zlib import crc32

from lookstruct.pipeline.cluster.failure import Failure
from lookstruct.pipeline.cluster.workers import FetchWorker, ReadWorker
from lookstruct.pipeline.storage.ledger import MOST_DEATHS
from lookstruct.schemas.errors import LookstructError, UsageError

if TYPE_CHECKING:
    from lookstruct.extractors.options import FetchOptions
    from lookstruct.extractors.target import Target
    from lookstruct.pipeline.cluster.size import Size
    from lookstruct.pipeline.flow import Arrival, Watch
    from lookstruct.pipeline.settings import Settings
    from lookstruct.schemas.loader import Schema
    from lookstruct.schemas.record import Record

LONGEST_CLOSING_S = 15.0
"""A worker that has not closed its browser by then is ended."""
ASK_AGAIN_S = 0.2
"""How often a worker that is being started again is asked whether it is there."""


class RayFlow:
    """Fetches and reads on a connected Ray; an async context manager that leaves no worker behind.

    `schema` is named as the command line names it: each worker loads it. All pages of one host go to one fetcher, which
    keeps to the host's pace.
    """

    def __init__(self, ray: Any, settings: Settings, schema: str, size: Size) -> None:
        self._ray = ray
        self._settings, self._schema, self._size = settings, schema, size
        self._fetchers: list[Any] = []
        self._readers: list[Any] = []
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        self._alone = asyncio.Lock()

    @property
    def n_readers(self) -> int:
        """How many pages are read at once."""
        return self._size.n_readers

    async def __aenter__(self) -> Self:
        size, wanted = self._size, {"max_restarts": -1, "num_cpus": 0, "scheduling_strategy": "SPREAD"}
        fetcher = self._ray.remote(FetchWorker).options(**wanted, max_concurrency=size.pages_each + 1)
        reader = self._ray.remote(ReadWorker).options(
            **wanted, max_concurrency=size.requests_each + 1, num_gpus=size.gpus_each
        )
        self._fetchers = [fetcher.remote(self._settings) for _ in range(size.n_fetchers)]
        self._readers = [reader.remote(self._settings, self._schema, size.threads_each) for _ in range(size.n_models)]
        for worker in self._readers * size.requests_each:
            self._free.put_nowait(worker)
        return self

    async def __aexit__(self, *_: object) -> None:
        workers = [*self._fetchers, *self._readers]
        closing = [asyncio.ensure_future(worker.close.remote()) for worker in workers]
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_CLOSING_S):
                await asyncio.gather(*closing, return_exceptions=True)
        for worker in workers:
            self._ray.kill(worker)

    async def arrive(self, target: Target | str, watch: Watch, options: FetchOptions | None = None) -> Arrival:
        """The page behind `target`, cleaned."""
        del watch
        name = target if isinstance(target, str) else target.value
        worker = self._fetchers[crc32(urlsplit(name).netloc.encode()) % len(self._fetchers)]
        arrival: Arrival = await self._outcome(worker, lambda: worker.arrive.remote(target, options))
        return arrival

    async def record(self, arrival: Arrival, schema: Schema, watch: Watch) -> Record[Any]:
        """The record in a page that has arrived, from the next model that is free; `schema` is the workers' own."""
        del schema, watch
        worker = await self._free.get()
        try:
            record: Record[Any] = await self._outcome(worker, lambda: worker.record.remote(arrival))
            return record
        finally:
            self._free.put_nowait(worker)

    async def _outcome(self, worker: Any, call: Callable[[], Awaitable[Any]]) -> Any:
        """What a worker's call returns, or raises the failure that it returns."""
        outcome = await self._attempt(worker, call)
        if isinstance(outcome, _Died):
            async with self._alone:  # the page may be what killed it
                for _ in range(MOST_DEATHS - 1):
                    outcome = await self._attempt(worker, call)
                    if not isinstance(outcome, _Died):
                        break
        if isinstance(outcome, _Died):
            raise LookstructError(
                f"The process ended {MOST_DEATHS} times while this page was read; it may need more memory than there "
                f"is ({outcome.reason})."
            )
        if isinstance(outcome, Failure):
            raise outcome.restored()
        return outcome

    async def _attempt(self, worker: Any, call: Callable[[], Awaitable[Any]]) -> Any:
        """One call; `_Died` if the worker's process ended, when it is there again."""
        errors = self._ray.exceptions
        try:
            return await call()
        except errors.RayTaskError as exc:
            raise LookstructError(f"A worker failed: {_line(exc, -1)}.") from exc
        except errors.RayError as exc:
            await self._revived(worker)
            return _Died(_line(exc, 0))

    async def _revived(self, worker: Any) -> None:
        """Waits until Ray has started the worker again; UsageError if it never will."""
        errors = self._ray.exceptions
        while True:
            try:
                await worker.ready.remote()
                return
            except errors.ActorDiedError as exc:
                why = _line(exc, -1)
                raise UsageError(f"Ray cannot start a worker ({why}); install this lookstruct on every node.") from exc
            except errors.RayError:
                await asyncio.sleep(ASK_AGAIN_S)


class _Died:
    """A worker's process ended during a call."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def _line(exc: BaseException, which: int) -> str:
    """One line of Ray's long messages: the first says what happened, the last, below a traceback, why."""
    lines = [line.strip() for line in str(exc).splitlines() if line.strip()]
    return lines[which].rstrip(".") if lines else type(exc).__name__
