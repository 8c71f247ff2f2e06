"""A job's row + the clock -> what is to be run now (`Due`): a pure function, so any number of workers agree."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from lookstruct.pipeline.jobs.trigger import Trigger, count_between

if TYPE_CHECKING:
    from lookstruct.pipeline.jobs.job import Job

TICK = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Open:
    """A run that has not ended: it is being worked on until `lease_until` at least, or waits for `retry_at`."""

    run_id: int
    scheduled_at: datetime
    attempt: int
    lease_until: datetime | None = None
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobState:
    """What the tables say of one job.

    `anchor` is the first run's time; `last` the latest time that was ever claimed, None before the first.
    """

    job: Job
    anchor: datetime
    paused: bool = False
    last: datetime | None = None
    open: Open | None = None

    @property
    def trigger(self) -> Trigger:
        """Its schedule."""
        return self.job.trigger(self.anchor)

    @property
    def since(self) -> datetime:
        """Firings up to here are done with; an interval's first firing is the anchor itself."""
        return self.last if self.last is not None else self.anchor - TICK


@dataclass(frozen=True, slots=True)
class Due:
    """A run to start: a new one for `scheduled_at`, or (`run_id`) another attempt at one that failed or was lost.

    `missed` counts earlier firings that this run stands for; `gives_up` is an open run that it takes the place of.
    """

    scheduled_at: datetime
    run_id: int | None = None
    attempt: int = 1
    missed: int = 0
    gives_up: int | None = None


def find_due(state: JobState, now: datetime) -> Due | None:
    """What is to be run at `now`, or None.

    A job never overlaps itself: while a run holds its lease, nothing is due. Several missed firings make one run, for
    the latest of them. What was claimed is past for good: a clock that jumps back finds nothing due until it is
    where it was. A run that waits for another attempt gives way to the next firing.
    """
    held = state.open
    if held is not None and held.lease_until is not None:
        return Due(held.scheduled_at, held.run_id, held.attempt + 1) if held.lease_until <= now else None
    if state.paused:
        return None
    firing = _latest(state, now)
    if firing is not None:
        missed = count_between(state.trigger, state.since, firing)
        return Due(firing, missed=missed, gives_up=held.run_id if held else None)
    if held is not None and held.retry_at is not None and held.retry_at <= now:
        return Due(held.scheduled_at, held.run_id, held.attempt + 1)
    return None


def next_run(state: JobState, now: datetime) -> datetime | None:
    """When something will be due next, as far as can be told; None for a paused job."""
    held = state.open
    if held is not None and held.lease_until is not None:
        return max(held.lease_until, now)
    if state.paused:
        return None
    firing = state.trigger.after(state.since)
    times = [firing + jitter_of(state.job, firing)] if firing is not None else []
    times += [held.retry_at] if held is not None and held.retry_at is not None else []
    return max(min(times), now) if times else None


def jitter_of(job: Job, firing: datetime) -> timedelta:
    """How much later than `firing` the job starts: the same for every worker, another for every firing."""
    if not job.jitter:
        return timedelta()
    digest = hashlib.sha256(f"{job.name} {firing.isoformat()}".encode()).digest()
    return timedelta(seconds=int(job.jitter.total_seconds() * int.from_bytes(digest[:6]) / 256**6))


def _latest(state: JobState, now: datetime) -> datetime | None:
    """The latest unclaimed firing whose jitter has passed."""
    firing = state.trigger.latest(state.since, now)
    while firing is not None and firing + jitter_of(state.job, firing) > now:
        firing = state.trigger.latest(state.since, firing - TICK)
    return firing
