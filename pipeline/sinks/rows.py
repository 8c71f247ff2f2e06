"""Records -> rows of plain values, for tables of every kind: the columns beside the record's own, and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lookstruct.pipeline.output import to_json
from lookstruct.pipeline.sinks.entry import Item
from lookstruct.pipeline.sinks.layout import Column, Kind, Layout
from lookstruct.pipeline.sinks.sink import RefusedEntry
from lookstruct.pipeline.sinks.whole import key_text
from lookstruct.schemas.errors import SinkError

URL = "_url"
CONFIDENCE = "_confidence"
EVIDENCE = "_evidence"


def side_columns(evidence: bool) -> tuple[str, ...]:
    """The columns of ours that a file's rows have behind the record's."""
    return (URL, CONFIDENCE, EVIDENCE) if evidence else (URL,)


def side_values(item: Item) -> dict[str, Any]:
    """What stands in `side_columns`; evidence as an object."""
    return {URL: item.entry.url, CONFIDENCE: item.confidence, EVIDENCE: item.evidence}


def key_columns(to: str, layout: Layout, key: Sequence[str]) -> tuple[str, ...]:
    """The columns that make up a key: the record's own, or for "url" the page's; SinkError for an unknown one."""
    return tuple(_key_column(to, layout, name) for name in key)


def _key_column(to: str, layout: Layout, name: str) -> str:
    column = layout.column(name)
    if column is not None and column.kind is not Kind.JSON:
        return name
    if column is None and name in ("url", URL):
        return URL
    known = ", ".join([*(c.name for c in layout.columns if c.kind is not Kind.JSON), "url"])
    raise SinkError(f"{to} cannot be keyed by {name!r}; what can be a key is: {known}.")


def row_key(row: Mapping[str, Any], columns: Sequence[str]) -> str | None:
    """One text for a row's key; None where there is no key or the row has none of its values."""
    return key_text([row.get(name) for name in columns]) if columns else None


def plain_values(layout: Layout, record: Any) -> dict[str, Any]:
    """The record's values by column, as they are."""
    return {column.name: column.value_in(record) for column in layout.columns}


def text_values(layout: Layout, record: Any) -> dict[str, str]:
    """The record's values by column, as a text file has them: nothing for null, JSON for lists."""
    return {column.name: _text(column, column.value_in(record)) for column in layout.columns}


def _text(column: Column, value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) and column.kind is not Kind.JSON else to_json(value)


def checked_integer(name: str, value: Any) -> Any:
    """The value; RefusedEntry for a whole number that no column holds."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise RefusedEntry(f"The value {value} of {name} is beyond 64 bits; no table holds it as a whole number.")
    return value
