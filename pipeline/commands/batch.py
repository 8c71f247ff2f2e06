"""`extract batch LIST --schema SCHEMA --to SINK`: many pages, each exactly once, whatever happens in between."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from lookstruct.extractors.options import FetchOptions
from lookstruct.pipeline.commands.console import say
from lookstruct.pipeline.commands.options import Given, with_settings
from lookstruct.pipeline.settings import (
    BatchSettings,
    DecodeSettings,
    EngineSettings,
    MemorySettings,
    ModelSettings,
    PromptSettings,
    SchemaSettings,
    Settings,
    SinkSettings,
)
from lookstruct.schemas.errors import UsageError

if TYPE_CHECKING:
    from lookstruct.pipeline.batch.place import Place
    from lookstruct.pipeline.batch.start import Started
    from lookstruct.pipeline.extractor import Extractor
    from lookstruct.pipeline.flow import Flow
    from lookstruct.pipeline.storage.ledger import Ledger
    from lookstruct.pipeline.storage.run import Counts

FAILED = 1
"""The exit code of a run some of whose pages failed."""


def add_to(app: typer.Typer) -> None:
    """Registers `batch`."""
    app.command("batch")(batch)


@with_settings(
    fetch=FetchOptions,
    schemas=SchemaSettings,
    model=ModelSettings,
    engine=EngineSettings,
    prompt=PromptSettings,
    memory=MemorySettings,
    decode=DecodeSettings,
    output=SinkSettings,
    batch=BatchSettings,
)
def batch(
    given: Given,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="LIST",
            help="A file with a URL or a file a line, a sitemap or feed (file or URL), or -.",
            show_default=False,
        ),
    ] = None,
    *,
    schema: Annotated[
        str | None, typer.Option("--schema", metavar="SCHEMA", help="Whatever `extract --schema` takes.")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option("--resume", metavar="RUN|last", help="Go on with a run; options not given are as they were."),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume: read the failed pages again.")
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="With --resume: even if its process seems to live.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show a traceback when something fails.")] = False,
) -> None:
    """Read the record that SCHEMA describes from every page of a list.

    Every result is kept in a ledger before the next step: a run that was interrupted or killed goes on with --resume,
    and every page is in the output exactly once.

    Exit codes: 0 all pages done, 1 some failed, 2 usage, 3 no browser, 4 no model, 5 disk or database failed.
    """
    del verbose
    if resume is None:
        _check_new(source, schema, retry_failed or take_over)
    elif schema is not None:
        raise UsageError("A resumed run keeps its schema; leave --schema out, or start a new run.")

    from lookstruct.pipeline.batch.place import place_of
    from lookstruct.pipeline.batch.start import begin, take_up
    from lookstruct.pipeline.extractor import Extractor
    from lookstruct.pipeline.output import check_writable
    from lookstruct.pipeline.storage.ledger import open_ledger

    settings = given.settings()
    with closing(open_ledger(settings.batch.ledger)) as ledger:
        run = ledger.find(resume) if resume is not None else None
        settings = given.settings(run.spec.flags) if run is not None else settings
        if settings.batch.report is not None:
            check_writable(settings.batch.report)
        settings = settings.remembering()
        with place_of(settings) as place, Extractor(settings=settings) as extractor:
            if run is None:
                started = begin(ledger, source or "", schema or "", settings, given.flags)
            else:
                started = take_up(ledger, run, settings, source=source, retry=retry_failed, take_over=take_over)
            code = _work(ledger, started, settings, extractor, place)
    raise typer.Exit(code)


def _check_new(source: str | None, schema: str | None, is_about_old: bool) -> None:
    """UsageError unless a new run was described whole."""
    if is_about_old:
        raise UsageError("--retry-failed and --take-over are about a run; name it with --resume.")
    if source is None:
        raise UsageError("No list was named: give a file of URLs, a sitemap or -, or go on with a run by --resume.")
    if schema is None:
        raise UsageError("What to extract is missing: add --schema, for example --schema Invoice.")


def _work(ledger: Ledger, started: Started, settings: Settings, extractor: Extractor, place: Place) -> int:
    """Reads all pages that wait; whatever happens, says how far the run has come."""
    from lookstruct.pipeline.batch.display import progress, show
    from lookstruct.pipeline.batch.report import report_of
    from lookstruct.pipeline.batch.running import Batch
    from lookstruct.pipeline.output import write_json

    if started.n_duplicates:
        say(f"note: {started.n_duplicates} pages were listed more than once; each runs once.")
    concurrency = settings.batch.concurrency
    try:
        with progress(ledger.counts(started.run.id)) as watch:
            job = Batch(
                ledger,
                started.run,
                started.schema,
                started.sink,
                started.position,
                concurrency=concurrency,
                watch=watch,
            )

            async def work(flow: Flow) -> Counts:
                async with place(flow, started.run.spec.schema) as pages:
                    return await job.work(pages)

            counts = extractor.run(work)
    finally:
        started.sink.close()
        report = report_of(ledger, started.run.id)
        show(report, say)
        if settings.batch.report is not None:
            write_json(settings.batch.report, report.to_json())
    return FAILED if counts.failed else 0
