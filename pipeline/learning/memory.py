"""The store on disk: what was read on earlier pages, for each model, schema and site (`Memory`); bounded, and only
ever a source of guesses."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from lookstruct.pipeline.learning.places import Place, places_of
from lookstruct.pipeline.learning.relocate import Relocated, relocate
from lookstruct.pipeline.values.candidates import find_candidates

if TYPE_CHECKING:
    from lookstruct.decoding.request import Candidate
    from lookstruct.pipeline.values.found import Found
    from lookstruct.schemas.document import Document
    from lookstruct.schemas.loader import Schema
    from lookstruct.schemas.record import Record

T = TypeVar("T")

MOST_RECORDS = 5000
"""So many records are kept in all; the oldest go first."""
MOST_PER_SITE = 4
"""... and so many of one site, schema and model: pages of several templates."""
MOST_BYTES = 64_000
"""Larger records are not kept."""
MOST_TOKENS = 4000
"""Of what the model wrote; a longer record is no source of n-grams."""
MOST_GUESSES = 2
LEAST_FOUND = 0.3
"""A page where fewer of a record's places are found is another kind of page."""
_BUSY_S = 2.0
_TABLE = "CREATE TABLE IF NOT EXISTS past (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, record TEXT NOT NULL)"
_INDEX = "CREATE INDEX IF NOT EXISTS past_kind ON past (kind, id)"


class Memory:
    """Remembers records in a SQLite file that several processes may share. `version` names model and tokenizer.

    A file that cannot be read or written costs the guesses and nothing else: `fault` then says why.
    """

    def __init__(self, path: Path, version: str, *, most_records: int = MOST_RECORDS) -> None:
        self._path, self._version, self._most_records = path, version, most_records
        self.fault = ""

    def guesses(self, document: Document, schema: Schema, found: Found) -> tuple[Any, ...]:
        """Records that may stand on this page, likeliest first: earlier ones, each value looked up in its place."""
        past = self._past(self._kind(document, schema))
        if not past:
            return ()
        candidates = find_candidates(document, found)
        there = [one for text in past if (one := _relocated(text, document, candidates)) is not None]
        there = [one for one in there if one.n_sought and one.n_found >= LEAST_FOUND * one.n_sought]
        ranked = sorted(there, key=lambda one: one.n_found / one.n_sought, reverse=True)
        distinct = {json.dumps(one.data, sort_keys=True): one.data for one in ranked}
        return tuple(distinct.values())[:MOST_GUESSES]

    def tokens(self, document: Document, schema: Schema) -> tuple[tuple[int, ...], ...]:
        """What the model wrote for earlier pages, token by token, the latest first: n-grams for the decoder's pool."""
        return tuple(ids for row in self._past(self._kind(document, schema)) if (ids := _ids(row)))

    def learn(self, record: Record[Any], document: Document, schema: Schema, found: Found) -> None:
        """Keeps a valid record with its places; the oldest of the site, and of all, make room."""
        places = places_of(record.data, record.evidence, document, find_candidates(document, found))
        kept: dict[str, Any] = {"data": record.data, "places": [place.to_json() for place in places]}
        if len(record.stats.token_ids) <= MOST_TOKENS:
            kept["ids"] = record.stats.token_ids
        text = json.dumps(kept)
        if not places or len(text) > MOST_BYTES:
            return
        kind = self._kind(document, schema)

        def keep(database: sqlite3.Connection) -> None:
            database.execute("DELETE FROM past WHERE kind = ? AND record = ?", (kind, text))
            database.execute("INSERT INTO past (kind, record) VALUES (?, ?)", (kind, text))
            newest = "SELECT id FROM past WHERE kind = ? ORDER BY id DESC LIMIT ?"
            database.execute(f"DELETE FROM past WHERE kind = ? AND id NOT IN ({newest})", (kind, kind, MOST_PER_SITE))
            newest = "SELECT id FROM past ORDER BY id DESC LIMIT 1 OFFSET ?"
            database.execute(f"DELETE FROM past WHERE id <= ({newest})", (self._most_records,))

        self._use(keep, None)

    def _past(self, kind: str) -> Sequence[str]:
        def read(database: sqlite3.Connection) -> list[str]:
            wanted = "SELECT record FROM past WHERE kind = ? AND length(record) <= ? ORDER BY id DESC LIMIT ?"
            return [str(row[0]) for row in database.execute(wanted, (kind, MOST_BYTES, MOST_PER_SITE))]

        return self._use(read, []) if self._path.exists() else []

    def _use(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """`work` in one transaction; `otherwise` where the file cannot be used."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=_BUSY_S)) as database, database:
                database.execute("PRAGMA journal_mode=WAL")
                database.execute("PRAGMA synchronous=NORMAL")  # what a power cut takes can be learned again
                database.execute(_TABLE)
                database.execute(_INDEX)
                return work(database)
        except (sqlite3.Error, OSError) as exc:
            self.fault = f"What earlier pages taught is not used: {self._path} cannot be used ({exc})."
            return otherwise

    def _kind(self, document: Document, schema: Schema) -> str:
        asked = json.dumps(schema.grammar_schema, sort_keys=True, default=str)
        return hashlib.sha256("\n".join((self._version, site_of(document.url), asked)).encode()).hexdigest()


def site_of(url: str) -> str:
    """What pages of one site share: the host, of files their folder.

    >>> site_of("https://Shop.example:8443/a/b"), site_of("file:///pages/a.html")
    ('shop.example:8443', 'file:/pages')
    """
    parts = urlsplit(url)
    return parts.netloc.lower() or f"{parts.scheme}:{parts.path.rpartition('/')[0]}"


def version_of(model: str, tokenizer: Any) -> str:
    """A model's name and its tokenizer's vocabulary in one text: what another model wrote is no guess for this one."""
    vocabulary: dict[str, int] = getattr(tokenizer, "get_vocab", dict)()
    digest = hashlib.sha256(repr(sorted(vocabulary.items())).encode("utf-8", "surrogatepass")).hexdigest()
    return f"1 {model} {digest}"


def _ids(row: str) -> tuple[int, ...]:
    """A stored record's tokens; none for one that has none, or that was tampered with."""
    try:
        ids = json.loads(row)["ids"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()
    is_sound = isinstance(ids, list) and len(ids) <= MOST_TOKENS and all(type(token) is int for token in ids)
    return tuple(ids) if is_sound else ()


def _relocated(text: str, document: Document, candidates: Sequence[Candidate]) -> Relocated | None:
    """A stored record on this page; None for one that was tampered with or cut off."""
    try:
        kept = json.loads(text)
        places = [Place.from_json(place) for place in kept["places"]]
        return relocate(kept["data"], places, document, candidates)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None
