"""x.json: one list of all records, replaced when a run ends; with a key, merged with what it held."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.output import to_json
from lookstruct.pipeline.sinks.jsonl import values_of
from lookstruct.pipeline.sinks.sink import SinkOptions
from lookstruct.pipeline.sinks.whole import WholeFile, check_json_key, json_key
from lookstruct.schemas.errors import SinkError

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema


def open_sink(to: str, schema: Schema, options: SinkOptions) -> WholeFile:
    """A file that is written whole."""
    check_json_key(to, schema, options)
    return WholeFile(
        to,
        lambda entry: values_of(entry, options.evidence),
        read=_read_list,
        write=_write_list,
        key=json_key(options) if options.key else None,
    )


def _read_list(path: Path) -> Iterator[Any]:
    """The values of a JSON list; SinkError if the file holds anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise SinkError(f"{path} is no JSON ({exc}), so nothing can be merged into it by --key.") from exc
    if not isinstance(found, list):
        raise SinkError(f"{path} holds no list of records, so nothing can be merged into it by --key.")
    return iter(found)


def _write_list(path: Path, values: Iterable[Any]) -> None:
    """A list with an indented value an item, value by value: a large run needs no more memory than a small one."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        separator = "[\n"
        for value in values:
            file.write(separator + to_json(value, indent=2))
            separator = ",\n"
        file.write("[]\n" if separator == "[\n" else "\n]\n")
