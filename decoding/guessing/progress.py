"""Record so far -> its finished values, and where on the page each of them was probably taken from."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property

from lookstruct.decoding.cursor import JsonReader
from lookstruct.decoding.guessing.json_text import plain_number
from lookstruct.decoding.guessing.page_text import PageText
from lookstruct.decoding.guessing.page_values import find_candidates
from lookstruct.decoding.guessing.schema_walk import Path
from lookstruct.decoding.request import Hints

_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_DATES = 6  # dates that a next one may be like
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class Done:
    """A finished leaf value: `raw` as written, `start` its offset on the page (None where it was not found)."""

    path: Path
    value: str | float | bool | None
    raw: bytes
    start: int | None
    end: int | None


class ValueRecorder(JsonReader):
    """A reader that notes each value as it ends: its path, where it began, where it ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[tuple[Path, int, int]] = []

    def _end_value(self) -> None:
        super()._end_value()
        self.ended.append((self._path, self._start, self._n))


class Progress:
    """Follows one growing text; `last` is where the page was last copied from (the end of that value).

    Values on a page stand mostly in the order of the record's fields, so the place after the last one is the best
    place to look for the next.
    """

    def __init__(self, hints: Hints, page: PageText) -> None:
        self.page = page
        self.last = page.body
        self.keeps_zeros: bool | None = None  # whether numbers were written as 15.00 rather than 15 or 15.0
        self.done: dict[Path, Done] = {}
        self.items: dict[Path, dict[int, dict[Path, Done]]] = {}  # array -> index -> place in the item -> value
        self.n_done: Counter[Path] = Counter()  # array -> finished values in it
        self._numbers: dict[float, list[tuple[int, str]]] = defaultdict(list)
        self._texts: dict[str, list[int]] = defaultdict(list)
        for candidate in (*hints.candidates, *find_candidates(page)):
            self._texts[candidate.text].append(candidate.start)
            plain = plain_number(candidate.text) if candidate.kind in ("number", "price") else None
            if plain is not None:
                self._numbers[float(plain)].append((candidate.start, plain))
        self._recorder = ValueRecorder()
        self._seen = b""

    def update(self, text: bytes) -> None:
        """Take in `text`, all that was generated; a text that does not continue the last one starts afresh."""
        n = self._recorder.n_bytes
        if not text.startswith(self._seen):
            self._restart()
            n = 0
        if len(text) == n:
            return
        self._recorder.feed(text[n:])
        self._seen = text
        for path, start, end in self._recorder.ended:
            self._note(path, text[start:end])
        self._recorder.ended.clear()

    def offers(self, text: str) -> bool:
        """Whether the page has `text` as a candidate, or a candidate of the same number."""
        if text in self._texts:
            return True
        plain = plain_number(text)
        return plain is not None and plain == text.rstrip("0").rstrip(".") and float(plain) in self._numbers

    def date_stems(self) -> list[str]:
        """Year and month of the date written last, and the year that the page names most."""
        dates = [done.value for done in self.done.values() if isinstance(done.value, str) and _ISO.match(done.value)]
        stems = [dates[-1][:8]] if dates else []
        return [*stems, *([f"{self._year}-"] if self._year else [])]

    def last_dates(self) -> list[str]:
        """The dates written last, without repeats, the latest first."""
        dates = [done.value for done in self.done.values() if isinstance(done.value, str) and _ISO.match(done.value)]
        return list(dict.fromkeys(reversed(dates[-_DATES:])))

    @cached_property
    def _year(self) -> str:
        years = Counter(_YEAR.findall(self.page.text))
        return max(years, key=lambda year: years[year], default="")

    def _restart(self) -> None:
        self._recorder, self._seen = ValueRecorder(), b""
        self.last, self.keeps_zeros = self.page.body, None
        self.done.clear()
        self.items.clear()
        self.n_done.clear()

    def _note(self, path: Path, raw: bytes) -> None:
        if raw[:1] in (b"{", b"["):
            return
        try:
            value = json.loads(raw)
        except ValueError:
            return
        start, end = self._locate(value)
        done = self.done[path] = Done(path, value, raw, start, end)
        for depth, step in enumerate(path):
            if isinstance(step, int):
                self.items.setdefault(path[:depth], {}).setdefault(step, {})[path[depth + 1 :]] = done
                self.n_done[path[:depth]] += 1
        if end is not None:
            self.last = end
        if isinstance(value, int | float) and not isinstance(value, bool):
            self._note_zeros(float(value), raw)

    def _note_zeros(self, value: float, raw: bytes) -> None:
        """Whether zeros at the end were kept, where the page has some to keep."""
        if any("." in plain and plain.endswith("0") for _, plain in self._numbers.get(value, ())):
            self.keeps_zeros = b"." in raw and raw.endswith(b"0")

    def _locate(self, value: object) -> tuple[int | None, int | None]:
        """Where the value stands on the page, nearest after the last place."""
        if isinstance(value, str) and value.strip():
            size, found = len(value), self.page.find(value, max(self.last, self.page.body))
            if found is None:
                found = _nearest(self._texts.get(value, []), self.last)
            return (None, None) if found is None else (found, found + size)
        if isinstance(value, int | float) and not isinstance(value, bool):
            found = _nearest([start for start, _ in self._numbers.get(float(value), ())], self.last)
            return (None, None) if found is None else (found, self.page.word_end(found))
        return None, None


def _nearest(starts: list[int], last: int) -> int | None:
    """The first start after `last`, else the last one before it."""
    later = [start for start in starts if start >= last]
    return min(later) if later else max(starts, default=None)
