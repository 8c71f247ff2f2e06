"""What commands say: results on standard output, everything else on standard error, in any console's characters."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lookstruct.pipeline.flow import Watch


def print_result(text: str) -> None:
    """A result, on standard output."""
    from lookstruct.pipeline.output import write_stdout

    write_stdout(text + "\n")


def say(line: str) -> None:
    """One line on standard error, in whatever characters its encoding has."""
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


@contextmanager
def progress() -> Iterator[Watch]:
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
