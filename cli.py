"""`extract`: parse, call, print, exit code.

    extract TARGET --schema SCHEMA    the record on a page, as JSON on standard output
    extract jobs add|list|start ...   pages read again and again, by schedule
    extract batch LIST --schema S     the records of many pages, into a file or a database
    extract runs list|show RUN        what became of batches
    extract login URL                 cookies of a login by hand, for later pages
    extract schemas list|show NAME    the built-in schemas
    extract models list|prepare       the bundled models
    extract doctor                    what is installed, and whether it works

Exit codes: 0 done, 1 no valid record came out, 2 usage, 3 the page could not be had, 4 the model could not be had or
run, 5 ledger or output failed in mid-run, 70 a fault of this program, 130 interrupted, 143 terminated. Standard output
has the result and nothing else.

torch, transformers and playwright are imported when they are needed: `extract --help` does not wait for them.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from lookstruct.pipeline.commands import batch, doctor, jobs, login, models, runs, schemas
from lookstruct.pipeline.commands.console import say
from lookstruct.pipeline.commands.page import page
from lookstruct.schemas.errors import InvalidRecord, LookstructError

COMMANDS = (batch, runs, jobs, login, schemas, models, doctor)
FAULT, INTERRUPTED, TERMINATED = 70, 130, 143
DEFAULT_COMMAND = "page"
EPILOG = "Other commands, each with its own --help: extract {names}."


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


def assemble() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(cls=DefaultCommand, add_completion=False, pretty_exceptions_enable=False)
    names = " | ".join(module.__name__.rpartition(".")[2] for module in COMMANDS)
    app.command(DEFAULT_COMMAND, hidden=True, epilog=EPILOG.format(names=names))(page)
    for module in COMMANDS:
        module.add_to(app)
    return app


app = assemble()


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
        say("Interrupted.")
    return code if isinstance(code, int) else 0


def _fail(exc: Exception, message: str, code: int, args: Sequence[str]) -> int:
    if "--verbose" in args:
        say("".join(traceback.format_exception(exc)).rstrip())
    if isinstance(exc, InvalidRecord) and exc.raw:
        say(f"The model wrote: {exc.raw}")
    say(f"error: {message}")
    return code


def _terminate(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise SystemExit(TERMINATED)


if __name__ == "__main__":
    main()
