"""Jobs, runs and records in the database (`JobStore`). Every change is one transaction; every claim happens once.

Whoever changes a run holds its claim: worker and attempt are compared in the same transaction. One that has lost its
lease, and whose run another has taken up, changes nothing any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from difflib import get_close_matches
from enum import Enum
from typing import Any

import platformdirs
from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from lookstruct.pipeline.jobs.changes import Change, diff
from lookstruct.pipeline.jobs.drift import Metrics, find_drops, find_vanished, measure
from lookstruct.pipeline.jobs.due import Due, JobState, Open, find_due
from lookstruct.pipeline.jobs.job import Job, make_job
from lookstruct.pipeline.jobs.tables import jobs, metadata, outbox, runs, snapshots
from lookstruct.pipeline.sinks.entry import Entry
from lookstruct.pipeline.storage.database import database_url, open_database, shown_url, storage_errors
from lookstruct.schemas.errors import StorageError, UsageError

PAST_RUNS = 20
"""So many of a job's runs are what a new one is compared with."""
LONGEST_BACKOFF = timedelta(hours=6)


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


class JobStore:
    """The jobs in one database."""

    def __init__(self, url: str) -> None:
        chosen = database_url(url)
        self.name = f"The job database {shown_url(chosen)}"
        self._engine = open_database(chosen)
        with storage_errors(self.name):
            metadata.create_all(self._engine)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """StorageError if the database cannot be reached or fails."""
        with storage_errors(self.name), self._engine.begin() as connection:
            yield connection

    def close(self) -> None:
        """Lets go of the database."""
        self._engine.dispose()

    # Jobs

    def add(self, job: Job, now: datetime, origin: str = "") -> None:
        """Adds a job that is first due now, or when its cron says; UsageError if the name is taken."""
        row = {"name": job.name, "spec": job.to_json(), "origin": origin, "anchor": _second(now), "created_at": now}
        try:
            with self._transaction() as connection:
                connection.execute(insert(jobs).values(row))
        except StorageError as exc:
            if isinstance(exc.__cause__, IntegrityError):
                raise UsageError(
                    f"There is a job {job.name!r} already; choose another name, or remove it first: "
                    f"extract jobs remove {job.name}."
                ) from exc
            raise

    def replace(self, job: Job, now: datetime, origin: str) -> None:
        """Changes a job; a new schedule counts from now, and history stays."""
        with self._transaction() as connection:
            row = _locked(connection, job.name)
            was = make_job(row.spec)
            fresh = (was.every, was.cron, was.timezone) != (job.every, job.cron, job.timezone)
            past = row.last_scheduled if row.last_scheduled and row.last_scheduled >= now else None
            counted: dict[str, Any] = {"anchor": _second(now), "last_scheduled": past} if fresh else {}
            changed = update(jobs).where(jobs.c.id == row.id).values(spec=job.to_json(), origin=origin, **counted)
            connection.execute(changed)

    def remove(self, name: str) -> None:
        """Removes a job with all its history."""
        with self._transaction() as connection:
            row = _locked(connection, name)
            for table in (outbox, snapshots, runs):
                connection.execute(delete(table).where(table.c.job_id == row.id))
            connection.execute(delete(jobs).where(jobs.c.id == row.id))

    def pause(self, name: str, because: str = "") -> None:
        """No run of the job starts until it is unpaused; one that runs goes on."""
        with self._transaction() as connection:
            row = _locked(connection, name)
            connection.execute(update(jobs).where(jobs.c.id == row.id).values(paused=True, paused_because=because))

    def unpause(self, name: str, now: datetime) -> None:
        """The job goes on with its next firing: what was missed in the pause is not made up for."""
        with self._transaction() as connection:
            row = _locked(connection, name)
            values: dict[str, Any] = {"paused": False, "paused_because": "", "failures": 0}
            if row.paused:
                started = row.last_scheduled is not None or make_job(row.spec).every is None
                past = max(now, row.last_scheduled or now)
                values |= {"last_scheduled": past} if started else {"anchor": _second(now)}
            connection.execute(update(jobs).where(jobs.c.id == row.id).values(values))

    def all(self) -> list[JobRow]:
        """Every job, by name."""
        with self._transaction() as connection:
            rows = connection.execute(select(jobs).order_by(jobs.c.name)).all()
            held = {row.job_id: row for row in connection.execute(_open_runs()).all()}
        return [_job_row(row, held.get(row.id)) for row in rows]

    def get(self, name: str) -> JobRow:
        """One job; UsageError if there is none of this name."""
        with self._transaction() as connection:
            row = _locked(connection, name)
            return _job_row(row, _open_run(connection, row.id))

    # Runs

    def claim(self, worker: str, now: datetime, lease: timedelta) -> Claim | None:
        """A run that is due, now held by `worker` until `now + lease`; None if nothing is due."""
        due = [(found.scheduled_at, row.job.name) for row in self.all() if (found := find_due(row.state, now))]
        attempts = (self._claim(name, worker, now, lease) for _, name in sorted(due))
        return next((claim for claim in attempts if claim is not None), None)

    def _claim(self, name: str, worker: str, now: datetime, lease: timedelta) -> Claim | None:
        """Looks again under the job's lock, and claims what is due then."""
        with self._transaction() as connection:
            row = connection.execute(_by_name(name)).one_or_none()
            if row is None:
                return None
            state = _job_row(row, _open_run(connection, row.id)).state
            due = find_due(state, now)
            if due is None:
                return None
            if due.run_id is not None:
                return self._take_up(connection, row, state, due, worker, now, lease)
            changed: dict[str, Any] = {"last_scheduled": due.scheduled_at}
            if due.gives_up is not None:
                connection.execute(_end(due.gives_up, Status.FAILED, now))
                changed["failures"] = row.failures + 1
            connection.execute(update(jobs).where(jobs.c.id == row.id).values(changed))
            return _start(connection, row, state.job, worker, now, lease, due)

    def _take_up(
        self,
        connection: Connection,
        row: Row[Any],
        state: JobState,
        due: Due,
        worker: str,
        now: datetime,
        lease: timedelta,
    ) -> Claim | None:
        """Another attempt at a run; one that lost its worker too often, by hand, or in a pause, is closed instead."""
        run = connection.execute(select(runs).where(runs.c.id == due.run_id)).one()
        lost = state.open is not None and state.open.lease_until is not None
        if lost and (due.attempt > state.job.retries + 1 or run.manual or state.paused) and run.todo != []:
            connection.execute(
                _end(run.id, Status.LOST, now, errors=[*run.errors, f"The worker {run.worker} did not come back."])
            )
            _count(connection, row, state.job, failed=True)
            return None
        taken = {"status": Status.RUNNING.value, "attempt": due.attempt, "worker": worker}
        times = {"lease_until": now + lease, "retry_at": None, "started_at": now}
        connection.execute(update(runs).where(runs.c.id == run.id).values(**taken, **times))
        todo = None if run.todo is None else tuple(run.todo)
        return Claim(run.id, row.id, state.job, worker, due.attempt, due.scheduled_at, run.missed, todo, run.manual)

    def claim_now(self, name: str, worker: str, now: datetime, lease: timedelta) -> Claim:
        """A run by hand, beside the schedule; UsageError while the job runs."""
        with self._transaction() as connection:
            row = _locked(connection, name)
            held = _open_run(connection, row.id)
            if held is not None and held.status == Status.RUNNING.value and held.lease_until > now:
                raise UsageError(
                    f"The job {name!r} is running since {held.started_at:%Y-%m-%d %H:%M:%S} UTC in {held.worker}; "
                    "wait until it has ended."
                )
            if held is not None:
                connection.execute(_end(held.id, Status.FAILED, now))
            return _start(connection, row, make_job(row.spec), worker, now, lease, Due(now), manual=True)

    def renew(self, claim: Claim, until: datetime) -> bool:
        """Holds the claim longer; False if it is lost."""
        with self._transaction() as connection:
            return connection.execute(_held(claim, lease_until=until)).rowcount == 1

    def store(
        self,
        claim: Claim,
        results: Sequence[Result],
        now: datetime,
        *,
        todo: Sequence[str] = (),
        errors: Sequence[str] = (),
    ) -> Stored | None:
        """Keeps what was read: changed records in the history, what is to be delivered in the outbox. None if the
        claim is lost: nothing is kept then. `todo` are pages to read in another attempt, `errors` is what no other
        attempt would mend."""
        with self._transaction() as connection:
            if connection.execute(_held(claim, todo=list(todo))).rowcount != 1:
                return None
            run = connection.execute(select(runs).where(runs.c.id == claim.run_id)).one()
            stored = _compare(connection, claim, results, now)
            metrics = Metrics(**(run.metrics or {})) + measure((r.data, r.entry.evidence) for r in results)
            drops = [] if todo else find_drops(metrics, _past_metrics(connection, claim.job_id))
            values = {
                "n_records": run.n_records + len(results),
                "n_changed": run.n_changed + len(stored.changes),
                "errors": [*run.errors, *errors],
                "warnings": [*run.warnings, *stored.warnings, *drops],
                "metrics": metrics.to_json(),
            }
            connection.execute(update(runs).where(runs.c.id == claim.run_id).values(values))
            return Stored(stored.changes, [*stored.warnings, *drops])

    def undelivered(self, claim: Claim, limit: int = 500) -> tuple[list[Entry], str]:
        """What of the job no sink has yet, in order, and the position where the sink's last entries ended."""
        wanted = select(outbox).where(outbox.c.job_id == claim.job_id).order_by(outbox.c.id).limit(limit)
        with self._transaction() as connection:
            position = connection.execute(select(jobs.c.sink_position).where(jobs.c.id == claim.job_id)).scalar_one()
            entries = [Entry(**row.entry, page=row.id) for row in connection.execute(wanted).all()]
        return entries, position

    def delivered(self, claim: Claim, entries: Sequence[Entry], position: str) -> None:
        """The sink has these, up to `position`."""
        with self._transaction() as connection:
            connection.execute(delete(outbox).where(outbox.c.id.in_([entry.page for entry in entries])))
            connection.execute(update(jobs).where(jobs.c.id == claim.job_id).values(sink_position=position))

    def latest(self, claim: Claim) -> list[Entry]:
        """What the job's pages say as far as is known: the last snapshot of each key."""
        last = select(func.max(snapshots.c.id)).where(snapshots.c.job_id == claim.job_id).group_by(snapshots.c.key)
        wanted = select(snapshots).where(snapshots.c.id.in_(last)).order_by(snapshots.c.id)
        with self._transaction() as connection:
            return [Entry(**row.entry, page=row.id) for row in connection.execute(wanted).all()]

    def finish(self, claim: Claim, now: datetime, errors: Sequence[str] = ()) -> Ended | None:
        """Ends the attempt. With `errors`, which another attempt may mend, the run waits for one if some are left;
        else it is done or, if anything went wrong in it, failed, which may pause the job. None if the claim is lost."""
        with self._transaction() as connection:
            if connection.execute(_held(claim, lease_until=None)).rowcount != 1:
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

    def release(self, claim: Claim, now: datetime) -> None:
        """Gives a run back untouched: the next worker takes it up at once, the attempt is not counted."""
        with self._transaction() as connection:
            status = Status.FAILED if claim.is_manual else Status.WAITING
            given = {"status": status.value, "retry_at": now, "attempt": claim.attempt - 1, "lease_until": None}
            connection.execute(_held(claim, **given))

    # History

    def history(self, name: str, limit: int = 20) -> list[Row[Any]]:
        """The runs of a job, the latest first."""
        with self._transaction() as connection:
            row = _locked(connection, name)
            wanted = select(runs).where(runs.c.job_id == row.id).order_by(runs.c.id.desc()).limit(limit)
            return list(connection.execute(wanted).all())

    def snapshots(self, name: str, key: str | None = None, limit: int = 20) -> list[Row[Any]]:
        """What a job's pages said whenever they said something new, the latest first."""
        with self._transaction() as connection:
            row = _locked(connection, name)
            wanted = select(snapshots).where(snapshots.c.job_id == row.id)
            wanted = wanted.where(snapshots.c.key == key) if key is not None else wanted
            return list(connection.execute(wanted.order_by(snapshots.c.id.desc()).limit(limit)).all())


def default_url() -> str:
    """This user's jobs: a SQLite file in the folder for application state."""
    folder = platformdirs.user_state_path("lookstruct", appauthor=False, ensure_exists=True)
    return f"sqlite:///{folder / 'jobs.db'}"


def backoff(job: Job, attempt: int) -> timedelta:
    """How long to wait after attempt number `attempt`: doubled each time, at most six hours."""
    doubled: int = 2 ** min(attempt - 1, 20)
    return min(job.backoff * doubled, max(LONGEST_BACKOFF, job.backoff))


def _second(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)


def _by_name(name: str) -> Select[Any]:
    return select(jobs).where(jobs.c.name == name).with_for_update()


def _locked(connection: Connection, name: str) -> Row[Any]:
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


def _open_runs() -> Select[Any]:
    return select(runs).where(runs.c.status.in_((Status.RUNNING.value, Status.WAITING.value)))


def _open_run(connection: Connection, job_id: int) -> Row[Any] | None:
    return connection.execute(_open_runs().where(runs.c.job_id == job_id)).one_or_none()


def _job_row(row: Row[Any], held: Row[Any] | None) -> JobRow:
    opened = None
    if held is not None:
        lease = held.lease_until if held.status == Status.RUNNING.value else None
        opened = Open(held.id, held.scheduled_at, held.attempt, lease, held.retry_at)
    state = JobState(make_job(row.spec), row.anchor, row.paused, row.last_scheduled, opened)
    return JobRow(row.id, state, row.origin, row.paused_because, row.failures)


def _start(
    connection: Connection,
    row: Row[Any],
    job: Job,
    worker: str,
    now: datetime,
    lease: timedelta,
    due: Due,
    *,
    manual: bool = False,
) -> Claim:
    """A new run, held by `worker`. The unique (job, scheduled time) lets nobody start it again."""
    values = {
        "job_id": row.id,
        "scheduled_at": due.scheduled_at,
        "manual": manual,
        "status": Status.RUNNING.value,
        "worker": worker,
        "lease_until": now + lease,
        "started_at": now,
        "missed": due.missed,
    }
    run_id = connection.execute(insert(runs).values(values).returning(runs.c.id)).scalar_one()
    return Claim(run_id, row.id, job, worker, 1, due.scheduled_at, due.missed, is_manual=manual)


def _held(claim: Claim, **values: Any) -> Any:
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


def _compare(connection: Connection, claim: Claim, results: Sequence[Result], now: datetime) -> Stored:
    """Each result against the last snapshot of its key; what is new or changed is kept."""
    changes: dict[str, Sequence[Change]] = {}
    warnings: list[str] = []
    for result in results:
        before = _last_snapshot(connection, claim.job_id, result.key)
        found = diff(before.entry["data"], result.data) if before is not None else []
        if before is not None:
            warnings += find_vanished(result.key, before.entry["data"], before.entry["evidence"], result.data)
        if before is None or found:
            changes[result.key] = found
            connection.execute(insert(snapshots).values(_snapshot(claim, result, found, now)))
        if claim.job.to is not None and (claim.job.on == "always" or result.key in changes):
            sent = {"job_id": claim.job_id, "entry": _as_json(result.entry)}
            connection.execute(insert(outbox).values(sent))
    return Stored(changes, warnings)


def _snapshot(claim: Claim, result: Result, found: Sequence[Change], now: datetime) -> dict[str, Any]:
    return {
        "job_id": claim.job_id,
        "run_id": claim.run_id,
        "key": result.key,
        "seen_at": now,
        "entry": _as_json(result.entry),
        "changes": [change.to_json() for change in found],
    }


def _as_json(entry: Entry) -> dict[str, Any]:
    """An entry without its number: the row has one of its own."""
    return {name: value for name, value in asdict(entry).items() if name != "page"}


def _last_snapshot(connection: Connection, job_id: int, key: str) -> Row[Any] | None:
    newest = select(func.max(snapshots.c.id)).where(snapshots.c.job_id == job_id, snapshots.c.key == key)
    return connection.execute(select(snapshots).where(snapshots.c.id == newest.scalar_subquery())).one_or_none()


def _past_metrics(connection: Connection, job_id: int) -> list[Metrics]:
    done = (runs.c.job_id == job_id) & (runs.c.status == Status.DONE.value) & runs.c.metrics.is_not(None)
    wanted = select(runs.c.metrics).where(done).order_by(runs.c.id.desc()).limit(PAST_RUNS)
    return [Metrics(**metrics) for metrics in connection.execute(wanted).scalars() if metrics]
