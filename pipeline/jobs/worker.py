"""The worker: looks for what is due, runs it, tells about it, and never stops by itself (`Worker`).

Any number of workers may share one database, `extract jobs` commands beside them. A worker that loses the database
waits for it; one that is killed loses its leases, and another takes its runs up.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar
from uuid import uuid4

from lookstruct.pipeline.jobs.job import Job
from lookstruct.pipeline.jobs.running import Clock, Report, Runner, events_of, events_of_closed, utc_now
from lookstruct.pipeline.jobs.states import Claim, Closed
from lookstruct.pipeline.jobs.store import JobStore
from lookstruct.schemas.errors import StorageError

T = TypeVar("T")

LEASE = timedelta(seconds=60)
"""A claim holds so long without being renewed: what a run of a killed worker waits for."""
POLL_S = 2.0
"""How often the tables are looked at: what a job that was just added waits at most."""
LONGEST_WAIT_S = 30.0
"""Between attempts to reach a database that is gone."""

Tell = Callable[[Job, str, "list[str]"], Awaitable[None]]
"""Tells someone of an event of a job, in lines."""


def worker_name() -> str:
    """A name that no other worker has."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:6]}"


async def _quiet(job: Job, event: str, lines: list[str]) -> None:
    del job, event, lines


class Worker:
    """Runs due jobs, at most `slots` at once. `say` gets a line for everything that happens."""

    def __init__(
        self,
        store: JobStore,
        runner: Runner,
        *,
        tell: Tell = _quiet,
        say: Callable[[str], None] = lambda _: None,
        clock: Clock = utc_now,
        slots: int = 2,
        lease: timedelta = LEASE,
        poll_s: float = POLL_S,
        name: str | None = None,
    ) -> None:
        self.name = name or worker_name()
        self._store, self._runner = store, runner
        self._tell, self._say, self._clock = tell, say, clock
        self._slots, self._lease, self._poll_s = slots, lease, poll_s
        self._running: set[asyncio.Task[None]] = set()

    async def serve(self, *, until_idle: bool = False) -> None:
        """Runs what is due until cancelled; with `until_idle`, until nothing is due. Runs that are cut off by a
        cancellation are given back."""
        try:
            while True:
                await self._start_due()
                if until_idle and not self._running:
                    return
                await self._wait()
        finally:
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    async def run_now(self, name: str) -> Report | None:
        """Runs one job at once, whatever its schedule says; None if its claim was lost meanwhile."""
        return await self._carry_out(self._store.claim_now(name, self.name, self._clock(), self._lease))

    async def _start_due(self) -> None:
        while len(self._running) < self._slots:
            claim = await self._claim()
            if claim is None:
                return
            task = asyncio.create_task(self._run(claim))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _claim(self) -> Claim | None:
        """The next run that is due; tells of those that could only be closed."""
        closed: list[Closed] = []
        claim = await self._surely(lambda: self._store.claim(self.name, self._clock(), self._lease, closed.append))
        for one in closed:
            await self._report_closed(one)
        return claim

    async def _wait(self) -> None:
        """Until a run has ended, or it is time to look again."""
        if self._running:
            await asyncio.wait(self._running, timeout=self._poll_s, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(self._poll_s)

    async def _run(self, claim: Claim) -> None:
        """One claim; whatever goes wrong, the worker goes on."""
        try:
            await self._carry_out(claim)
        except StorageError as exc:
            self._say(f"{claim.job.name}: {exc} The run will be taken up again.")
        except Exception as exc:
            self._say(f"{claim.job.name}: unexpected {type(exc).__name__}: {exc}; the run will be taken up again.")

    async def _carry_out(self, claim: Claim) -> Report | None:
        late = f", for {claim.missed} missed before it" if claim.missed else ""
        self._say(f"{claim.job.name}: run for {claim.scheduled_at:%Y-%m-%d %H:%M:%S} UTC{late}, try {claim.attempt}")
        run = asyncio.create_task(self._runner.run(claim))
        keeping = asyncio.create_task(self._keep(claim, run))
        try:
            report = await run
        except asyncio.CancelledError:
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)
            if keeping.done():  # the claim was lost: another worker has it
                self._say(f"{claim.job.name}: the run was taken up elsewhere")
                if not _is_cancelled():
                    return None
            else:
                with suppress(StorageError):
                    self._store.release(claim, self._clock())
            raise
        finally:
            keeping.cancel()
        await self._report(report)
        return report

    async def _keep(self, claim: Claim, run: asyncio.Task[Report]) -> None:
        """Renews the claim while the run goes on; ends the run if the claim is lost."""
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            with suppress(StorageError):  # the database may come back before the lease ends
                if not await asyncio.to_thread(self._store.renew, claim, self._clock() + self._lease):
                    run.cancel()
                    return

    async def _report(self, report: Report) -> None:
        job, ended = report.claim.job, report.ended
        if ended is None:
            self._say(f"{job.name}: the run was taken up elsewhere; nothing of this attempt is kept")
            return
        again = f"; again at {ended.retry_at:%Y-%m-%d %H:%M:%S} UTC" if ended.retry_at else ""
        n_changed = len(report.stored.changes)
        self._say(f"{job.name}: {ended.status.value}{again}, {n_changed} new or changed")
        for line in [*report.errors, *report.stored.warnings]:
            self._say(f"{job.name}: {line}")
        await self._tell_all(job, events_of(report), paused=ended.paused)

    async def _report_closed(self, closed: Closed) -> None:
        job = closed.job
        self._say(f"{job.name}: {closed.status.value}: {closed.errors[-1]}")
        await self._tell_all(job, events_of_closed(closed), paused=closed.paused)

    async def _tell_all(self, job: Job, events: Mapping[str, Sequence[str]], *, paused: bool) -> None:
        if paused:
            self._say(f"{job.name}: paused, {job.pause_after} runs failed in a row")
        for event, lines in events.items():
            if event in job.notify_on:
                await self._tell(job, event, list(lines))

    async def _surely(self, ask: Callable[[], T]) -> T:
        """The database's answer, however long it takes to come back."""
        wait_s = self._poll_s
        while True:
            try:
                return await asyncio.to_thread(ask)
            except StorageError as exc:
                self._say(f"{exc} Trying again in {wait_s:.0f} s.")
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, LONGEST_WAIT_S)


def _is_cancelled() -> bool:
    """Whether the present task itself was asked to stop, and not only what it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
