"""Who works on a run: claims, leases, attempts and ends, each inside the caller's transaction.

Whoever changes a run holds its claim: worker and attempt are compared in the same statement. One that has lost its
lease, and whose run another has taken up, changes nothing any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any

from sqlalchemy import Connection, Row, Select, insert, select, update

from lookstruct.pipeline.jobs.due import Due, JobState, Open, find_due
from lookstruct.pipeline.jobs.job import Job, make_job
from lookstruct.pipeline.jobs.states import Claim, Closed, Ended, JobRow, Status
from lookstruct.pipeline.jobs.tables import jobs, runs
from lookstruct.schemas.errors import UsageError

LONGEST_BACKOFF = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Taking:
    """Who takes a run up, when, and until when it is then held."""

    worker: str
    now: datetime
    lease_until: datetime


def take_due(connection: Connection, name: str, taking: Taking) -> tuple[Claim | None, Closed | None]:
    """Looks at a job under its lock, and claims what is due then; also a run that was closed on the way."""
    row = connection.execute(_by_name(name)).one_or_none()
    if row is None:
        return None, None
    state = job_row(row, open_run(connection, row.id)).state
    due = find_due(state, taking.now)
    if due is None:
        return None, None
    if due.run_id is not None:
        return _take_up(connection, row, state, due, taking)
    closed = _give_up(connection, row, state, due, taking) if due.gives_up is not None else None
    if closed is not None and closed.paused:
        return None, closed
    connection.execute(update(jobs).where(jobs.c.id == row.id).values(last_scheduled=due.scheduled_at))
    return _start(connection, row, state.job, taking, due), closed


def _take_up(
    connection: Connection, row: Row[Any], state: JobState, due: Due, taking: Taking
) -> tuple[Claim | None, Closed | None]:
    """Another attempt at a run; one that lost its worker too often, by hand, or in a pause, is closed instead."""
    run = connection.execute(select(runs).where(runs.c.id == due.run_id)).one()
    lost = state.open is not None and state.open.lease_until is not None
    if lost and (due.attempt > state.job.retries + 1 or run.manual or state.paused) and run.todo != []:
        errors = [*run.errors, f"The worker {run.worker} did not come back."]
        return None, _close(connection, row, state.job, run.id, Status.LOST, taking.now, errors)
    taken = {"status": Status.RUNNING.value, "attempt": due.attempt, "worker": taking.worker}
    times = {"lease_until": taking.lease_until, "retry_at": None, "started_at": taking.now}
    connection.execute(update(runs).where(runs.c.id == run.id).values(**taken, **times))
    todo = None if run.todo is None else tuple(run.todo)
    claim = Claim(run.id, row.id, state.job, taking.worker, due.attempt, due.scheduled_at, run.missed, todo, run.manual)
    return claim, None


def _give_up(connection: Connection, row: Row[Any], state: JobState, due: Due, taking: Taking) -> Closed:
    """Closes the run that still waits for another attempt when the next firing comes."""
    run = connection.execute(select(runs).where(runs.c.id == due.gives_up)).one()
    errors = [*run.errors, f"Try {run.attempt} failed, and the job's next time came before another."]
    return _close(connection, row, state.job, run.id, Status.FAILED, taking.now, errors)


def _close(
    connection: Connection, row: Row[Any], job: Job, run_id: int, status: Status, now: datetime, errors: list[str]
) -> Closed:
    connection.execute(_end(run_id, status, now, errors=errors))
    return Closed(job, status, errors, _count(connection, row, job, failed=True))


def take_now(connection: Connection, name: str, taking: Taking) -> Claim:
    """A run by hand, beside the schedule; UsageError while the job runs."""
    row = locked(connection, name)
    held = open_run(connection, row.id)
    if held is not None and held.status == Status.RUNNING.value and held.lease_until > taking.now:
        raise UsageError(
            f"The job {name!r} is running since {held.started_at:%Y-%m-%d %H:%M:%S} UTC in {held.worker}; "
            "wait until it has ended."
        )
    if held is not None:
        connection.execute(_end(held.id, Status.FAILED, taking.now))
    return _start(connection, row, make_job(row.spec), taking, Due(taking.now), manual=True)


def end_attempt(connection: Connection, claim: Claim, now: datetime, errors: list[str]) -> Ended | None:
    """Ends an attempt: the run waits for another, is done or has failed, which may pause the job. None if the claim is
    lost."""
    if connection.execute(while_held(claim, lease_until=None)).rowcount != 1:
        return None
    row = connection.execute(select(jobs).where(jobs.c.id == claim.job_id).with_for_update()).one()
    if errors and claim.attempt <= claim.job.retries and not claim.is_manual:
        at = now + backoff(claim.job, claim.attempt)
        values = {"status": Status.WAITING.value, "retry_at": at}
        connection.execute(update(runs).where(runs.c.id == claim.run_id).values(values))
        return Ended(Status.WAITING, at)
    run = connection.execute(select(runs).where(runs.c.id == claim.run_id)).one()
    wrong = [*run.errors, *errors]
    status = Status.FAILED if wrong else Status.DONE
    connection.execute(_end(claim.run_id, status, now, errors=wrong))
    paused = _count(connection, row, claim.job, failed=bool(wrong))
    return Ended(status, paused=paused, recovered=not wrong and row.failures > 0)


def backoff(job: Job, attempt: int) -> timedelta:
    """How long to wait after attempt number `attempt`: doubled each time, at most six hours."""
    doubled: int = 2 ** min(attempt - 1, 20)
    return min(job.backoff * doubled, max(LONGEST_BACKOFF, job.backoff))


def _by_name(name: str) -> Select[Any]:
    return select(jobs).where(jobs.c.name == name).with_for_update()


def locked(connection: Connection, name: str) -> Row[Any]:
    """A job's row, ours until the transaction ends."""
    row = connection.execute(_by_name(name)).one_or_none()
    if row is None:
        known = list(connection.execute(select(jobs.c.name).order_by(jobs.c.name)).scalars())
        near = get_close_matches(name, known, 1)
        hint = (
            f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}." if known else "there are none."
        )
        raise UsageError(f"There is no job {name!r}; {hint}")
    return row


def open_runs() -> Select[Any]:
    """The runs that have not ended."""
    return select(runs).where(runs.c.status.in_((Status.RUNNING.value, Status.WAITING.value)))


def open_run(connection: Connection, job_id: int) -> Row[Any] | None:
    """A job's run that has not ended."""
    return connection.execute(open_runs().where(runs.c.job_id == job_id)).one_or_none()


def job_row(row: Row[Any], held: Row[Any] | None) -> JobRow:
    """A row of the table, with the run that has not ended, as a value."""
    opened = None
    if held is not None:
        lease = held.lease_until if held.status == Status.RUNNING.value else None
        opened = Open(held.id, held.scheduled_at, held.attempt, lease, held.retry_at)
    state = JobState(make_job(row.spec), row.anchor, row.paused, row.last_scheduled, opened)
    return JobRow(row.id, state, row.origin, row.paused_because, row.failures)


def _start(connection: Connection, row: Row[Any], job: Job, taking: Taking, due: Due, *, manual: bool = False) -> Claim:
    """A new run. The unique (job, scheduled time) lets nobody start it again."""
    values = {
        "job_id": row.id,
        "scheduled_at": due.scheduled_at,
        "manual": manual,
        "status": Status.RUNNING.value,
        "worker": taking.worker,
        "lease_until": taking.lease_until,
        "started_at": taking.now,
        "missed": due.missed,
    }
    run_id = connection.execute(insert(runs).values(values).returning(runs.c.id)).scalar_one()
    return Claim(run_id, row.id, job, taking.worker, 1, due.scheduled_at, due.missed, is_manual=manual)


def while_held(claim: Claim, **values: Any) -> Any:
    """An update that only touches the run while `claim` holds."""
    ours = (runs.c.id == claim.run_id) & (runs.c.worker == claim.worker) & (runs.c.attempt == claim.attempt)
    return update(runs).where(ours & (runs.c.status == Status.RUNNING.value)).values(**values)


def _end(run_id: int, status: Status, now: datetime, **values: Any) -> Any:
    ended = {"status": status.value, "finished_at": now, "lease_until": None, "retry_at": None}
    return update(runs).where(runs.c.id == run_id).values(**ended, **values)


def _count(connection: Connection, row: Row[Any], job: Job, *, failed: bool) -> bool:
    """Counts failed runs in a row; True if this one pauses the job."""
    failures = row.failures + 1 if failed else 0
    pauses = failed and 0 < job.pause_after <= failures and not row.paused
    values: dict[str, Any] = {"failures": failures}
    if pauses:
        values |= {"paused": True, "paused_because": f"{failures} runs failed in a row"}
    connection.execute(update(jobs).where(jobs.c.id == row.id).values(values))
    return pauses
