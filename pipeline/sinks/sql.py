"""sqlite:///x.db, postgresql://...: a table made from the schema, a row a record; one transaction a write.

The table's own columns: `_id` names the row (from the key, or run and page), `_url` the page, `_run` and `_at` where
and when it was read; with evidence `_confidence` and `_evidence`. With nested="tables" lists and evidence are tables of
their own, whose `_row` is the `_id` of the record and `_at` the JSON pointer of the item.

A table that lacks columns gets them; one whose columns have become of another type is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from lookstruct.pipeline.leaves import escape
from lookstruct.pipeline.sinks.entry import Entry, Item, items_of
from lookstruct.pipeline.sinks.layout import Layout, layout_of
from lookstruct.pipeline.sinks.rows import checked_integer, key_columns, plain_values, row_key
from lookstruct.pipeline.sinks.sink import RefusedEntry, SinkOptions
from lookstruct.pipeline.sinks.sql_tables import Tables, migrate, tables_of
from lookstruct.pipeline.storage.database import database_url, open_database, reason, shown_url, storage_errors
from lookstruct.schemas.errors import SinkError, UsageError

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema

Row = dict[str, Any]
Rows = dict[str, list[Row]]
"""Rows by the name of their table."""


def open_sink(to: str, schema: Schema, options: SinkOptions) -> SqlSink:
    """SinkError for a URL that is none, or a key that is no column."""
    return SqlSink(to, schema, options)


class SqlSink:
    """Inserts rows, or updates those whose `_id` is there: writing an entry twice changes nothing."""

    def __init__(self, to: str, schema: Schema, options: SinkOptions) -> None:
        apart = options.nested == "tables"
        self._layout = layout_of(schema, lists_apart=apart)
        self._key = key_columns(to, self._layout, options.key)
        self._tables = tables_of(self._layout, schema.name, options)
        self._columns = {table.name: set(table.columns.keys()) for table in self._tables.all}
        try:
            url = database_url(to)
            self.name = shown_url(url)
            self._engine = open_database(url)
        except UsageError as exc:
            raise SinkError(str(exc)) from exc

    def prepare(self) -> str:
        """Makes the tables or adds what they lack; SinkError if the database cannot be had or its tables do not fit."""
        try:
            migrate(self._engine, self._tables)
        except (SQLAlchemyError, OSError) as exc:
            raise SinkError(f"{self.name} cannot be written ({reason(exc)}); check the URL and its rights.") from exc
        return ""

    def write(self, entries: Sequence[Entry], position: str) -> str:
        """Keeps the entries in one transaction."""
        del position
        rows = self._rows(entries)
        with storage_errors(self.name):
            try:
                with self._engine.begin() as connection:
                    self._replace(connection, rows)
            except (DataError, IntegrityError) as exc:
                raise RefusedEntry(f"{self.name} cannot hold a record ({reason(exc)}).") from exc
        return ""

    def finish(self, entries: Iterable[Entry]) -> None:
        """All rows are there already."""

    def close(self) -> None:
        """Closes the connections."""
        self._engine.dispose()

    def _rows(self, entries: Sequence[Entry]) -> Rows:
        """All rows of the entries. Of two with one `_id` the later counts."""
        rows: Rows = {}
        latest = {self._id(item): item for entry in entries for item in items_of(entry)}
        for name, item in latest.items():
            for table, row in self._rows_of(item, name):
                kept = {column: _storable(column, row.get(column)) for column in self._columns[table]}
                rows.setdefault(table, []).append(kept)
        return rows

    def _id(self, item: Item) -> str:
        values = {**plain_values(self._layout, item.data), "_url": item.entry.url}
        return row_key(values, self._key) or item.id

    def _rows_of(self, item: Item, name: str) -> Iterator[tuple[str, Row]]:
        """(table, row) of everything that an item is kept as."""
        side = {"_id": name, "_url": item.entry.url, "_run": item.entry.run, "_at": item.entry.at}
        found = {"_confidence": item.confidence, "_evidence": item.evidence}
        yield self._tables.root.name, {**plain_values(self._layout, item.data), **side, **found}
        yield from _list_rows(self._tables, self._layout, item.data, {"_row": name, "_at": ""}, ())
        if self._tables.evidence is not None:
            for pointer, evidence in item.evidence.items():
                yield self._tables.evidence.name, {"_row": name, "_at": pointer, **evidence}

    def _replace(self, connection: sa.Connection, rows: Rows) -> None:
        """The roots first, which the others refer to; what hung on an updated root is replaced whole."""
        root = self._tables.root
        roots = rows.get(root.name, [])
        if not roots:
            return
        for table in self._tables.children:
            connection.execute(sa.delete(table).where(table.c["_row"].in_([row["_id"] for row in roots])))
        connection.execute(_upsert(root, connection.dialect.name), roots)
        for table in self._tables.children:
            if rows.get(table.name):
                connection.execute(sa.insert(table), rows[table.name])


def _list_rows(
    tables: Tables, layout: Layout, data: Any, place: Row, path: tuple[str, ...]
) -> Iterator[tuple[str, Row]]:
    """The rows of the lists inside a record, at any depth."""
    for steps, items in layout.lists.items():
        values: Any = data
        for step in steps:
            values = values.get(step) if isinstance(values, Mapping) else None
        pointer = place["_at"] + "".join(f"/{escape(step)}" for step in steps)
        table = tables.lists[(*path, *steps)]
        for number, value in enumerate(values if isinstance(values, list) else ()):
            inner = {"_row": place["_row"], "_at": f"{pointer}/{number}"}
            yield table.name, {**plain_values(items, value), **inner}
            yield from _list_rows(tables, items, value, inner, (*path, *steps))


def _upsert(table: sa.Table, dialect: str) -> Any:
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    others = {column.name: insert.excluded[column.name] for column in table.columns if column.name != "_id"}
    return insert.on_conflict_do_update(index_elements=["_id"], set_=others)


def _storable(name: str, value: Any) -> Any:
    """The value without characters that no database takes: NUL, and halves of surrogate pairs."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_storable(name, key): _storable(name, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_storable(name, inner) for inner in value]
    return checked_integer(name, value)
