"""The truth of batch runs (`Ledger`): which pages, how far each has come, what came out, what the sink has of it.

Every step is one transaction that is on the disk when the call returns. A page goes

    waiting -> reading -> done     its result is kept, and later marked as delivered to the sink
                       -> failed   with a reason
and from reading back to waiting when a run is interrupted or killed.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import platformdirs
import sqlalchemy as sa
from sqlalchemy import Connection, Row, func, insert, select, update

from lookstruct.pipeline.sinks.entry import Entry, now
from lookstruct.pipeline.storage.database import database_url, open_database, shown_url, sqlite_url, storage_errors
from lookstruct.pipeline.storage.ledger_tables import metadata, pages, results, runs
from lookstruct.pipeline.storage.owner import is_alive, own_name
from lookstruct.pipeline.storage.run import Costs, Counts, Failure, PageRow, Run, Spec
from lookstruct.schemas.errors import StorageError, UsageError

MOST_DEATHS = 5
"""A page during which the process died this many times is not tried again."""
A_TIME = 200
"""So many results are read at a time."""
PAGE = (pages.c.number, pages.c.target, pages.c.line, pages.c.via)
"""The columns that make a `PageRow`."""
LAST = "last"
"""Names the latest run."""


def open_ledger(url: str | None = None) -> Ledger:
    """The ledger in this database, or in a file in the user's folder for application state; made if it is not there.

    UsageError if it cannot be opened.
    """
    engine = open_database(database_url(url) if url else _own_file())
    ledger = Ledger(engine, shown_url(engine.url))
    try:
        ledger.make()
    except StorageError as exc:
        raise UsageError(f"The ledger {ledger.name} cannot be opened: {exc.__cause__}; check --ledger.") from exc
    return ledger


def _own_file() -> sa.URL:
    folder = platformdirs.user_state_path("lookstruct", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise UsageError(f"The folder {folder} cannot be made ({exc.strerror}); name a ledger with --ledger.") from exc
    return sqlite_url(folder / "ledger.db")


class Ledger:
    """A database of runs. Safe for several threads and processes; its calls wait for each other."""

    def __init__(self, engine: sa.Engine, name: str) -> None:
        self._engine = engine
        self.name = name

    def make(self) -> None:
        """Makes the tables that are missing."""
        with storage_errors(f"The ledger {self.name}"):
            metadata.create_all(self._engine)

    @contextmanager
    def _begin(self) -> Iterator[Connection]:
        with storage_errors(f"The ledger {self.name}"), self._engine.begin() as connection:
            yield connection

    def create(self, spec: Spec, wanted: Sequence[PageRow], position: str) -> Run:
        """A new run, owned by this process."""
        run = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        row = {"id": run, "state": "running", "started_at": now(), "position": position, "owner": own_name()}
        with self._begin() as connection:
            connection.execute(insert(runs), {**row, **_spec_columns(spec)})
            _add_pages(connection, run, wanted)
        return self.find(run)

    def add_pages(self, run: str, wanted: Sequence[PageRow]) -> int:
        """Adds the targets that a run does not have yet, behind the others; how many."""
        with self._begin() as connection:
            known = set(connection.scalars(select(pages.c.target).where(pages.c.run == run)))
            new = [page for page in wanted if page.target not in known]
            _add_pages(connection, run, [replace(page, number=len(known) + n) for n, page in enumerate(new)])
        return len(new)

    def find(self, run: str) -> Run:
        """The run of this id, or the latest for "last"; UsageError if there is none."""
        wanted = select(runs).order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(1)
        with self._begin() as connection:
            row = connection.execute(wanted if run == LAST else wanted.where(runs.c.id == run)).first()
        if row is None:
            raise UsageError(f"The ledger {self.name} has no run {run!r}; `extract runs list` shows its runs.")
        return _run(row)

    def runs(self, most: int = 50) -> list[Run]:
        """The latest runs, the newest first."""
        with self._begin() as connection:
            found = connection.execute(select(runs).order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(most))
            return [_run(row) for row in found]

    def claim(self, run: Run, *, take_over: bool = False) -> None:
        """Makes this process the run's owner and brings back pages that another one left half read.

        UsageError while the other one lives, unless it is to be taken over: the run is then lost to it, and nothing
        that it still does counts. A page during which processes died `MOST_DEATHS` times has failed.
        """
        if run.owner is not None and is_alive(run.owner) and not take_over:
            raise UsageError(
                f"The run {run.id} is being worked on ({run.owner}); wait for it, stop it, or add --take-over if that "
                "process is gone for good."
            )
        mine = update(runs).where(runs.c.id == run.id, runs.c.owner.is_not_distinct_from(run.owner))
        with self._begin() as connection:
            taken = connection.execute(mine.values(owner=own_name(), state="running", finished_at=None))
            if taken.rowcount != 1:
                raise UsageError(f"The run {run.id} was just taken up by another process; let that one go on.")
            _bring_back(connection, run.id)

    def release(self, run: str, state: str) -> None:
        """Ends this process's work on a run: "stopped" with pages left, or "done". What is half read waits again."""
        with self._begin() as connection:
            half = (pages.c.run == run) & (pages.c.state == "reading")
            connection.execute(update(pages).where(half).values(state="waiting", attempts=pages.c.attempts - 1))
            ended = {"state": state, "owner": None, "finished_at": now()}
            connection.execute(update(runs).where(runs.c.id == run, runs.c.owner == own_name()).values(ended))

    def others_at(self, sink: str) -> list[str]:
        """The runs of living processes that write to the same sink."""
        wanted = select(runs).where(runs.c.sink == sink, runs.c.state == "running")
        with self._begin() as connection:
            found = [_run(row) for row in connection.execute(wanted)]
        return [run.id for run in found if run.owner not in (None, own_name()) and is_alive(str(run.owner))]

    def waiting(self, run: str) -> list[PageRow]:
        """The pages that are still to be read, in order."""
        return list(self._pages(run, "waiting"))

    def _pages(self, run: str, state: str) -> Iterator[PageRow]:
        wanted = select(*PAGE).where(pages.c.run == run, pages.c.state == state)
        with self._begin() as connection:
            yield from (PageRow(*row) for row in connection.execute(wanted.order_by(pages.c.number)))

    def begin(self, run: str, page: int) -> None:
        """The page is about to be read. UsageError if another process has taken the run over."""
        with self._begin() as connection:
            owner = connection.scalar(select(runs.c.owner).where(runs.c.id == run))
            if owner != own_name():
                raise UsageError(f"The run {run} was taken over by another process ({owner}); leave it to that one.")
            _change(connection, run, page, ("waiting",), state="reading", attempts=pages.c.attempts + 1)

    def fail(self, run: str, page: int, exc: BaseException) -> None:
        """The page failed; a result that no sink could hold is dropped."""
        error = {"error_kind": type(exc).__name__, "error": str(exc).replace("\0", "") or type(exc).__name__}
        with self._begin() as connection:
            here = (results.c.run == run) & (results.c.page == page)
            connection.execute(sa.delete(results).where(here, results.c.delivered.is_(False)))
            _change(connection, run, page, ("waiting", "reading", "done"), state="failed", **error)

    def keep(self, entry: Entry, costs: Costs) -> bool:
        """The page's result. False, and nothing kept, if the page has one already."""
        with self._begin() as connection:
            if not _change(connection, entry.run, entry.page, ("waiting", "reading"), state="done"):
                return False
            connection.execute(insert(results), _result_columns(entry, costs))
        return True

    def undelivered(self, run: str) -> list[Entry]:
        """Results that the sink may not have yet, in order."""
        return list(self._entries(run, results.c.delivered.is_(False)))

    def entries(self, run: str) -> Iterator[Entry]:
        """All results in the order of the list; read bit by bit, so that a large run needs no more memory."""
        return self._entries(run, sa.true())

    def _entries(self, run: str, which: sa.ColumnElement[bool]) -> Iterator[Entry]:
        wanted = (
            select(results, pages.c.target)
            .join(pages, (pages.c.run == results.c.run) & (pages.c.number == results.c.page))
            .where(results.c.run == run, which)
            .order_by(results.c.page)
            .limit(A_TIME)
        )
        after = -1
        while True:
            with self._begin() as connection:
                found = [_entry(row) for row in connection.execute(wanted.where(results.c.page > after))]
            if not found:
                return
            yield from found
            after = found[-1].page

    def delivered(self, run: str, numbers: Sequence[int], position: str) -> None:
        """The sink has these pages' results, and has got to `position`."""
        with self._begin() as connection:
            here = (results.c.run == run) & results.c.page.in_(numbers)
            connection.execute(update(results).where(here).values(delivered=True))
            connection.execute(update(runs).where(runs.c.id == run).values(position=position))

    def retry_failed(self, run: str) -> int:
        """Lets failed pages wait again; how many."""
        failed = update(pages).where(pages.c.run == run, pages.c.state == "failed")
        with self._begin() as connection:
            return connection.execute(failed.values(state="waiting", attempts=0, error=None, error_kind=None)).rowcount

    def counts(self, run: str) -> Counts:
        """How far a run has come."""
        wanted = select(pages.c.state, func.count()).where(pages.c.run == run).group_by(pages.c.state)
        with self._begin() as connection:
            found = {str(state): int(n) for state, n in connection.execute(wanted)}
        waiting = found.get("waiting", 0) + found.get("reading", 0)
        return Counts(waiting, found.get("done", 0), found.get("failed", 0))

    def costs(self, run: str) -> Costs:
        """What a run has cost so far."""
        sums = [func.coalesce(func.sum(results.c[name]), 0) for name in Costs.__dataclass_fields__]
        with self._begin() as connection:
            row = connection.execute(select(*sums).where(results.c.run == run)).one()
        return Costs(int(row[0]), int(row[1]), int(row[2]), float(row[3]), float(row[4]))

    def failures(self, run: str) -> list[Failure]:
        """The pages that failed, in order."""
        wanted = select(pages).where(pages.c.run == run, pages.c.state == "failed").order_by(pages.c.number)
        with self._begin() as connection:
            return [
                Failure(PageRow(row.number, row.target, row.line, row.via), row.error_kind, row.error, row.attempts)
                for row in connection.execute(wanted)
            ]

    def remove(self, run: Run) -> None:
        """Forgets a run, results and all; UsageError while a process works on it."""
        if run.owner is not None and is_alive(run.owner):
            raise UsageError(f"The run {run.id} is being worked on ({run.owner}); stop it first.")
        with self._begin() as connection:
            for table in (results, pages):
                connection.execute(sa.delete(table).where(table.c.run == run.id))
            connection.execute(sa.delete(runs).where(runs.c.id == run.id))

    def close(self) -> None:
        """Closes the connections."""
        self._engine.dispose()


def _change(connection: Connection, run: str, page: int, states: Sequence[str], **values: Any) -> bool:
    """Changes a page that is in one of `states`; whether it was."""
    here = (pages.c.run == run) & (pages.c.number == page) & pages.c.state.in_(states)
    return connection.execute(update(pages).where(here).values(values)).rowcount == 1


def _add_pages(connection: Connection, run: str, wanted: Sequence[PageRow]) -> None:
    rows = [{"run": run, "state": "waiting", **asdict(page)} for page in wanted]
    if rows:
        connection.execute(insert(pages).values(attempts=0), rows)


def _bring_back(connection: Connection, run: str) -> None:
    """What a process that died left half read waits again, or has failed if it was the death of too many."""
    half = (pages.c.run == run) & (pages.c.state == "reading")
    deadly = f"The process ended {MOST_DEATHS} times while this page was read; it may need more memory than there is."
    given_up = update(pages).where(half, pages.c.attempts >= MOST_DEATHS)
    connection.execute(given_up.values(state="failed", error_kind="Died", error=deadly))
    connection.execute(update(pages).where(half).values(state="waiting"))


def _spec_columns(spec: Spec) -> dict[str, Any]:
    return {
        "schema": spec.schema,
        "name": spec.name,
        "json_schema": json.dumps(spec.json_schema),
        "sink": spec.sink,
        "flags": json.dumps(spec.flags),
    }


def _run(row: Row[Any]) -> Run:
    spec = Spec(row.schema, row.name, json.loads(row.json_schema), row.sink, json.loads(row.flags))
    return Run(row.id, spec, row.state, row.started_at, row.finished_at, row.position, row.owner)


def _result_columns(entry: Entry, costs: Costs) -> dict[str, Any]:
    texts: Mapping[str, Any] = {"data": entry.data, "evidence": dict(entry.evidence), "meta": dict(entry.meta)}
    return {
        "run": entry.run,
        "page": entry.page,
        "url": entry.url,
        "at": entry.at,
        "delivered": False,
        **{name: json.dumps(value) for name, value in texts.items()},
        **asdict(costs),
    }


def _entry(row: Row[Any]) -> Entry:
    return Entry(
        run=row.run,
        page=row.page,
        target=row.target,
        url=row.url,
        data=json.loads(row.data),
        evidence=json.loads(row.evidence),
        meta=json.loads(row.meta),
        at=row.at,
    )
