"""Results -> history, changes, warnings and the outbox: what storing a run does, inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select

from lookstruct.pipeline.jobs.changes import Change, diff
from lookstruct.pipeline.jobs.drift import Metrics, find_vanished
from lookstruct.pipeline.jobs.states import Claim, Result, Status, Stored
from lookstruct.pipeline.jobs.tables import outbox, runs, snapshots
from lookstruct.pipeline.sinks.entry import Entry

PAST_RUNS = 20
"""So many of a job's runs are what a new one is compared with."""


def compare(connection: Connection, claim: Claim, results: Sequence[Result], now: datetime) -> Stored:
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


def past_metrics(connection: Connection, job_id: int) -> list[Metrics]:
    """What the latest of a job's runs measured, the newest first."""
    done = (runs.c.job_id == job_id) & (runs.c.status == Status.DONE.value) & runs.c.metrics.is_not(None)
    wanted = select(runs.c.metrics).where(done).order_by(runs.c.id.desc()).limit(PAST_RUNS)
    return [Metrics(**metrics) for metrics in connection.execute(wanted).scalars() if metrics]
