"""`Sink`: where a run's records end up, and what every kind of sink promises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from lookstruct.pipeline.sinks.entry import Entry
from lookstruct.schemas.errors import SinkError

Nested = Literal["json", "tables"]


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """How records are kept.

    `key`: the fields that name a thing; a record whose key is there already takes the old one's place. `evidence`
    keeps each value's evidence beside it. `table` names the database table (after the schema unless given). `nested`
    says how a database keeps lists and evidence: "json" in a column, "tables" in tables of their own.
    """

    key: tuple[str, ...] = ()
    evidence: bool = False
    table: str | None = None
    nested: Nested = "json"


class RefusedEntry(SinkError):
    """A sink works but cannot hold this entry, such as a number beyond 64 bits: its page fails alone."""


class Sink(Protocol):
    """Keeps entries. `name` is what messages call it.

    A position is a text that only the sink reads: where the entries written so far end. The caller commits it to a
    ledger after every `write`; after a crash between the two it passes the old position and the same entries again,
    and the sink finds what it had kept of them already.

    `prepare` raises SinkError (exit code 2). `write` raises RefusedEntry and keeps none of the entries where one of
    them cannot be held; it and `finish` raise StorageError when a disk or a database fails.
    """

    name: str

    def prepare(self) -> str:
        """Finds out before any work whether records can be kept here, makes what is missing; the first position."""
        ...

    def write(self, entries: Sequence[Entry], position: str) -> str:
        """Keeps entries that come after `position`; returns the position after them."""
        ...

    def finish(self, entries: Iterable[Entry]) -> None:
        """At the end of a run: all its entries, in the order of its list. Sinks that are written whole do it here."""
        ...

    def close(self) -> None:
        """Lets go of files and connections."""
        ...
