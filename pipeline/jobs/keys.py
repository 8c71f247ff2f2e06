"""A page's record -> one `Result` for each thing that it holds, under a key that is the same from run to run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lookstruct.pipeline.jobs.states import Result
from lookstruct.pipeline.sinks.entry import entry_of
from lookstruct.schemas.record import Record


def results_of(record: Record[Any], run: str, target: str, key: Sequence[str]) -> Iterator[Result]:
    """The results of one page: one for a single record, one for each item where the record is a list.

    The key is made of the fields `key`; of the page's address, and of an item's number, where there are none.
    """
    entry = entry_of(record, run, 0, target)
    if not isinstance(record.data, list):
        yield Result(_key(record.data, key, target), entry)
        return
    for number, item in enumerate(record.data):
        evidence = _below(entry.evidence, f"/{number}")
        yield Result(_key(item, key, f"{target}#{number}"), replace(entry, data=item, evidence=evidence))


def _key(data: Any, fields: Sequence[str], otherwise: str) -> str:
    """The values of the key's fields, joined; `otherwise` where one of them is missing.

    >>> _key({"sku": "A1", "size": 4}, ["sku", "size"], "page"), _key({"sku": None}, ["sku"], "page")
    ('A1 4', 'page')
    """
    values = [_value(data, field, otherwise) for field in fields] if isinstance(data, Mapping) else [None]
    return " ".join(map(str, values)) if fields and None not in values else otherwise


def _value(data: Mapping[str, Any], field: str, url: str) -> Any:
    """A field of the record; `url` is the page's where the record has none of its own."""
    return url if field == "url" and data.get("url") is None else data.get(field)


def _below(evidence: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    """The evidence of what lies under `pointer`, with pointers that begin there."""
    return {
        at.removeprefix(pointer): found
        for at, found in evidence.items()
        if at == pointer or at.startswith(f"{pointer}/")
    }
