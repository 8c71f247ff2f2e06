"""One claimed run from reading its pages to delivering its records (`Runner`), safe against a kill at any moment.

read        each page alone: one that fails fails alone; a run that takes too long is cut off
store       one transaction: history, changes, warnings, and what is to be delivered
deliver     from the outbox to the sink, whose position is committed with it
finish      done, another attempt, or failed
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ParamSpec, Protocol, TypeVar

from lookstruct.pipeline.jobs.durations import spell
from lookstruct.pipeline.jobs.job import Job
from lookstruct.pipeline.jobs.keys import results_of
from lookstruct.pipeline.jobs.states import Claim, Closed, Ended, Result, Stored
from lookstruct.pipeline.jobs.store import JobStore
from lookstruct.pipeline.sinks import Sink
from lookstruct.schemas.errors import (
    BlockedByPolicy,
    ContentTypeError,
    HTTPStatusError,
    LookstructError,
    UsageError,
)
from lookstruct.schemas.record import Record

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE = 4
"""So many pages of one job are fetched at the same time."""
_FINAL = (UsageError, BlockedByPolicy, ContentTypeError)
_GONE = (401, 403, 404, 405, 410)

ReadPage = Callable[[Job, str], Awaitable[Record[Any]]]
Clock = Callable[[], datetime]


class OpenSink(Protocol):
    """Opens a job's sink, None where it has none; raises if records cannot be kept there."""

    def __call__(self, job: Job) -> Sink | None: ...


@dataclass(slots=True)
class Reading:
    """What came of the pages: `again` are those that another attempt may read, `final` those that none will."""

    results: list[Result] = field(default_factory=list)
    again: dict[str, str] = field(default_factory=dict)
    final: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """What became of one attempt; `ended` None means that the claim was lost and nothing of it counts."""

    claim: Claim
    stored: Stored
    ended: Ended | None
    errors: Sequence[str] = ()


def utc_now() -> datetime:
    """The present, as every clock here tells it."""
    return datetime.now(UTC)


class Runner:
    """Carries out claims. `read_page` reads one page, `open_sink` opens where its records go."""

    def __init__(self, store: JobStore, read_page: ReadPage, open_sink: OpenSink, clock: Clock = utc_now) -> None:
        self._store = store
        self._read_page = read_page
        self._open_sink = open_sink
        self._clock = clock

    async def run(self, claim: Claim) -> Report:
        """One attempt. StorageError if the database is gone: the claim then runs out, and another attempt follows."""
        reading = await self._read(claim)
        return await undisturbed(self._keep, claim, reading)

    def _keep(self, claim: Claim, reading: Reading) -> Report:
        """Everything after reading."""
        stored = self._store.store(
            claim, reading.results, self._clock(), todo=list(reading.again), errors=reading.final
        )
        if stored is None:
            return Report(claim, Stored(), None)
        errors = [*reading.again.values(), *self._deliver(claim)]
        ended = self._store.finish(claim, self._clock(), errors)
        return Report(claim, stored, ended, [*reading.final, *errors])

    async def _read(self, claim: Claim) -> Reading:
        """Every page that is still to be read, within the job's time."""
        reading, job = Reading(), claim.job
        todo = job.urls if claim.todo is None else claim.todo
        slots = asyncio.Semaphore(AT_ONCE)

        async def read(url: str) -> None:
            async with slots:
                await self._read_one(claim, url, reading)

        try:
            async with asyncio.timeout(job.timeout.total_seconds()):
                await asyncio.gather(*map(read, dict.fromkeys(todo)))
        except TimeoutError:
            late = f"was not read within {spell(job.timeout)}, the job's timeout"
            done = {result.entry.target for result in reading.results} | set(reading.again)
            finals = {line.partition(": ")[0] for line in reading.final}
            reading.again |= {url: f"{url}: {late}" for url in todo if url not in done and url not in finals}
        return reading

    async def _read_one(self, claim: Claim, url: str, reading: Reading) -> None:
        try:
            record = await self._read_page(claim.job, url)
        except LookstructError as exc:
            line = f"{url}: {exc}"
            if is_final(exc):
                reading.final.append(line)
            else:
                reading.again[url] = line
        except Exception as exc:  # a page that trips over a fault of ours fails alone, too
            reading.final.append(f"{url}: unexpected {type(exc).__name__}: {exc}")
        else:
            run = f"{claim.job.name}/{claim.run_id}"
            reading.results += results_of(record, run, url, claim.job.key)

    def _deliver(self, claim: Claim) -> list[str]:
        """Moves the job's outbox into its sink; what could not be delivered stays there for the next attempt."""
        entries, position = self._store.undelivered(claim)
        if not entries:
            return []
        try:
            sink = self._open_sink(claim.job)
            if sink is None:
                return []
            try:
                start = sink.prepare()
                position = position or start
                self._store.delivered(claim, [], position)
                while entries:
                    position = sink.write(entries, position)
                    self._store.delivered(claim, entries, position)
                    entries, _ = self._store.undelivered(claim)
                sink.finish(self._store.latest(claim))
                self._store.delivered(claim, [], "")  # others may write there until the next time
            finally:
                sink.close()
        except LookstructError as exc:
            return [str(exc)]
        return []


async def undisturbed(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs `work` in a thread to its end, even if the caller is cancelled meanwhile: then that is raised after it."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def is_final(exc: LookstructError) -> bool:
    """Whether another attempt would meet the same failure."""
    return isinstance(exc, _FINAL) or (isinstance(exc, HTTPStatusError) and exc.status in _GONE)


def events_of(report: Report) -> Mapping[str, Sequence[str]]:
    """What of a report someone may want to be told: event -> lines."""
    ended, events = report.ended, dict[str, Sequence[str]]()
    if ended is None:
        return events
    changed = {key: found for key, found in report.stored.changes.items() if found}
    if changed:
        events["changed"] = [f"{key}{change.line}" for key, found in changed.items() for change in found]
    if report.stored.warnings:
        events["warning"] = report.stored.warnings
    if ended.status.value == "failed":
        events["failed"] = report.errors
    if ended.paused:
        events["paused"] = [_paused(report.claim.job)]
    if ended.recovered:
        events["recovered"] = ["The run before had failed; this one has not."]
    return events


def events_of_closed(closed: Closed) -> Mapping[str, Sequence[str]]:
    """The same for a run that ended without its worker."""
    return {"failed": closed.errors, **({"paused": [_paused(closed.job)]} if closed.paused else {})}


def _paused(job: Job) -> str:
    return f"{job.pause_after} runs failed in a row; extract jobs unpause {job.name} goes on."
