"""Which values an atom of the page can give, and by which reading (`Reader`): the whole of it, its second number..."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from lookstruct.decoding.json_text import plain_number
from lookstruct.decoding.page_text import PageText, plain_marks
from lookstruct.decoding.page_values import find_candidates
from lookstruct.decoding.request import Candidate

_PARTS = re.compile(r"\s*(?:[,;:/()]|[-–—×]|\bx\b)\s+|\s*[()]\s*")
_MOST_PARTS = 5
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
        self._index: dict[str, list[Place]] | None = None

    def read(self, atom: int, reader: Reader) -> str | None:
        """What `reader` reads there, None where there is no such thing."""
        return self.readings(atom).get(reader)

    def readings(self, atom: int) -> dict[Reader, str]:
        """Everything that can be read off an atom, plainest first."""
        if atom not in self._readings:
            self._readings[atom] = self._read(atom)
        return self._readings[atom]

    def places(self, value: str) -> list[Place]:
        """Where `value` can be read, in page order; numbers compare as numbers."""
        if self._index is None:
            index: dict[str, list[Place]] = defaultdict(list)
            for atom in range(len(self.page.atoms)):
                for reader, text in self.readings(atom).items():
                    index[_key(text, reader)].append(Place(atom, reader))
            self._index = index
        return self._index.get(_fold(value), [])

    def number_places(self, value: float) -> list[Place]:
        """Where the number can be read, in page order."""
        self.places("")
        assert self._index is not None, "places() builds it"
        return self._index.get(_number_key(value), [])

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


def _key(text: str, reader: Reader) -> str:
    if reader.kind in (*_NUMBERS, "any number"):
        plain = plain_number(text)
        return _number_key(float(plain)) if plain is not None else _fold(text)
    return _fold(text)


def _number_key(value: float) -> str:
    return f"\0{value:.10g}"


@lru_cache(maxsize=4096)
def _fold(text: str) -> str:
    return plain_marks(" ".join(text.split())).casefold()
