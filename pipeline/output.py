"""Text and JSON -> standard output and files, whole or not at all."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from threading import get_ident
from typing import IO, Any

import psutil

from lookstruct.schemas.errors import SinkError
from lookstruct.schemas.record import Record


def full_json(record: Record[Any]) -> dict[str, Any]:
    """The record with its evidence and what else is known about it."""
    return {
        "data": record.data,
        "evidence": {pointer: evidence.to_json() for pointer, evidence in record.evidence.items()},
        "meta": dict(record.meta),
    }


def check_writable(path: Path) -> None:
    """SinkError unless a file could be written at `path`; an existing one stays as it is, a missing one missing."""
    if path.is_dir():
        raise SinkError(f"{path} is a folder; name a file in it.")
    try:
        if path.exists():
            path.open("ab").close()
        else:
            part_of(path).open("xb").close()
            part_of(path).unlink()
    except OSError as exc:
        raise _unwritable(path, exc) from exc


def write_json(path: Path, data: Any) -> None:
    """Writes one JSON value as `write_text` does."""
    write_text(path, to_json(data, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes a file and replaces what was there in one move: a reader never sees half of it."""
    try:
        if path.exists() and not path.is_file():  # a device or a pipe is written to, never replaced
            path.write_text(text, encoding="utf-8")
            return
        part = part_of(path)
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(path.resolve())
        finally:
            part.unlink(missing_ok=True)
    except OSError as exc:
        raise _unwritable(path, exc) from exc


def to_json(data: Any, *, indent: int | None = None) -> str:
    r"""JSON text, characters as they are; half a surrogate pair, which UTF-8 cannot hold, as its escape.

    >>> to_json({"price": "5 €", "odd": "\ud83d"})
    '{"price": "5 €", "odd": "\\ud83d"}'
    """
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_stdout(text: str) -> None:
    """Writes UTF-8, whatever the console's code page is; a reader that has gone away (`| head`) is no error."""
    buffer: IO[bytes] | None = getattr(sys.stdout, "buffer", None)
    try:
        if buffer is None:  # a notebook's or a test's stream takes text
            sys.stdout.write(text)
        else:
            buffer.write(text.encode())
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def part_of(path: Path) -> Path:
    """Where a file is written before it takes its place: in the same folder, hidden, one for each thread."""
    return path.resolve().with_name(f".{path.name}.{os.getpid()}.{get_ident()}.part")


def remove_dead_parts(path: Path) -> None:
    """Removes what processes that were killed left of `path` half written."""
    named = re.compile(rf"\.{re.escape(path.name)}\.(\d+)\.\d+\.part")
    for other in path.resolve().parent.iterdir():
        found = named.fullmatch(other.name)
        if found and not psutil.pid_exists(int(found[1])):
            other.unlink(missing_ok=True)


def _unwritable(path: Path, exc: OSError) -> SinkError:
    return SinkError(
        f"{path} cannot be written ({exc.strerror or exc}); name a file that can, in a folder that exists."
    )
