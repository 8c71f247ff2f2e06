"""Layout -> database tables (`Tables`), and a database that has older ones -> one that has these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import SQLAlchemyError

from lookstruct.pipeline.sinks.layout import Kind, Layout, unique_names
from lookstruct.pipeline.sinks.sink import SinkOptions
from lookstruct.schemas.errors import SinkError

JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
_TYPES: Mapping[Kind, Any] = {
    Kind.TEXT: sa.Text(),
    Kind.INTEGER: sa.BigInteger(),
    Kind.NUMBER: sa.Double(),
    Kind.BOOLEAN: sa.Boolean(),
    Kind.JSON: JSON,
}


@dataclass(frozen=True, slots=True)
class Tables:
    """`lists` by the path of the list from the record; `evidence` where it has a table of its own."""

    root: sa.Table
    lists: Mapping[tuple[str, ...], sa.Table]
    evidence: sa.Table | None

    @property
    def children(self) -> list[sa.Table]:
        """The tables whose rows belong to a row of the root."""
        return [*self.lists.values(), *([self.evidence] if self.evidence is not None else [])]

    @property
    def all(self) -> list[sa.Table]:
        """Every table, the root first."""
        return [self.root, *self.children]


def tables_of(layout: Layout, schema: str, options: SinkOptions) -> Tables:
    """The tables that hold records of this layout."""
    apart = options.nested == "tables"
    name = options.table or table_name(schema)
    metadata = sa.MetaData()
    found = list(_lists(layout, ()))
    last = [f"{name}_evidence"] if apart and options.evidence else []
    names = unique_names([name, *("_".join([name, *path]) for path, _ in found), *last])
    side = [_text("_id", primary_key=True), _text("_url"), _text("_run"), _text("_at")]
    if options.evidence:
        side += [sa.Column("_confidence", sa.Double()), *([] if apart else [sa.Column("_evidence", JSON)])]
    root = sa.Table(names[0], metadata, *side, *_columns(layout))
    lists = {
        path: sa.Table(child, metadata, *_place(root), *_columns(items))
        for child, (path, items) in zip(names[1:], found, strict=False)
    }
    return Tables(root, lists, _evidence_table(names[-1], metadata, root) if last else None)


def table_name(schema: str) -> str:
    """A schema's name as databases write names.

    >>> table_name("RealEstateListing"), table_name("list[Book]")
    ('real_estate_listing', 'list_book')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", schema)
    return re.sub(r"\W+", "_", words).strip("_").lower() or "record"


def _text(name: str, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), **options)


def _columns(layout: Layout) -> Iterator[sa.Column[Any]]:
    for column in layout.columns:
        yield sa.Column(column.name, _TYPES[column.kind])


def _place(root: sa.Table) -> list[sa.Column[Any]]:
    """Where a row of a child table belongs."""
    parent = sa.ForeignKey(root.c["_id"], ondelete="CASCADE")
    return [sa.Column("_row", sa.Text(), parent, primary_key=True), _text("_at", primary_key=True)]


def _evidence_table(name: str, metadata: sa.MetaData, root: sa.Table) -> sa.Table:
    integers = [sa.Column(place, sa.Integer()) for place in ("start", "end")]
    texts = [_text(text) for text in ("status", "text", "dom_path")]
    last = [sa.Column("confidence", sa.Double()), sa.Column("flags", JSON)]
    return sa.Table(name, metadata, *_place(root), *integers, *texts, *last)


def _lists(layout: Layout, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Layout]]:
    for path, items in layout.lists.items():
        yield (*above, *path), items
        yield from _lists(items, (*above, *path))


def migrate(engine: sa.Engine, tables: Tables) -> None:
    """Makes the tables that are missing and adds the columns that are; SinkError if what is there does not fit."""
    try:
        tables.root.metadata.create_all(engine)
    except SQLAlchemyError:  # another run made one of them meanwhile
        tables.root.metadata.create_all(engine)
    inspector = sa.inspect(engine)
    for table in tables.all:
        there = {str(column["name"]): column for column in inspector.get_columns(table.name)}
        _check_key(table, inspector.get_pk_constraint(table.name)["constrained_columns"])
        _check_fit(table, there)
        for column in table.columns:
            if column.name not in there:
                _add_column(engine, table, column)


def _check_key(table: sa.Table, there: Sequence[str]) -> None:
    wanted = [column.name for column in table.primary_key.columns]
    if wanted != list(there):
        raise SinkError(
            f"The table {table.name} is there and was not made by lookstruct (its primary key is not "
            f"{', '.join(wanted)}); name another one with --table."
        )


def _check_fit(table: sa.Table, there: Mapping[str, Any]) -> None:
    for column in table.columns:
        if column.name in there and not _fits(column.type, there[column.name]["type"]):
            raise SinkError(
                f"The column {column.name} of the table {table.name} is {_plain(there[column.name]['type'])} and the "
                f"schema now has {_plain(column.type)} there; change the column, or name another table with --table."
            )
    for name, column in there.items():
        if name not in table.columns and not column["nullable"] and column.get("default") is None:
            raise SinkError(
                f"The column {name} of the table {table.name} must not be empty, and the schema has no {name}; give it "
                "a default, or name another table with --table."
            )


def _fits(wanted: Any, there: Any) -> bool:
    """Whether a column of the type `there` holds every value of the type `wanted`."""
    if isinstance(wanted, sa.Integer):
        return isinstance(there, sa.Integer | sa.Float | sa.Numeric) and not isinstance(there, sa.SmallInteger)
    if isinstance(wanted, sa.Float):
        return isinstance(there, sa.Float | sa.Numeric)
    return isinstance(there, next(family for family in (sa.JSON, sa.Boolean, sa.String) if isinstance(wanted, family)))


def _plain(kind: Any) -> str:
    return str(kind).lower()


def _add_column(engine: sa.Engine, table: sa.Table, column: sa.Column[Any]) -> None:
    """Adds one column; another run that starts at the same moment may have been first."""
    quote = engine.dialect.identifier_preparer.quote
    kind = column.type.compile(engine.dialect)
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql(f"ALTER TABLE {quote(table.name)} ADD COLUMN {quote(str(column.name))} {kind}")
    except SQLAlchemyError:
        names = {str(found["name"]) for found in sa.inspect(engine).get_columns(table.name)}
        if column.name not in names:
            raise
