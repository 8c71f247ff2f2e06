"""x.csv: a row a record, added to what the file holds; with a key, merged into it when the run ends.

The first line names the columns. A file that lacks columns of the schema gets them; columns that only the file has
stay, and are empty in new rows. Lists are JSON in their cell.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.output import check_writable, part_of, to_json
from lookstruct.pipeline.sinks.appending import Appender
from lookstruct.pipeline.sinks.entry import Entry, items_of
from lookstruct.pipeline.sinks.layout import Layout, layout_of
from lookstruct.pipeline.sinks.rows import key_columns, row_key, side_columns, side_values, text_values
from lookstruct.pipeline.sinks.sink import Sink, SinkOptions
from lookstruct.pipeline.sinks.whole import WholeFile
from lookstruct.schemas.errors import SinkError

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema

LARGEST_CELL = 2**27
Row = dict[str, str]


def open_sink(to: str, schema: Schema, options: SinkOptions) -> Sink:
    """A file that is added to; one that is written whole where a key is given."""
    layout = layout_of(schema, separator=".")
    side = side_columns(options.evidence)
    columns = [*(column.name for column in layout.columns), *side]
    if not options.key:
        return CsvSink(to, layout, side)
    key = key_columns(to, layout, options.key)
    return WholeFile(
        to,
        lambda entry: rows_of(layout, entry, side),
        read=read_rows,
        write=lambda path, rows: _write_all(path, columns, rows),
        key=lambda row: row_key(row, key),
    )


def rows_of(layout: Layout, entry: Entry, side: Sequence[str]) -> Iterator[Row]:
    """The cells of an entry's records by column; `side` are the columns of ours that are wanted."""
    for item in items_of(entry):
        known = side_values(item)
        yield {**text_values(layout, item.data), **{name: _plain(known[name]) for name in side}}


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return to_json(value) if isinstance(value, dict) else str(value)


class CsvSink:
    """Adds rows."""

    def __init__(self, to: str, layout: Layout, side: Sequence[str]) -> None:
        self.name = to
        self._path = Path(to)
        self._appender = Appender(self._path)
        self._layout = layout
        self._side = side
        self._columns = [*(column.name for column in layout.columns), *side]

    def prepare(self) -> str:
        """Makes the file with its first line, or adds what that line lacks; SinkError if neither can be done."""
        check_writable(self._path)
        there = read_header(self._path)
        missing = [name for name in self._columns if name not in there]
        if there and len(missing) == len(self._columns):
            raise SinkError(f"{self._path} has none of the schema's columns; name another file with --to.")
        self._columns = [*there, *missing]
        if missing:
            _add_columns(self._path, self._columns)
        return self._appender.start()

    def write(self, entries: Sequence[Entry], position: str) -> str:
        """Adds the entries' rows."""
        self._columns = read_header(self._path) or self._columns
        rows = (row for entry in entries for row in rows_of(self._layout, entry, self._side))
        return self._appender.add([_line(self._columns, row) for row in rows], position)

    def finish(self, entries: Iterable[Entry]) -> None:
        """All rows are there already."""

    def close(self) -> None:
        """Nothing is held open."""


def read_header(path: Path) -> list[str]:
    """The columns that a file names; [] for one that is missing or empty."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8-sig", newline="") as file:
        return next(csv.reader(file), [])


def read_rows(path: Path) -> Iterator[Row]:
    """A file's rows; SinkError if it is no CSV file in UTF-8."""
    csv.field_size_limit(LARGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file, restval=""):
                if None in row:
                    raise SinkError(f"{path} has a row with more cells than columns; mend it, or name another file.")
                yield row
    except (UnicodeDecodeError, csv.Error) as exc:
        raise SinkError(f"{path} is no CSV file in UTF-8 ({exc}); name another file with --to.") from exc


def _line(columns: Sequence[str], row: Row) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([row.get(name, "") for name in columns])
    return text.getvalue().encode("utf-8", "backslashreplace")


def _write_all(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    kept = list(rows)
    named = list(
        dict.fromkeys([*(name for row in kept for name in row if name in columns or name[:1] != "_"), *columns])
    )
    with path.open("wb") as file:
        file.write(_line(named, dict(zip(named, named, strict=True))))
        file.writelines(_line(named, row) for row in kept)


def _add_columns(path: Path, columns: Sequence[str]) -> None:
    """The same rows under a first line that names `columns`, in one move."""
    part = part_of(path)
    try:
        with part.open("wb") as file:
            file.write(_line(columns, dict(zip(columns, columns, strict=True))))
            file.writelines(_line(columns, row) for row in (read_rows(path) if path.exists() else ()))
        part.replace(path.resolve())
    except OSError as exc:
        raise SinkError(f"{path} cannot be written ({exc.strerror or exc}); name another file with --to.") from exc
    finally:
        part.unlink(missing_ok=True)
