"""x.parquet: a row a record with lists and objects as they are, written when a run ends; with a key, merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.output import to_json
from lookstruct.pipeline.sinks.entry import Entry, items_of
from lookstruct.pipeline.sinks.layout import Column, Kind, Layout, layout_of
from lookstruct.pipeline.sinks.rows import (
    CONFIDENCE,
    EVIDENCE,
    URL,
    checked_integer,
    key_columns,
    plain_values,
    row_key,
    side_columns,
    side_values,
)
from lookstruct.pipeline.sinks.sink import SinkOptions
from lookstruct.pipeline.sinks.whole import WholeFile
from lookstruct.schemas.errors import SinkError

if TYPE_CHECKING:
    import pyarrow as pa

    from lookstruct.schemas.loader import Schema

ROWS_A_GROUP = 5000
Row = dict[str, Any]


def open_sink(to: str, schema: Schema, options: SinkOptions) -> WholeFile:
    """A file that is written whole; SinkError where pyarrow is missing."""
    try:
        import pyarrow as pa
    except ImportError as exc:
        raise SinkError(f"{to} needs pyarrow, which is missing; run pip install 'lookstruct[parquet]'.") from exc

    layout = layout_of(schema, lists_apart=True)
    wanted = pa.schema([*_fields(layout), *(_side_field(name) for name in side_columns(options.evidence))])
    key = key_columns(to, layout_of(schema), options.key)
    return WholeFile(
        to,
        lambda entry: _rows(layout, entry, options.evidence),
        read=lambda path: _read(path, wanted),
        write=lambda path, rows: _write(path, _widened(Path(to), wanted) if key else wanted, rows),
        key=(lambda row: row_key(row, key)) if key else None,
    )


def _fields(layout: Layout) -> Iterator[pa.Field]:
    import pyarrow as pa

    for column in layout.columns:
        yield pa.field(column.name, _type(column))
    for path, items in layout.lists.items():
        yield pa.field(_list_name(path), pa.list_(_item_type(items)))


def _list_name(path: tuple[str, ...]) -> str:
    return "_".join(path)


def _type(column: Column) -> pa.DataType:
    import pyarrow as pa

    types = {Kind.INTEGER: pa.int64(), Kind.NUMBER: pa.float64(), Kind.BOOLEAN: pa.bool_()}
    return types.get(column.kind, pa.string())


def _item_type(items: Layout) -> pa.DataType:
    """A struct for records, the bare type for plain values."""
    import pyarrow as pa

    return _type(items.columns[0]) if _is_plain(items) else pa.struct(list(_fields(items)))


def _is_plain(items: Layout) -> bool:
    return len(items.columns) == 1 and not items.lists and items.columns[0].path == ()


def _side_field(name: str) -> pa.Field:
    import pyarrow as pa

    return pa.field(name, pa.float64() if name == CONFIDENCE else pa.string())


def _rows(layout: Layout, entry: Entry, evidence: bool) -> Iterator[Row]:
    for item in items_of(entry):
        side = side_values(item)
        row = {**_record(layout, item.data), URL: side[URL]}
        if evidence:
            row |= {CONFIDENCE: side[CONFIDENCE], EVIDENCE: to_json(side[EVIDENCE])}
        yield row


def _record(layout: Layout, data: Any) -> Row:
    """The record's values as arrow takes them: JSON text where a value has no fixed form."""
    row = {c.name: _value(c, v) for c, v in zip(layout.columns, plain_values(layout, data).values(), strict=True)}
    for path, items in layout.lists.items():
        row[_list_name(path)] = _list(items, _at(data, path))
    return row


def _value(column: Column, value: Any) -> Any:
    if column.kind is Kind.JSON and value is not None:
        return to_json(value)
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if column.kind is Kind.NUMBER and value is not None:
        return float(value)
    return checked_integer(column.name, value)


def _list(items: Layout, values: Any) -> Any:
    if not isinstance(values, list):
        return None
    if _is_plain(items):
        return [_value(items.columns[0], value) for value in values]
    return [None if value is None else _record(items, value) for value in values]


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        data = data.get(step) if isinstance(data, Mapping) else None
    return data


def _widened(path: Path, wanted: pa.Schema) -> pa.Schema:
    """The columns that a file has and those that are wanted; SinkError where a column has become of another type."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.exists() or not path.stat().st_size:
        return wanted
    try:
        return pa.unify_schemas([pq.read_schema(path), wanted])
    except (pa.ArrowInvalid, pa.ArrowTypeError) as exc:
        raise SinkError(f"{path} cannot be merged into ({exc}); name another file with --to.") from exc


def _read(path: Path, wanted: pa.Schema) -> Iterator[Row]:
    """The rows that are there."""
    import pyarrow.parquet as pq

    _widened(path, wanted)
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(ROWS_A_GROUP):
            yield from batch.to_pylist()


def _write(path: Path, wanted: pa.Schema, rows: Iterable[Row]) -> None:
    """Group by group, so that a large run needs no more memory than a small one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    left = iter(rows)
    with pq.ParquetWriter(path, wanted) as writer:
        while group := list(islice(left, ROWS_A_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=wanted))
