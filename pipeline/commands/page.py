"""`extract TARGET --schema SCHEMA`: the record on one page, as JSON."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookstruct.extractors.options import FetchOptions
from lookstruct.pipeline.commands.console import print_result, progress, say
from lookstruct.pipeline.commands.options import with_settings
from lookstruct.pipeline.settings import (
    DecodeSettings,
    EngineSettings,
    MemorySettings,
    ModelSettings,
    OutputSettings,
    PromptSettings,
    SchemaSettings,
    Settings,
)
from lookstruct.schemas.errors import TargetError, UsageError

if TYPE_CHECKING:
    from lookstruct.decoding.request import Completion
    from lookstruct.extractors.target import Target
    from lookstruct.schemas.loader import Schema
    from lookstruct.schemas.record import Record

_TELLING_S = 0.5
"""Seconds of measuring the machine that are worth a word."""


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print_result(f"lookstruct {version('lookstruct')}")
        raise typer.Exit


@with_settings(
    fetch=FetchOptions,
    schemas=SchemaSettings,
    model=ModelSettings,
    engine=EngineSettings,
    prompt=PromptSettings,
    memory=MemorySettings,
    decode=DecodeSettings,
    output=OutputSettings,
)
def page(
    settings: Settings,
    target: Annotated[
        str | None, typer.Argument(metavar="TARGET", help="A URL with its scheme, or a file.", show_default=False)
    ] = None,
    *,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="The same as TARGET; with --html, what relative links refer to."),
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE|-", help="HTML to read as it is, without a browser.")
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema",
            metavar="SCHEMA",
            help="Invoice or another built-in name, file.py:Class, a JSON Schema file, or 'title, price: float'.",
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show a traceback when something fails.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Read the record that SCHEMA describes from a web page and print it as JSON.

    Exit codes: 0 done, 1 no valid record, 2 usage, 3 page not fetched, 4 model not loaded or run, 5 disk or
    database failed.
    """
    del verbose, version
    from lookstruct.pipeline.output import check_writable, write_json
    from lookstruct.pipeline.sinks.single import open_single
    from lookstruct.schemas.loader import load_schema

    wanted, how = _page_wanted(target, url, html)
    if schema is None:
        raise UsageError("What to extract is missing: add --schema, for example --schema Invoice.")
    chosen = load_schema(schema, lenient=settings.schemas.lenient)
    keep = open_single(settings.output.to, chosen, settings.output.options())
    for path in (settings.output.stats, settings.output.trace):
        if path is not None:
            check_writable(path)
    record = _extract(settings, wanted, chosen, settings.fetch.model_copy(update=how))
    keep(record)
    if settings.output.stats is not None:
        write_json(settings.output.stats, record.stats.to_json())
    _report(record)


def _page_wanted(target: str | None, url: str | None, html: str | None) -> tuple[Target, dict[str, Any]]:
    """What is to be read and how to fetch it, from the three ways of saying it; UsageError unless one was used."""
    from lookstruct.extractors.target import resolve_target

    if html is not None:
        if target is not None:
            raise UsageError(f"Both {target} and --html {html} were given; give one of them.")
        return _html_wanted(html), {"render": False, "base_url": url}
    if (target is None) == (url is None):
        problem = "No page was named" if url is None else f"Both {target} and --url {url} were given"
        raise UsageError(f"{problem}: name one URL or file, or pass HTML with --html FILE or --html -.")
    return resolve_target(target or url or ""), {}


def _html_wanted(name: str) -> Target:
    from lookstruct.extractors.target import resolve_target

    if name != "-" and not Path(name).is_file():
        raise TargetError(f"The HTML file {name} does not exist; check the path, or pipe the page into --html -.")
    return resolve_target(name)


def _extract(settings: Settings, target: Target, schema: Schema, fetch: FetchOptions) -> Record[Any]:
    from lookstruct.pipeline.extractor import Extractor

    with progress() as watch, Extractor(settings=settings) as extractor:
        if settings.output.trace is not None:
            watch = replace(watch, completion=partial(_draw, settings.output.trace))
        return extractor.extract(target, schema, watch=watch, fetch=fetch)


def _draw(path: Path, completion: Completion) -> None:
    """The picture of a decode; it is drawn even if no valid record comes out."""
    from lookstruct.decoding.trace import trace_html
    from lookstruct.pipeline.output import write_text

    write_text(path, trace_html(completion))


def _report(record: Record[Any]) -> None:
    """Remarks and a one-line summary, on standard error."""
    stats = record.stats
    for note in [*record.meta.get("model_notes", ()), *record.meta["notes"]]:
        say(f"note: {note}")
    seconds = {"fetch": record.meta["fetch_s"], "prefill": stats.prefill_s, "decode": stats.decode_s}
    if stats.measuring_s >= _TELLING_S:
        seconds["measuring this machine, once"] = stats.measuring_s
    times = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    say(
        f"{stats.new_tokens} tokens in {stats.forwards} forwards ({stats.tokens_per_forward:.1f} a forward), "
        f"{stats.prompt_tokens} prompt tokens; {times}"
    )
