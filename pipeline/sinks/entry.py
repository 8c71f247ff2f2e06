"""`Entry`: one page's result on its way into a sink; `Item`: one record of it, for sinks that keep rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookstruct.schemas.record import Record


@dataclass(frozen=True, slots=True)
class Entry:
    """What a sink keeps of one page.

    `run` and `page` (its number in the run, from 0) name it for good: a sink that is given the same entry twice keeps
    it once. `target` is what the list calls the page, `url` where redirects led, `data` the record as plain JSON,
    `evidence` each leaf's evidence as JSON by JSON pointer, `at` the moment it was read, ISO 8601 in UTC.
    """

    run: str
    page: int
    target: str
    url: str
    data: Any
    evidence: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    at: str = ""

    def full_json(self) -> dict[str, Any]:
        """What `extract --evidence` prints: data, evidence and meta."""
        return {"data": self.data, "evidence": dict(self.evidence), "meta": dict(self.meta)}


@dataclass(frozen=True, slots=True)
class Item:
    """One record of an entry: the whole of it, or, where the schema's root is a list, its item number `index`."""

    entry: Entry
    data: Any
    index: int | None = None

    @property
    def id(self) -> str:
        """Names the item for good."""
        place = f"{self.entry.run}/{self.entry.page}"
        return place if self.index is None else f"{place}/{self.index}"

    @property
    def evidence(self) -> dict[str, Any]:
        """The evidence of this item, by pointers into it."""
        if self.index is None:
            return dict(self.entry.evidence)
        prefix = f"/{self.index}"
        inside = {p: e for p, e in self.entry.evidence.items() if p == prefix or p.startswith(prefix + "/")}
        return {pointer.removeprefix(prefix): found for pointer, found in inside.items()}

    @property
    def confidence(self) -> float | None:
        """That of the least certain value; None where none is known."""
        known = [e["confidence"] for e in self.evidence.values() if e.get("confidence") is not None]
        return min(known, default=None)


def items_of(entry: Entry) -> Iterator[Item]:
    """The records of an entry.

    >>> [item.id for item in items_of(Entry("r", 4, "t", "u", [{"a": 1}, {"a": 2}]))]
    ['r/4/0', 'r/4/1']
    """
    if isinstance(entry.data, list):
        yield from (Item(entry, data, index) for index, data in enumerate(entry.data))
    else:
        yield Item(entry, entry.data)


def entry_of(record: Record[Any], run: str, page: int, target: str) -> Entry:
    """The entry of a record that was just read."""
    return Entry(
        run=run,
        page=page,
        target=target,
        url=str(record.meta.get("final_url") or record.url),
        data=record.data,
        evidence={pointer: found.to_json() for pointer, found in record.evidence.items()},
        meta=dict(record.meta),
        at=now(),
    )


def now() -> str:
    """This moment as sinks and ledger write it: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
