"""One record, outside any run -> its sink."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from lookstruct.pipeline.output import check_writable, full_json, to_json, write_json, write_stdout
from lookstruct.pipeline.sinks import entry_of, kind_of, open_sink
from lookstruct.pipeline.sinks.sink import SinkOptions

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema
    from lookstruct.schemas.record import Record

Keep = Callable[["Record[Any]"], None]


def open_single(to: str, schema: Schema, options: SinkOptions) -> Keep:
    """A function that keeps one record; SinkError at once if it could not be, so that no work is done in vain.

    Standard output and a .json file get the record alone, indented; other sinks what a run of one page would give.
    """
    if kind_of(to) not in ("-", ".json") or options.key:
        return _open_sink(to, schema, options)
    path = Path(to)
    if to != "-":
        check_writable(path)

    def keep(record: Record[Any]) -> None:
        value = full_json(record) if options.evidence else record.data
        if to == "-":
            write_stdout(to_json(value, indent=2) + "\n")
        else:
            write_json(path, value)

    return keep


def _open_sink(to: str, schema: Schema, options: SinkOptions) -> Keep:
    sink = open_sink(to, schema, options)
    position = sink.prepare()

    def keep(record: Record[Any]) -> None:
        entry = entry_of(record, uuid4().hex, 0, str(record.meta.get("url") or record.url))
        sink.write([entry], position)
        sink.finish([entry])
        sink.close()

    return keep
