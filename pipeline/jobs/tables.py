"""The tables of jobs: what is scheduled, what ran, what pages said, what is still to be delivered."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeDecorator


class Moment(TypeDecorator[datetime]):
    """A moment: UTC without a zone in the database, with one in Python."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To the database."""
        del dialect
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """From the database."""
        del dialect
        return None if value is None else value.replace(tzinfo=UTC)


metadata = MetaData()
_Id = BigInteger().with_variant(Integer, "sqlite")


def _id() -> Column[Any]:
    return Column("id", _Id, primary_key=True, autoincrement=True)


def _job_id() -> Column[Any]:
    return Column("job_id", _Id, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False)


jobs = Table(
    "jobs",
    metadata,
    _id(),
    Column("name", String(64), nullable=False, unique=True),
    Column("spec", JSON, nullable=False),  # the Job, in the words of the job file
    Column("origin", Text, nullable=False, default=""),  # the job file it came from, "" when added by hand
    Column("anchor", Moment, nullable=False),
    Column("last_scheduled", Moment),
    Column("paused", Boolean, nullable=False, default=False),
    Column("paused_because", Text, nullable=False, default=""),
    Column("failures", Integer, nullable=False, default=0),  # failed runs in a row
    Column("sink_position", Text, nullable=False, default=""),
    Column("created_at", Moment, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    _id(),
    _job_id(),
    Column("scheduled_at", Moment, nullable=False),
    Column("manual", Boolean, nullable=False, default=False),
    Column("status", String(16), nullable=False),  # see states.Status
    Column("attempt", Integer, nullable=False, default=1),
    Column("worker", String(200), nullable=False, default=""),
    Column("lease_until", Moment),
    Column("retry_at", Moment),
    Column("started_at", Moment),
    Column("finished_at", Moment),
    Column("missed", Integer, nullable=False, default=0),
    Column("todo", JSON(none_as_null=True)),  # the pages that are still to be read, NULL for all of them
    Column("n_records", Integer, nullable=False, default=0),
    Column("n_changed", Integer, nullable=False, default=0),
    Column("errors", JSON, nullable=False, default=list),
    Column("warnings", JSON, nullable=False, default=list),
    Column("metrics", JSON(none_as_null=True)),
    UniqueConstraint("job_id", "scheduled_at", name="runs_once"),
    Index("runs_of_job", "job_id", "status"),
)

snapshots = Table(
    "snapshots",
    metadata,
    _id(),
    _job_id(),
    Column("run_id", _Id, nullable=False),
    Column("key", Text, nullable=False),
    Column("seen_at", Moment, nullable=False),
    Column("entry", JSON, nullable=False),  # sinks.Entry without its number
    Column("changes", JSON, nullable=False),  # against the snapshot before; [] for the first
    Index("snapshots_of_key", "job_id", "key", "id"),
)

outbox = Table(
    "outbox",
    metadata,
    _id(),
    _job_id(),
    Column("entry", JSON, nullable=False),  # sinks.Entry without its number
    Index("outbox_of_job", "job_id", "id"),
)
