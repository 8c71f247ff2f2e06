"""Which values an atom of the page can give, and by which reading (`Reader`): the whole of it, its second number..."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import NamedTuple

from lookstruct.decoding.guessing.json_text import plain_number
from lookstruct.decoding.guessing.page_text import PageText, fold, occurrences, plain_marks
from lookstruct.decoding.guessing.page_values import find_candidates
from lookstruct.decoding.request import Candidate

_PARTS = re.compile(r"\s*(?:[,;:/()]|[-–—×]|\bx\b)\s+|\s*[()]\s*")
_MOST_PARTS = 5
_MOST_PLACES = 48
_NUMBERS = ("number", "price")


class Reader(NamedTuple):
    """A way to read a value off an atom: the `n`th of its `kind` ("text" has one; "part" is cut at punctuation).

    `n` is counted from the end where it is negative.
    """

    kind: str
    n: int


class Place(NamedTuple):
    """A value's place: the atom, and how it is read there."""

    atom: int
    reader: Reader


class AtomValues:
    """Reads atoms both ways: value -> places, and place -> value.

    >>> values = AtomValues(PageText("Seal kit | 3 x £4.50\\nPump | 1 x £90.00"))
    >>> values.number_places(90.0)[0], values.read(1, Reader("price", 0))
    (Place(atom=3, reader=Reader(kind='price', n=0)), '4.50')
    """

    def __init__(self, page: PageText, given: tuple[Candidate, ...] = ()) -> None:
        self.page = page
        typed = [*given, *find_candidates(page)]
        self._typed = sorted((c for c in typed if c.kind not in ("line", "heading")), key=lambda c: c.start)
        self._starts = [candidate.start for candidate in self._typed]
        self._readings: dict[int, dict[Reader, str]] = {}

    def read(self, atom: int, reader: Reader) -> str | None:
        """What `reader` reads there, None where there is no such thing."""
        return self.readings(atom).get(reader)

    def readings(self, atom: int) -> dict[Reader, str]:
        """Everything that can be read off an atom, plainest first."""
        if atom not in self._readings:
            self._readings[atom] = self._read(atom)
        return self._readings[atom]

    def places(self, value: str) -> list[Place]:
        """Where a text can be read, in page order, as far as it is among the first `_MOST_PLACES` that hold it."""
        wanted = _fold(value)
        if not wanted:
            return []
        small = self.page.small
        starts = [*self._by_text.get(wanted, ()), *occurrences(small, fold(value.strip()).lower(), 0, _MOST_PLACES)]
        if not starts:  # it may be put together from several cells: then the first word stands in the first
            starts = occurrences(small, wanted.split(" ")[0], 0, _MOST_PLACES)
        return self._where(starts, lambda _, text: _fold(text) == wanted)

    def number_places(self, value: float) -> list[Place]:
        """Where a number can be read, in page order, whatever its notation."""
        return self._where(self._by_number.get(value, ()), lambda reader, text: _is_number(reader, text, value))

    def _where(self, starts: Iterable[int], fits: Callable[[Reader, str], bool]) -> list[Place]:
        """The readings that fit, of the atoms around these places of the page."""
        atoms = sorted({atom for start in starts if (atom := self.page.atom_at(start)) >= 0})
        return [
            Place(atom, reader) for atom in atoms for reader, text in self.readings(atom).items() if fits(reader, text)
        ]

    @cached_property
    def _by_text(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for candidate in self._typed:
            found[_fold(candidate.text)].append(candidate.start)
        return found

    @cached_property
    def _by_number(self) -> dict[float, list[int]]:
        found: dict[float, list[int]] = defaultdict(list)
        for candidate in self._typed:
            plain = plain_number(candidate.text) if candidate.kind in (*_NUMBERS, "cell") else None
            if plain is not None:
                found[float(plain)].append(candidate.start)
        return found

    def _read(self, atom: int) -> dict[Reader, str]:
        start, end = self.page.atoms[atom]
        text = self.page.text[start:end]
        found: dict[Reader, str] = {Reader("text", 0): text}
        counts: dict[str, int] = defaultdict(int)
        numbers: list[str] = []
        for candidate in self._typed[bisect_left(self._starts, start) : bisect_left(self._starts, end)]:
            if candidate.text == text:
                continue
            found[Reader(candidate.kind, counts[candidate.kind])] = candidate.text
            counts[candidate.kind] += 1
            if candidate.kind in _NUMBERS:
                numbers.append(candidate.text)
        if (plain := plain_number(text)) is not None and not numbers:
            numbers = [plain]
        for n, number in enumerate(numbers):
            found[Reader("any number", n)] = number
        found.update(_parts(text))
        line = self.page.lines[self.page.line_of(atom)]
        if atom == line.first and line.last - line.first > 1:
            found[Reader("row", 0)] = " ".join(map(self.page.atom_text, range(line.first, line.last)))
        return found


def _parts(text: str) -> dict[Reader, str]:
    """The pieces of a text between its marks, counted from both ends, and what is left without the first or last."""
    cuts = list(_PARTS.finditer(text))
    if not 0 < len(cuts) <= _MOST_PARTS:
        return {}
    edges = [0, *(edge for cut in cuts for edge in cut.span()), len(text)]
    pieces = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    found = {Reader("part", n): piece for n, piece in enumerate(pieces)}
    found.update({Reader("part", n - len(pieces)): piece for n, piece in enumerate(pieces)})
    found[Reader("rest", 0)] = text[cuts[0].end() :]
    found[Reader("head", 0)] = text[: cuts[-1].start()]
    return {reader: piece for reader, piece in found.items() if piece}


def _is_number(reader: Reader, text: str, value: float) -> bool:
    if reader.kind not in (*_NUMBERS, "any number"):
        return False
    plain = plain_number(text)
    return plain is not None and float(plain) == value


@lru_cache(maxsize=4096)
def _fold(text: str) -> str:
    return plain_marks(" ".join(text.split())).casefold()
