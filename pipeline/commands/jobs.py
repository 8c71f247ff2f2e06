"""`extract jobs ...`: pages that are read again and again, by schedule; `jobs start` is the worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookstruct.extractors.options import FetchOptions
from lookstruct.pipeline.commands.console import print_result, say
from lookstruct.pipeline.commands.options import Given, with_settings
from lookstruct.pipeline.settings import (
    DecodeSettings,
    EngineSettings,
    JobsSettings,
    MemorySettings,
    ModelSettings,
    PromptSettings,
    SchemaSettings,
    Settings,
)
from lookstruct.schemas.flags import Group

if TYPE_CHECKING:
    from lookstruct.pipeline.jobs.job import Job
    from lookstruct.pipeline.jobs.store import JobStore
    from lookstruct.pipeline.jobs.worker import Worker

Name = Annotated[str, typer.Argument(metavar="NAME", help="The job's name.", show_default=False)]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Show the latest N.")]
_RUN: dict[str, type[Group]] = {
    "fetch": FetchOptions,
    "schemas": SchemaSettings,
    "model": ModelSettings,
    "engine": EngineSettings,
    "prompt": PromptSettings,
    "memory": MemorySettings,
    "decode": DecodeSettings,
    "jobs": JobsSettings,
}


def add_to(app: typer.Typer) -> None:
    """Registers `jobs add`, `jobs list` and the others."""
    group = typer.Typer(help="Pages read by schedule.", no_args_is_help=True)
    commands: dict[str, Callable[..., None]] = {
        "add": add_job,
        "list": list_jobs,
        "show": show_job,
        "run": run_job,
        "pause": pause_job,
        "unpause": unpause_job,
        "remove": remove_job,
        "history": show_history,
        "diff": show_changes,
        "sync": sync_jobs,
        "start": start_worker,
    }
    for name, command in commands.items():
        group.command(name)(command)
    app.add_typer(group, name="jobs")


@with_settings("--retries", fetch=FetchOptions, schemas=SchemaSettings, jobs=JobsSettings)
def add_job(
    given: Given,
    name: Name,
    *,
    url: Annotated[list[str], typer.Option("--url", metavar="URL", help="A page or a file; may be given again.")],
    schema: Annotated[str, typer.Option("--schema", metavar="SCHEMA", help="What to read, as for a single page.")],
    every: Annotated[str | None, typer.Option("--every", metavar="TIME", help="For example 15m, 6h, 1d.")] = None,
    cron: Annotated[str | None, typer.Option("--cron", metavar="'M H D M W'", help="Five fields of crontab.")] = None,
    timezone: Annotated[
        str | None, typer.Option("--timezone", metavar="ZONE", help="Whose clock --cron reads.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="SINK", help="Where records go, beside the history.")
    ] = None,
    on: Annotated[str | None, typer.Option("--on", metavar="change|always", help="Which records go there.")] = None,
    key: Annotated[str | None, typer.Option("--key", metavar="A,B", help="Fields that tell records apart.")] = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="Keep evidence beside the data.")] = False,
    jitter: Annotated[str | None, typer.Option("--jitter", metavar="TIME", help="Start up to so much later.")] = None,
    timeout: Annotated[str | None, typer.Option("--job-timeout", metavar="TIME", help="For a whole run.")] = None,
    retries: Annotated[
        int | None, typer.Option("--retries", metavar="N", help="Further tries of a failed run.")
    ] = None,
    backoff: Annotated[str | None, typer.Option("--backoff", metavar="TIME", help="Before them; doubled each.")] = None,
    pause_after: Annotated[
        int | None, typer.Option("--pause-after", metavar="N", help="Pause after N failed runs in a row; 0: never.")
    ] = None,
    notify: Annotated[
        list[str] | None, typer.Option("--notify", metavar="COMMAND|URL", help="Who is told; may be given again.")
    ] = None,
    notify_on: Annotated[
        str | None,
        typer.Option("--notify-on", metavar="EVENTS", help="Of failed, paused, changed, warning, recovered."),
    ] = None,
) -> None:
    """Add a job; what could never run (schema, sink, schedule) is refused at once.

    Options of the page are kept with the job; what is not given is as the worker has it.
    """
    from lookstruct.pipeline.jobs.checking import checked
    from lookstruct.pipeline.jobs.job import make_job
    from lookstruct.pipeline.jobs.running import utc_now

    settings = given.settings()
    said: dict[str, Any] = {"every": every, "cron": cron, "timezone": timezone, "to": to, "on": on, "jitter": jitter}
    said |= {"timeout": timeout, "backoff": backoff, "key": _split(key), "notify_on": _split(notify_on)}
    said |= {"retries": retries, "pause_after": pause_after, "notify": notify, "evidence": evidence or None}
    said |= {"fetch": given.flags.get("fetch")}
    wanted = {k: v for k, v in said.items() if v is not None}
    job = make_job({"name": name, "url": url, "schema": schema, **wanted})
    job = checked(job, lenient=settings.schemas.lenient)
    with _store(settings) as store:
        store.add(job, utc_now())
    say(f"Added {name}, {job.schedule}. A worker runs it: extract jobs start.")


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


@with_settings(jobs=JobsSettings)
def list_jobs(settings: Settings) -> None:
    """List the jobs: name, schedule, when next, how they fare."""
    from lookstruct.pipeline.jobs.due import next_run
    from lookstruct.pipeline.jobs.running import utc_now

    with _store(settings) as store:
        for row in store.all():
            following = next_run(row.state, utc_now())
            when = f"next {following:%Y-%m-%d %H:%M:%S} UTC" if following else f"paused {row.paused_because}".rstrip()
            failed = f", {row.failures} failed in a row" if row.failures else ""
            print_result(f"{row.job.name:20} {row.job.schedule:28} {when}{failed}")


@with_settings(jobs=JobsSettings)
def show_job(settings: Settings, name: Name) -> None:
    """Print a job as JSON, in the words of a job file, with its state."""
    from lookstruct.pipeline.jobs.due import next_run
    from lookstruct.pipeline.jobs.running import utc_now
    from lookstruct.pipeline.output import to_json

    with _store(settings) as store:
        row = store.get(name)
    following = next_run(row.state, utc_now())
    state = {
        "paused": row.state.paused,
        "paused_because": row.paused_because,
        "failures": row.failures,
        "last": row.state.last.isoformat() if row.state.last else None,
        "next": following.isoformat() if following else None,
        "origin": row.origin,
    }
    print_result(to_json({**row.job.to_json(), "state": state}, indent=2))


@with_settings(jobs=JobsSettings)
def pause_job(settings: Settings, name: Name) -> None:
    """Start no more runs of a job; one that runs goes on."""
    with _store(settings) as store:
        store.pause(name, "by hand")


@with_settings(jobs=JobsSettings)
def unpause_job(settings: Settings, name: Name) -> None:
    """Let a job go on with its next time; what it missed is not made up for."""
    from lookstruct.pipeline.jobs.running import utc_now

    with _store(settings) as store:
        store.unpause(name, utc_now())


@with_settings(jobs=JobsSettings)
def remove_job(settings: Settings, name: Name) -> None:
    """Remove a job and its history; what its sink holds stays."""
    with _store(settings) as store:
        store.remove(name)


@with_settings(jobs=JobsSettings)
def show_history(settings: Settings, name: Name, limit: Limit = 20) -> None:
    """List a job's runs, the latest first, with what went wrong."""
    with _store(settings) as store:
        runs = store.history(name, limit)
    for run in runs:
        what = f"{run.status}, try {run.attempt}, {run.n_records} records, {run.n_changed} new or changed"
        missed = f", for {run.missed} missed" if run.missed else ""
        print_result(f"{run.scheduled_at:%Y-%m-%d %H:%M:%S} UTC  {what}{missed}{', by hand' if run.manual else ''}")
        for line in [*run.errors, *run.warnings]:
            print_result(f"    {line}")


@with_settings(jobs=JobsSettings)
def show_changes(
    settings: Settings,
    name: Name,
    key: Annotated[str | None, typer.Option("--key", metavar="KEY", help="Only of this record.")] = None,
    limit: Limit = 20,
) -> None:
    """List what changed on a job's pages, field by field, the latest first."""
    from lookstruct.pipeline.jobs.changes import Change

    with _store(settings) as store:
        found = store.snapshots(name, key, limit)
    for seen in found:
        print_result(f"{seen.seen_at:%Y-%m-%d %H:%M:%S} UTC  {seen.key}{'' if seen.changes else '  first seen'}")
        for change in seen.changes:
            print_result(f"    {Change(**change).line}")


@with_settings(schemas=SchemaSettings, jobs=JobsSettings)
def sync_jobs(
    settings: Settings,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .toml or .yaml file of jobs.", show_default=False)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> None:
    """Make the jobs that come from FILE what it says: add, change, remove; other jobs are left alone."""
    from lookstruct.pipeline.jobs.checking import checked
    from lookstruct.pipeline.jobs.jobfile import plan, read_jobs, sync
    from lookstruct.pipeline.jobs.running import utc_now

    path = file.resolve()
    jobs = [checked(job, base=path.parent, lenient=settings.schemas.lenient) for job in read_jobs(path)]
    with _store(settings) as store:
        done = plan(jobs, store, str(path)) if dry_run else sync(jobs, store, str(path), utc_now())
    for what, names in (("add", done.added), ("change", done.changed), ("remove", done.removed)):
        for name in names:
            print_result(f"{what} {name}")


@with_settings(**_RUN)
def run_job(settings: Settings, name: Name) -> None:
    """Run a job now, beside its schedule; exits with 1 if the run fails."""
    with _store(settings) as store:
        store.get(name)
        report = asyncio.run(_with_worker(settings, store, lambda worker: worker.run_now(name)))
    if report is None or report.ended is None or report.errors:
        raise typer.Exit(1)


@with_settings(**_RUN)
def start_worker(
    settings: Settings,
    once: Annotated[bool, typer.Option("--once", help="Run what is due and end: for crontab and timers.")] = False,
) -> None:
    """Run jobs as they fall due, until it is stopped; any number of workers may share the jobs."""
    with _store(settings) as store:
        say(f"Working on {store.name.removeprefix('The job database ')}.")
        asyncio.run(_with_worker(settings, store, lambda worker: worker.serve(until_idle=once)))


async def _with_worker(settings: Settings, store: JobStore, work: Callable[[Worker], Any]) -> Any:
    """Runs `work` with a worker whose browser and model stay warm, and closes them."""
    from lookstruct.pipeline.extractor import Extractor
    from lookstruct.pipeline.jobs.checking import job_sink
    from lookstruct.pipeline.jobs.notify import Notifier
    from lookstruct.pipeline.jobs.posting import poster
    from lookstruct.pipeline.jobs.running import Runner
    from lookstruct.pipeline.jobs.worker import Worker
    from lookstruct.schemas.record import Record

    async with Extractor(settings=settings.remembering()) as extractor:

        async def read(job: Job, url: str) -> Record[Any]:
            return await extractor.aextract(url, job.schema_spec, fetch=job.fetch_options(settings.fetch))

        runner = Runner(store, read, lambda job: job_sink(job, lenient=settings.schemas.lenient))
        tell = Notifier(poster(settings.fetch), say)
        worker = Worker(store, runner, tell=tell, say=say, slots=settings.jobs.slots)
        return await work(worker)


@contextmanager
def _store(settings: Settings) -> Iterator[JobStore]:
    from lookstruct.pipeline.jobs.store import JobStore, default_url

    store = JobStore(settings.jobs.db or default_url())
    try:
        yield store
    finally:
        store.close()
