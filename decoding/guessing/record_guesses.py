"""Guesses of the whole record (page metadata, past records) -> what they say at a path, and how far to trust them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from lookstruct.decoding.guessing.guesser import Guess
from lookstruct.decoding.guessing.json_text import dumps, key_text, number_forms
from lookstruct.decoding.guessing.page_text import PageText
from lookstruct.decoding.guessing.progress import Done, Progress
from lookstruct.decoding.guessing.schema_walk import Path
from lookstruct.decoding.guessing.skeleton import Skeleton
from lookstruct.decoding.request import Hints

_MAX_GUESSES = 3
_MAX_BYTES = 900
_PRIOR = {"here": 0.65, "fixed": 0.6, "absent": 0.15}
"""Belief in a guessed value before any is seen: one that stands on the page, one that is no text of a page (null, a
boolean, an enum member), one that should stand on the page and does not."""
_PRIOR_WEIGHT = 3.0
_LATER_GUESS = 0.5  # what belief in the second guess is, against the first
_MISSING = object()


class RecordGuesses:
    """What the guessed records say; the more of their values came true, the more the others are believed.

    A wrong value costs only itself: after it a guess is taken up again at the next key.
    """

    def __init__(self, hints: Hints, page: PageText, skeleton: Skeleton, progress: Progress) -> None:
        self._records = [guess for guess in hints.guesses if isinstance(guess, Mapping | list)][:_MAX_GUESSES]
        self._page = page
        self._skeleton = skeleton
        self._progress = progress
        self._on_page: dict[str, bool] = {}
        self._seen: set[Path] = set()
        self._hits: dict[str, float] = defaultdict(float)
        self._trials: dict[str, int] = defaultdict(int)

    def __bool__(self) -> bool:
        return bool(self._records)

    def update(self) -> None:
        """Compare the finished values with the likeliest guess."""
        if len(self._progress.done) < len(self._seen):
            self._seen.clear()
        for path, done in self._progress.done.items() if self._records else ():
            if path not in self._seen:
                self._seen.add(path)
                self._compare(path, done)

    def _compare(self, path: Path, done: Done) -> None:
        value = _value_at(self._records[0], path)
        if value is not _MISSING and not isinstance(value, Mapping | list):
            kind = self._kind(value, path)
            self._trials[kind] += 1
            self._hits[kind] += done.raw in self._forms(value, path)

    def at(self, path: Path) -> Iterator[Guess]:
        """What each record holds at `path`, in each of its forms; containers whole."""
        for number, record in enumerate(self._records):
            value = _value_at(record, path)
            if value is _MISSING:
                continue
            kind = self._kind(value, path)
            p = self._trust(kind) * _LATER_GUESS**number
            for raw in self._forms(value, path):
                if len(raw) <= _MAX_BYTES:
                    yield Guess(raw, p, kind)
                p *= 0.3

    def best(self, path: Path) -> Guess | None:
        """The likeliest of them."""
        return next(self.at(path), None) if self._records else None

    def n_items(self, array: Path) -> int | None:
        """How many items the likeliest record has in an array, None if it has no such array."""
        value = _value_at(self._records[0], array) if self._records else None
        return len(value) if isinstance(value, list) else None

    def _trust(self, kind: str) -> float:
        """The belief in a kind of value: prior and experience."""
        return (_PRIOR[kind] * _PRIOR_WEIGHT + self._hits[kind]) / (_PRIOR_WEIGHT + self._trials[kind])

    def _kind(self, value: Any, path: Path) -> str:
        node = self._skeleton.node(path)
        if value is None or isinstance(value, bool) or node.enum or node.source == "computed":
            return "fixed"
        if isinstance(value, Mapping | list):
            leaves = [leaf for leaf in _leaves(value) if leaf is not None and not isinstance(leaf, bool)]
            return "here" if all(self._stands(str(leaf)) for leaf in leaves[:4]) else "absent"
        return "here" if self._stands(str(value)) else "absent"

    def _stands(self, text: str) -> bool:
        if text not in self._on_page:
            self._on_page[text] = self._page.find(text) is not None or self._progress.offers(text)
        return self._on_page[text]

    def _forms(self, value: Any, path: Path) -> tuple[bytes, ...]:
        """The value as JSON in the schema's key order; numbers in each of their forms."""
        node = self._skeleton.node(path)
        if node.only("integer", "number"):
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                return (b"null",) if value is None else ()
            forms = [form.encode() for form in number_forms(str(value), integer=node.only("integer"))]
            cents = [b"%.2f" % float(forms[0])] if forms and not node.only("integer") else []
            return tuple(dict.fromkeys([*cents, *forms] if self._progress.keeps_zeros else [*forms, *cents]))
        return (self._written(value, path),)

    def _written(self, value: Any, path: Path) -> bytes:
        if isinstance(value, Mapping):
            keys = self._skeleton.node(path).keys or tuple(value)
            return b"{" + b", ".join(key_text(k) + self._written(value.get(k), (*path, k)) for k in keys) + b"}"
        if isinstance(value, list):
            return b"[" + b", ".join(self._written(item, (*path, i)) for i, item in enumerate(value)) + b"]"
        if self._skeleton.node(path).only("integer", "number"):
            return next(iter(self._forms(value, path)), b"null")
        return dumps(value)


def _value_at(value: Any, path: Path) -> Any:
    """What stands at `path` in a plain record, `_MISSING` where there is nothing."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step, _MISSING) if isinstance(value, Mapping) else _MISSING
        else:
            value = value[step] if isinstance(value, list) and step < len(value) else _MISSING
        if value is _MISSING:
            break
    return value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value
