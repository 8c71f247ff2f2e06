"""x.jsonl: a line a record, added to what the file holds; with a key, merged into it when the run ends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.output import check_writable, to_json
from lookstruct.pipeline.sinks.appending import Appender
from lookstruct.pipeline.sinks.entry import Entry, items_of
from lookstruct.pipeline.sinks.sink import Sink, SinkOptions
from lookstruct.pipeline.sinks.whole import WholeFile, check_json_key, json_key
from lookstruct.schemas.errors import SinkError

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema


def open_sink(to: str, schema: Schema, options: SinkOptions) -> Sink:
    """A file that is added to; one that is written whole where a key is given."""
    if not options.key:
        return JsonlSink(to, options)
    check_json_key(to, schema, options)
    return WholeFile(
        to,
        lambda entry: values_of(entry, options.evidence),
        read=read_lines,
        write=_write_lines,
        key=json_key(options),
    )


class JsonlSink:
    """Adds lines."""

    def __init__(self, to: str, options: SinkOptions) -> None:
        self.name = to
        self._path = Path(to)
        self._appender = Appender(self._path)
        self._options = options

    def prepare(self) -> str:
        """SinkError if the file could not be written."""
        check_writable(self._path)
        return self._appender.start()

    def write(self, entries: Sequence[Entry], position: str) -> str:
        """Adds the entries' lines."""
        values = (value for entry in entries for value in values_of(entry, self._options.evidence))
        return self._appender.add([f"{to_json(value)}\n".encode() for value in values], position)

    def finish(self, entries: Iterable[Entry]) -> None:
        """All lines are there already."""

    def close(self) -> None:
        """Nothing is held open."""


def values_of(entry: Entry, evidence: bool) -> list[Any]:
    """What an entry puts into a JSON file: its records; with `evidence` one object with data, evidence and meta."""
    return [entry.full_json()] if evidence else [item.data for item in items_of(entry)]


def read_lines(path: Path) -> Iterator[Any]:
    """The values of a JSONL file; SinkError names a line that is none."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _value(line, path, number)


def _value(line: bytes, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as exc:
        raise SinkError(f"Line {number} of {path} is no JSON, so nothing can be merged into it by --key.") from exc


def _write_lines(path: Path, values: Iterable[Any]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for value in values:
            file.write(to_json(value) + "\n")
