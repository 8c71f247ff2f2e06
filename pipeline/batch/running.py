"""A run's waiting pages -> results in the ledger and in the sink (`Batch`).

fetchers    several at once, ahead of the models; a bounded queue holds them back when the models are slower
readers     one for each page that models read at once: take a page from the queue, read it, commit it to the ledger
delivery    one result after the other: hand it to the sink, commit that the sink has it

A page that fails fails alone. What no page could survive (no model, no browser, a full disk) ends the run; everything
done until then is kept, and the run can be taken up again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, Union

from lookstruct.extractors.target import Target
from lookstruct.pipeline.flow import Watch
from lookstruct.pipeline.sinks.entry import Entry, entry_of
from lookstruct.pipeline.sinks.sink import RefusedEntry
from lookstruct.pipeline.storage.run import Costs, Counts, PageRow
from lookstruct.schemas.errors import (
    BrowserUnavailable,
    FetchError,
    ModelNotFound,
    ModelUnsupported,
    StorageError,
    TargetError,
    UsageError,
)

if TYPE_CHECKING:
    from lookstruct.extractors.options import FetchOptions
    from lookstruct.pipeline.flow import Arrival
    from lookstruct.pipeline.sinks.sink import Sink
    from lookstruct.pipeline.storage.ledger import Ledger
    from lookstruct.pipeline.storage.run import Run
    from lookstruct.schemas.loader import Schema
    from lookstruct.schemas.record import Record

FATAL = (StorageError, ModelNotFound, ModelUnsupported, BrowserUnavailable, UsageError)
"""What would be the same for every page; `TargetError`, a usage error, is about one."""


@dataclass(frozen=True, slots=True)
class Step:
    """One page that was dealt with: what it cost, or why it failed."""

    page: PageRow
    costs: Costs
    error: BaseException | None = None


_Arrived = tuple[PageRow, Union["Arrival", Exception]]
"""What a fetcher brings: a page that waits for a model, or why there is none."""

Watcher = Callable[[Step], None]


class Pages(Protocol):
    """What a batch asks of a flow: `pipeline.flow.Flow` on this machine, `pipeline.cluster.flow.RayFlow` on many."""

    @property
    def n_readers(self) -> int:
        """How many pages are read at once."""
        ...

    async def arrive(self, target: Target | str, watch: Watch, options: FetchOptions | None = None) -> Arrival:
        """The page, fetched and cleaned."""
        ...

    async def record(self, arrival: Arrival, schema: Schema, watch: Watch) -> Record[Any]:
        """The record in it."""
        ...


@dataclass(slots=True)
class _Way:
    """The way to the sink, which one result goes at a time: where the sink has got to."""

    position: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Batch:
    """One run of pages. `position` is the sink's, as it was prepared.

    `watch` is told of every page that was dealt with, in the flow's event loop.
    """

    ledger: Ledger
    run: Run
    schema: Schema
    sink: Sink
    position: str
    concurrency: int = 4
    fetch: FetchOptions | None = None
    watch: Watcher = lambda _: None

    async def work(self, flow: Pages) -> Counts:
        """Reads all waiting pages. However it ends, the ledger then says how far the run has come."""
        state = "stopped"
        try:
            position = await asyncio.to_thread(self._mend)
            await self._read_all(flow, _Way(position))
            await asyncio.to_thread(lambda: self.sink.finish(self.ledger.entries(self.run.id)))
            state = "done"
            return self.ledger.counts(self.run.id)
        finally:
            with suppress(StorageError):  # a ledger that is lost is the error already; the next start mends it
                self.ledger.release(self.run.id, state)

    def _mend(self) -> str:
        """Delivers what an earlier process kept and was killed before it had delivered it; the sink's position."""
        if not self.ledger.undelivered(self.run.id):
            return self.position
        return deliver(self.ledger, self.run.id, self.sink, self.run.position)

    async def _read_all(self, flow: Pages, way: _Way) -> None:
        waiting = await asyncio.to_thread(self.ledger.waiting, self.run.id)
        arrived: asyncio.Queue[_Arrived] = asyncio.Queue(self.concurrency)
        left, turns = iter(waiting), iter(waiting)
        fetchers = [self._fetch(flow, left, arrived) for _ in range(self.concurrency)]
        readers = [self._read_some(flow, turns, arrived, way) for _ in range(flow.n_readers)]
        await _all_or_none([*fetchers, *readers])

    async def _fetch(self, flow: Pages, left: Iterator[PageRow], arrived: asyncio.Queue[_Arrived]) -> None:
        for page in left:
            await arrived.put((page, await self._arrive(flow, page)))

    async def _arrive(self, flow: Pages, page: PageRow) -> Arrival | Exception:
        """The page, or why there is none: whatever happens, a reader gets something to count."""
        try:
            return await flow.arrive(_target(page), Watch(), self.fetch)
        except Exception as exc:
            return exc
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return FetchError(f"{page.target} was given up by the browser: try again")  # nobody cancelled us

    async def _read_some(
        self, flow: Pages, turns: Iterator[PageRow], arrived: asyncio.Queue[_Arrived], way: _Way
    ) -> None:
        """Reads pages as they arrive, as many as are left when its turn comes."""
        for _ in turns:
            await self._page(flow, *await arrived.get(), way)

    async def _page(self, flow: Pages, page: PageRow, arrival: Arrival | Exception, way: _Way) -> None:
        """Reads, keeps and delivers one page that has arrived."""
        try:
            if isinstance(arrival, Exception):
                raise arrival
            record, read_s = await self._read(flow, page, arrival)
        except Exception as exc:
            await self._failed(page, exc)
            return
        costs = _costs(record, read_s)
        await asyncio.to_thread(self.ledger.keep, entry_of(record, self.run.id, page.number, page.target), costs)
        await self._deliver(way)
        self.watch(Step(page, costs))

    async def _read(self, flow: Pages, page: PageRow, arrival: Arrival) -> tuple[Record[Any], float]:
        """The record of a page that has arrived, and how many seconds it took."""
        await asyncio.to_thread(self.ledger.begin, self.run.id, page.number)
        start = perf_counter()
        return await flow.record(arrival, self.schema, Watch()), perf_counter() - start

    async def _failed(self, page: PageRow, exc: Exception) -> None:
        if not is_one_pages_fault(exc):
            raise exc
        await asyncio.to_thread(self.ledger.fail, self.run.id, page.number, exc)
        self.watch(Step(page, Costs(), exc))

    async def _deliver(self, way: _Way) -> None:
        """Hands the sink what it does not have yet."""
        async with way.lock:
            way.position = await asyncio.to_thread(deliver, self.ledger, self.run.id, self.sink, way.position)


async def _all_or_none(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Runs all of it at once; as soon as one part fails the others are cancelled, and that failure is raised."""
    tasks = [asyncio.create_task(part) for part in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _target(page: PageRow) -> Target | str:
    """What is to be fetched; a page that no person named says who led to it."""
    return page.target if page.via is None else Target("url", page.target, page.via)


def deliver(ledger: Ledger, run: str, sink: Sink, position: str) -> str:
    """Writes a run's undelivered results to its sink and commits that it has them; the new position.

    A result that the sink cannot hold is dropped, and its page has failed.
    """
    entries = ledger.undelivered(run)
    if not entries:
        return position
    try:
        return _write(ledger, sink, entries, position)
    except RefusedEntry:
        for entry in entries:
            position = _write_alone(ledger, sink, entry, position)
        return position


def _write(ledger: Ledger, sink: Sink, entries: Sequence[Entry], position: str) -> str:
    position = sink.write(entries, position)
    ledger.delivered(entries[0].run, [entry.page for entry in entries], position)
    return position


def _write_alone(ledger: Ledger, sink: Sink, entry: Entry, position: str) -> str:
    try:
        return _write(ledger, sink, [entry], position)
    except RefusedEntry as exc:
        ledger.fail(entry.run, entry.page, exc)
        return position


def _costs(record: Record[Any], read_s: float) -> Costs:
    stats = record.stats
    return Costs(stats.prompt_tokens, stats.new_tokens, stats.forwards, float(record.meta.get("fetch_s", 0.0)), read_s)


def is_one_pages_fault(exc: BaseException) -> bool:
    """Whether other pages may still do well after this error.

    >>> is_one_pages_fault(TargetError("x")), is_one_pages_fault(StorageError("x"))
    (True, False)
    """
    return not isinstance(exc, FATAL) or isinstance(exc, TargetError)
