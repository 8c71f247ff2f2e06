"""What the tables say of a job and its runs, as values: `JobRow`, `Claim`, `Result`, and what comes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from lookstruct.pipeline.jobs.changes import Change
from lookstruct.pipeline.jobs.due import JobState
from lookstruct.pipeline.jobs.job import Job
from lookstruct.pipeline.sinks.entry import Entry


class Status(Enum):
    """Where a run stands."""

    RUNNING = "running"
    WAITING = "waiting"  # for another attempt
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"  # its worker vanished once too often


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job with all that the tables say of it."""

    id: int
    state: JobState
    origin: str
    paused_because: str
    failures: int

    @property
    def job(self) -> Job:
        """What its owner wrote."""
        return self.state.job


@dataclass(frozen=True, slots=True)
class Claim:
    """A run that one worker holds. `todo` are the pages it has still to read, None for all of the job's; with none
    left, records that an earlier attempt has stored are to be delivered."""

    run_id: int
    job_id: int
    job: Job
    worker: str
    attempt: int
    scheduled_at: datetime
    missed: int = 0
    todo: tuple[str, ...] | None = None
    is_manual: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What was read for one key; `entry` is what a sink gets."""

    key: str
    entry: Entry

    @property
    def data(self) -> Any:
        """The record as plain JSON."""
        return self.entry.data


@dataclass(frozen=True, slots=True)
class Stored:
    """What storing a run's results came to."""

    changes: Mapping[str, Sequence[Change]] = field(default_factory=dict)
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a claim: its status, when it is tried again, and whether the job was paused or has recovered."""

    status: Status
    retry_at: datetime | None = None
    paused: bool = False
    recovered: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """A run that ended without its worker: `errors` say why, `paused` whether that paused the job."""

    job: Job
    status: Status
    errors: Sequence[str]
    paused: bool
