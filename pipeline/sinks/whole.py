"""Files that are written whole, at the end of a run: replaced in one move, or merged by key with what they held."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.output import check_writable, part_of, remove_dead_parts
from lookstruct.pipeline.sinks.entry import Entry
from lookstruct.pipeline.sinks.sink import SinkOptions
from lookstruct.schemas.errors import SinkError, StorageError

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema

Values = Callable[[Entry], Iterable[Any]]
Read = Callable[[Path], Iterator[Any]]
Write = Callable[[Path, Iterable[Any]], None]
Key = Callable[[Any], str | None]


class WholeFile:
    """Writes nothing until `finish`; until then the ledger has everything.

    `values` are what an entry puts into the file, `write` makes the file from all of them. With `key`, which names
    what a value is of (None for a value that has no name), what `read` finds in the file stays there unless a new
    value has the same key.
    """

    def __init__(self, to: str, values: Values, *, write: Write, read: Read, key: Key | None = None) -> None:
        self.name = to
        self._path = Path(to)
        self._values = values
        self._read = read
        self._write = write
        self._key = key

    def prepare(self) -> str:
        """SinkError if the file could not be written, or has to be merged with and cannot be read."""
        check_writable(self._path)
        remove_dead_parts(self._path)
        if self._key is not None and self._has_content:
            for value in self._read(self._path):
                self._key(value)
        return ""

    def write(self, entries: Sequence[Entry], position: str) -> str:
        """Nothing yet, but a value that the file could not hold is refused now, while its page can fail alone."""
        for entry in entries:
            deque(self._values(entry), maxlen=0)
        return position

    def finish(self, entries: Iterable[Entry]) -> None:
        """Writes the file beside its place and moves it there; a device is written to, never replaced."""
        is_device = self._path.exists() and not self._path.is_file()
        part = self._path if is_device else part_of(self._path)
        try:
            self._write(part, self._merged(value for entry in entries for value in self._values(entry)))
            if not is_device:
                _sync(part)
                part.replace(self._path.resolve())
        except OSError as exc:
            raise StorageError(
                f"{self._path} cannot be written ({exc.strerror or exc}); see to it and go on: what was done is kept."
            ) from exc
        finally:
            if not is_device:
                part.unlink(missing_ok=True)

    def close(self) -> None:
        """Nothing is held open."""

    @property
    def _has_content(self) -> bool:
        return self._path.exists() and self._path.stat().st_size > 0

    def _merged(self, new: Iterator[Any]) -> Iterable[Any]:
        if self._key is None:
            return new
        old = self._read(self._path) if self._has_content else iter(())
        return merge(old, new, self._key)


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def merge(old: Iterable[Any], new: Iterable[Any], key: Key) -> list[Any]:
    """Old values, each replaced in its place by the last new one of its key, then the others; nameless ones all stay.

    >>> merge([("a", 1), ("b", 1)], [("c", 2), ("a", 2), (None, 2)], lambda pair: pair[0])
    [('a', 2), ('b', 1), ('c', 2), (None, 2)]
    """
    named: dict[str | int, Any] = {}
    for number, value in enumerate([*old, *new]):
        name = key(value)
        named[number if name is None else name] = value
    return list(named.values())


def key_text(values: Sequence[Any]) -> str | None:
    """One text for a key's values, the same for 5 and 5.0; None where all are missing.

    >>> key_text(["https://a.example/", 5.0]), key_text([None, ""])
    ('["https://a.example/", 5]', None)
    """
    if all(value is None or value == "" for value in values):
        return None
    plain = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    return json.dumps(plain, ensure_ascii=False)


def json_key(options: SinkOptions) -> Key:
    """The key of a value in a JSON file."""

    def key(value: Any) -> str | None:
        data = value.get("data") if options.evidence and isinstance(value, dict) else value
        return key_text([data.get(name) for name in options.key]) if isinstance(data, dict) else None

    return key


def check_json_key(to: str, schema: Schema, options: SinkOptions) -> None:
    """SinkError unless every part of the key is a field of the schema."""
    root = schema.grammar_schema
    items = root.get("items") if root.get("type") == "array" else root
    fields = list(items.get("properties", {})) if isinstance(items, dict) else []
    for name in options.key:
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise SinkError(f"{to} cannot be keyed by {name!r}; the fields of the schema are: {known}.")
