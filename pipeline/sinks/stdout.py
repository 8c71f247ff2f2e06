"""-: a line of JSON a record, on standard output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lookstruct.pipeline.output import to_json, write_stdout
from lookstruct.pipeline.sinks.entry import Entry
from lookstruct.pipeline.sinks.jsonl import values_of
from lookstruct.pipeline.sinks.sink import SinkOptions
from lookstruct.schemas.errors import SinkError

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema


def open_sink(to: str, schema: Schema, options: SinkOptions) -> StdoutSink:
    """SinkError with a key: what was printed cannot be taken back."""
    del to, schema
    if options.key:
        raise SinkError("Standard output has no records to update by --key; name a file or a database with --to.")
    return StdoutSink(options)


class StdoutSink:
    """Prints. A position means nothing here: a run that is killed while it prints may print that line again."""

    name = "standard output"

    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def prepare(self) -> str:
        """Nothing to prepare."""
        return ""

    def write(self, entries: Sequence[Entry], position: str) -> str:
        """Prints each record."""
        del position
        write_stdout("".join(f"{to_json(v)}\n" for entry in entries for v in values_of(entry, self._options.evidence)))
        return ""

    def finish(self, entries: Iterable[Entry]) -> None:
        """All is printed already."""

    def close(self) -> None:
        """Standard output stays open."""
