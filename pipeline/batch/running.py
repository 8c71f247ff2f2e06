"""A run's waiting pages -> results in the ledger and in the sink (`Batch`).

fetchers    several at once, ahead of the model; a bounded queue holds them back when the model is slower; where the
            model is a server that takes several pages at once, they ask it, too
reader      one page at a time: read, commit to the ledger, hand to the sink, commit that the sink has it

A page that fails fails alone. What no page could survive (no model, no browser, a full disk) ends the run; everything
done until then is kept, and the run can be taken up again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Union

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
    from lookstruct.pipeline.flow import Arrival, Flow
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


_Arrived = Union["Arrival", "tuple[Record[Any], float]", Exception]
"""What a fetcher brings: a page that waits for the model, a record that a server has read already, or a failure."""

Watcher = Callable[[Step], None]


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

    async def work(self, flow: Flow) -> Counts:
        """Reads all waiting pages. However it ends, the ledger then says how far the run has come."""
        state = "stopped"
        try:
            position = await asyncio.to_thread(self._mend)
            await self._read_all(flow, position)
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

    async def _read_all(self, flow: Flow, position: str) -> None:
        waiting = await asyncio.to_thread(self.ledger.waiting, self.run.id)
        arrived: asyncio.Queue[tuple[PageRow, _Arrived]] = asyncio.Queue(self.concurrency)
        left = iter(waiting)
        n_fetchers = self.concurrency if flow.n_readers == 1 else max(self.concurrency, flow.n_readers)
        fetchers = [asyncio.create_task(self._fetch(flow, left, arrived)) for _ in range(n_fetchers)]
        try:
            for _ in waiting:
                page, arrival = await arrived.get()
                position = await self._page(flow, page, arrival, position)
        finally:
            for fetcher in fetchers:
                fetcher.cancel()
            await asyncio.gather(*fetchers, return_exceptions=True)

    async def _fetch(
        self, flow: Flow, left: Iterator[PageRow], arrived: asyncio.Queue[tuple[PageRow, _Arrived]]
    ) -> None:
        for page in left:
            await arrived.put((page, await self._arrive(flow, page)))

    async def _arrive(self, flow: Flow, page: PageRow) -> _Arrived:
        """The page, or why there is none: whatever happens, the reader gets something to count."""
        try:
            arrival = await flow.arrive(_target(page), Watch(), self.fetch)
            return arrival if flow.n_readers == 1 else await self._read(flow, page, arrival)
        except Exception as exc:
            return exc
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return FetchError(f"{page.target} was given up by the browser: try again")  # nobody cancelled us

    async def _read(self, flow: Flow, page: PageRow, arrival: Arrival) -> tuple[Record[Any], float]:
        """The record of a page that has arrived, and how many seconds it took."""
        start = perf_counter()
        await asyncio.to_thread(self.ledger.begin, self.run.id, page.number)
        return await flow.record(arrival, self.schema, Watch()), perf_counter() - start

    async def _page(self, flow: Flow, page: PageRow, arrival: _Arrived, position: str) -> str:
        """Reads, keeps and delivers one page that has arrived; the sink's new position."""
        try:
            if isinstance(arrival, Exception):
                raise arrival
            record, read_s = arrival if isinstance(arrival, tuple) else await self._read(flow, page, arrival)
        except Exception as exc:
            await self._failed(page, exc)
            return position
        costs = _costs(record, read_s)
        await asyncio.to_thread(self.ledger.keep, entry_of(record, self.run.id, page.number, page.target), costs)
        position = await self._deliver(position)
        self.watch(Step(page, costs))
        return position

    async def _failed(self, page: PageRow, exc: Exception) -> None:
        if not is_one_pages_fault(exc):
            raise exc
        await asyncio.to_thread(self.ledger.fail, self.run.id, page.number, exc)
        self.watch(Step(page, Costs(), exc))

    async def _deliver(self, position: str) -> str:
        """Hands the sink what it does not have yet; the new position."""
        return await asyncio.to_thread(deliver, self.ledger, self.run.id, self.sink, position)


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
