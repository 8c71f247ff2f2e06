"""Sinks: where records go. One file a kind and one line in `KINDS`; `open_sink` chooses by what `--to` says.

-  x.json  x.jsonl  x.csv  x.parquet  sqlite:///x.db  postgresql://host/name
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

from lookstruct.pipeline.sinks.entry import Entry as Entry
from lookstruct.pipeline.sinks.entry import entry_of as entry_of
from lookstruct.pipeline.sinks.sink import RefusedEntry as RefusedEntry
from lookstruct.pipeline.sinks.sink import Sink as Sink
from lookstruct.pipeline.sinks.sink import SinkOptions as SinkOptions
from lookstruct.schemas.errors import SinkError

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema

Open = Callable[[str, "Schema", SinkOptions], Sink]

KINDS = {
    "-": "stdout",
    ".json": "json_file",
    ".jsonl": "jsonl",
    ".csv": "csv_file",
    ".parquet": "parquet",
    "sqlite:": "sql",
    "postgresql:": "sql",
    "postgres:": "sql",
}
"""What `--to` begins or ends with -> the module whose `open_sink` opens it; it is imported when it is needed."""


def open_sink(to: str, schema: Schema, options: SinkOptions | None = None) -> Sink:
    """The sink that `to` names, untouched so far; SinkError if it is of no known kind or cannot hold the schema."""
    module = import_module(f"lookstruct.pipeline.sinks.{KINDS[kind_of(to)]}")
    return cast(Open, module.open_sink)(to, schema, options or SinkOptions())


def kind_of(to: str) -> str:
    """The entry of `KINDS` that `to` belongs to.

    >>> kind_of("out/products.CSV"), kind_of("sqlite:///x.db")
    ('.csv', 'sqlite:')
    """
    lowered = to.lower()
    for kind in KINDS:
        fits = lowered.endswith(kind) if kind.startswith(".") else lowered.startswith(kind)
        if fits and (kind != "-" or to == "-"):
            return kind
    raise SinkError(
        f"The output {to!r} is none of -, a .json, .jsonl, .csv or .parquet file, sqlite:///file.db or "
        "postgresql://host/name; name one of these with --to."
    )
