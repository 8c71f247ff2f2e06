"""What was asked for -> a run in the ledger (`Started`), new or taken up again; all checked before any work."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import make_url

from lookstruct.pipeline.batch.targets import Listed, read_list
from lookstruct.pipeline.jobs.checking import schema_path
from lookstruct.pipeline.sinks import kind_of, open_sink
from lookstruct.pipeline.sinks.sink import Sink, SinkOptions
from lookstruct.pipeline.storage.run import Run, Spec
from lookstruct.schemas.errors import SinkError, UsageError
from lookstruct.schemas.loader import Schema, load_schema

if TYPE_CHECKING:
    from lookstruct.pipeline.settings import Settings
    from lookstruct.pipeline.storage.ledger import Ledger

WRITTEN_WHOLE = (".json", ".parquet")
"""Files that two runs at once would take from each other."""


@dataclass(frozen=True, slots=True)
class Started:
    """A run that this process owns. `position` is the sink's; `n_duplicates` counts repeated lines of the list."""

    run: Run
    schema: Schema
    sink: Sink
    position: str
    n_duplicates: int = 0


def begin(
    ledger: Ledger, source: str, schema: str, settings: Settings, flags: Mapping[str, Mapping[str, Any]]
) -> Started:
    """A new run of the pages that `source` lists; UsageError if anything does not fit. `flags` are for resuming it."""
    chosen = load_schema(schema, lenient=settings.schemas.lenient)
    to = absolute(settings.output.to)
    sink = open_sink(to, chosen, settings.output.options())
    pages = read_list(source, settings.fetch)
    _check_alone(ledger, to, settings.output.options())
    position = sink.prepare()
    kept = {**flags, "output": {**flags.get("output", {}), "to": to}}
    named = schema_path(schema, Path.cwd())
    run = ledger.create(Spec(named, chosen.name, chosen.json_schema, to, kept), pages.pages, position)
    return Started(run, chosen, sink, position, pages.n_duplicates)


def take_up(
    ledger: Ledger,
    run: Run,
    settings: Settings,
    *,
    source: str | None = None,
    retry: bool = False,
    take_over: bool = False,
) -> Started:
    """A run that was stopped, killed or ended with failures.

    `source` may name a list that has grown: what is new in it is added. `retry` lets failed pages run again,
    `take_over` takes the run from a process that seems to live.
    """
    chosen = load_schema(run.spec.schema, lenient=settings.schemas.lenient)
    _check_same(run, chosen, absolute(settings.output.to))
    sink = open_sink(run.spec.sink, chosen, settings.output.options())
    pages = read_list(source, settings.fetch) if source is not None else Listed((), 0)
    _check_alone(ledger, run.spec.sink, settings.output.options())
    ledger.claim(run, take_over=take_over)
    position = sink.prepare()
    ledger.add_pages(run.id, pages.pages)
    if retry:
        ledger.retry_failed(run.id)
    return Started(ledger.find(run.id), chosen, sink, position, pages.n_duplicates)


def export(ledger: Ledger, run: Run, settings: Settings) -> None:
    """Writes all results of a run, in the order of its list, to the sink that the settings name.

    The schema is taken as it was when the run began, wherever it stood.
    """
    schema = replace(load_schema(dict(run.spec.json_schema), lenient=True), name=run.spec.name)
    with closing(open_sink(settings.output.to, schema, settings.output.options())) as sink:
        position = sink.prepare()
        for entry in ledger.entries(run.id):
            position = sink.write([entry], position)
        sink.finish(ledger.entries(run.id))


def absolute(to: str) -> str:
    """The sink's name from any folder: a run may be resumed from another one."""
    kind = kind_of(to)
    if kind.startswith("."):
        return os.path.abspath(to)
    if kind != "sqlite:":
        return to
    url = make_url(to)
    return url.set(database=os.path.abspath(url.database)).render_as_string() if url.database else to


def _check_same(run: Run, schema: Schema, to: str) -> None:
    if json.loads(json.dumps(schema.json_schema)) != run.spec.json_schema:
        raise UsageError(f"The schema {run.spec.schema} has changed since the run {run.id} began; start a new run.")
    if to != run.spec.sink:
        raise UsageError(f"The run {run.id} writes to {run.shown_sink}; leave --to out.")


def _check_alone(ledger: Ledger, to: str, options: SinkOptions) -> None:
    kind = kind_of(to)
    if kind in WRITTEN_WHOLE or (kind.startswith(".") and options.key):
        for other in ledger.others_at(to):
            raise SinkError(f"The run {other} is writing {to} too; wait for it, or name another file with --to.")
