"""Page metadata -> the record it describes: what a scraper without a model would read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lookstruct.schemas.builtin.schema_org import SCHEMA_ORG
from lookstruct.schemas.document import Document

_OPENGRAPH = {"name": "og:title", "headline": "og:title", "date_published": "article:published_time"}


def metadata_record(document: Document, schema_name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that JSON-LD or microdata of the schema's type gives, else OpenGraph; `fields` are JSON Schemas."""
    known = SCHEMA_ORG.get(schema_name)
    items = [item for item in _items(document.metadata) if known and _types(item) & set(known.types)]
    found: dict[str, Any] = {}
    for name, field in fields.items():
        paths = known.paths.get(name, ()) if known else ()
        values = next((v for item in items for path in paths if (v := list(_follow(item, path.split("."))))), [])
        values = values or [v for v in [document.metadata.get("opengraph", {}).get(_OPENGRAPH.get(name, ""))] if v]
        if values:
            found[name] = values if field.get("type") == "array" else values[0]
    return found


def _items(metadata: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from metadata.get("json-ld", ())
    yield from metadata.get("microdata", ())


def _types(item: Mapping[str, Any]) -> set[str]:
    kind = item.get("@type")
    return {str(one) for one in (kind if isinstance(kind, list) else [kind])}


def _follow(value: Any, steps: list[str]) -> Iterator[Any]:
    """Every plain value at the end of a path."""
    if isinstance(value, list):
        for one in value:
            yield from _follow(one, steps)
    elif steps and isinstance(value, Mapping):
        if steps[0] in value:
            yield from _follow(value[steps[0]], steps[1:])
    elif not steps and not isinstance(value, Mapping) and value not in (None, ""):
        yield value
