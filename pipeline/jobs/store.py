"""Jobs, runs and records in the database (`JobStore`). Every change is one transaction; every claim happens once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import platformdirs
from sqlalchemy import Connection, Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from lookstruct.pipeline.jobs.claiming import (
    Taking,
    end_attempt,
    job_row,
    locked,
    open_run,
    open_runs,
    take_due,
    take_now,
    while_held,
)
from lookstruct.pipeline.jobs.drift import Metrics, find_drops, measure
from lookstruct.pipeline.jobs.due import find_due
from lookstruct.pipeline.jobs.job import Job, make_job
from lookstruct.pipeline.jobs.keeping import compare, past_metrics
from lookstruct.pipeline.jobs.states import Claim, Closed, Ended, JobRow, Result, Status, Stored
from lookstruct.pipeline.jobs.tables import jobs, metadata, outbox, runs, snapshots
from lookstruct.pipeline.sinks.entry import Entry
from lookstruct.pipeline.storage.database import database_url, open_database, shown_url, storage_errors
from lookstruct.schemas.errors import StorageError, UsageError


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
            row = locked(connection, job.name)
            was = make_job(row.spec)
            fresh = (was.every, was.cron, was.timezone) != (job.every, job.cron, job.timezone)
            past = row.last_scheduled if row.last_scheduled and row.last_scheduled >= now else None
            counted: dict[str, Any] = {"anchor": _second(now), "last_scheduled": past} if fresh else {}
            changed = update(jobs).where(jobs.c.id == row.id).values(spec=job.to_json(), origin=origin, **counted)
            connection.execute(changed)

    def remove(self, name: str) -> None:
        """Removes a job with all its history."""
        with self._transaction() as connection:
            row = locked(connection, name)
            for table in (outbox, snapshots, runs):
                connection.execute(delete(table).where(table.c.job_id == row.id))
            connection.execute(delete(jobs).where(jobs.c.id == row.id))

    def pause(self, name: str, because: str = "") -> None:
        """No run of the job starts until it is unpaused; one that runs goes on."""
        with self._transaction() as connection:
            row = locked(connection, name)
            connection.execute(update(jobs).where(jobs.c.id == row.id).values(paused=True, paused_because=because))

    def unpause(self, name: str, now: datetime) -> None:
        """The job goes on with its next firing: what was missed in the pause is not made up for."""
        with self._transaction() as connection:
            row = locked(connection, name)
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
            held = {row.job_id: row for row in connection.execute(open_runs()).all()}
        return [job_row(row, held.get(row.id)) for row in rows]

    def get(self, name: str) -> JobRow:
        """One job; UsageError if there is none of this name."""
        with self._transaction() as connection:
            row = locked(connection, name)
            return job_row(row, open_run(connection, row.id))

    # Runs

    def claim(
        self, worker: str, now: datetime, lease: timedelta, on_closed: Callable[[Closed], None] = lambda _: None
    ) -> Claim | None:
        """A run that is due, now held by `worker` until `now + lease`; None if nothing is due.

        `on_closed` is told of runs that could only be ended: their worker was lost, or they were given up.
        """
        due = [(found.scheduled_at, row.job.name) for row in self.all() if (found := find_due(row.state, now))]
        for _, name in sorted(due):
            with self._transaction() as connection:
                claim, closed = take_due(connection, name, Taking(worker, now, now + lease))
            if closed is not None:
                on_closed(closed)
            if claim is not None:
                return claim
        return None

    def claim_now(self, name: str, worker: str, now: datetime, lease: timedelta) -> Claim:
        """A run by hand, beside the schedule; UsageError while the job runs."""
        with self._transaction() as connection:
            return take_now(connection, name, Taking(worker, now, now + lease))

    def renew(self, claim: Claim, until: datetime) -> bool:
        """Holds the claim longer; False if it is lost."""
        with self._transaction() as connection:
            return connection.execute(while_held(claim, lease_until=until)).rowcount == 1

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
            if connection.execute(while_held(claim, todo=list(todo))).rowcount != 1:
                return None
            run = connection.execute(select(runs).where(runs.c.id == claim.run_id)).one()
            stored = compare(connection, claim, results, now)
            metrics = Metrics(**(run.metrics or {})) + measure((r.data, r.entry.evidence) for r in results)
            drops = [] if todo else find_drops(metrics, past_metrics(connection, claim.job_id))
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
            return end_attempt(connection, claim, now, list(errors))

    def release(self, claim: Claim, now: datetime) -> None:
        """Gives a run back untouched: the next worker takes it up at once, the attempt is not counted."""
        with self._transaction() as connection:
            status = Status.FAILED if claim.is_manual else Status.WAITING
            given = {"status": status.value, "retry_at": now, "attempt": claim.attempt - 1, "lease_until": None}
            connection.execute(while_held(claim, **given))

    # History

    def history(self, name: str, limit: int = 20) -> list[Row[Any]]:
        """The runs of a job, the latest first."""
        with self._transaction() as connection:
            row = locked(connection, name)
            wanted = select(runs).where(runs.c.job_id == row.id).order_by(runs.c.id.desc()).limit(limit)
            return list(connection.execute(wanted).all())

    def snapshots(self, name: str, key: str | None = None, limit: int = 20) -> list[Row[Any]]:
        """What a job's pages said whenever they said something new, the latest first."""
        with self._transaction() as connection:
            row = locked(connection, name)
            wanted = select(snapshots).where(snapshots.c.job_id == row.id)
            wanted = wanted.where(snapshots.c.key == key) if key is not None else wanted
            return list(connection.execute(wanted.order_by(snapshots.c.id.desc()).limit(limit)).all())


def default_url() -> str:
    """This user's jobs: a SQLite file in the folder for application state."""
    folder = platformdirs.user_state_path("lookstruct", appauthor=False, ensure_exists=True)
    return f"sqlite:///{folder / 'jobs.db'}"


def _second(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)
