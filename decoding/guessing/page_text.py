"""The page's text as sources search it: offsets kept, white space evened out, cut into lines and atoms.

An atom is what a value tends to be: a line without its marker (`# `, `- `, `[ ] `), a cell of a row, a link's address
behind its text. Every offset is a code point offset into the text given. Searching is by `str.find`, which scans
200,000 characters in tens of microseconds, so nothing is indexed but lines and atoms.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

_SPACE = re.compile(r"\s")
_MARKER = re.compile(r"\s*((?:#{1,6}|[-*•])(?=\s)|\[[ xX]?\])\s*(?:\[[ xX]?\]\s*)?")
_CUT = re.compile(r"\t| [|·•│] | {3,}")
_LINK = re.compile(r" \(((?:https?://|mailto:|tel:|/)[^\s)]*)\)")
_MAX_TRIES = 24
_PLAIN = str.maketrans("\u2018\u2019\u201a\u201c\u201d\u201e\u2010\u2011\u2012\u2013\u2212\u00b4", "'''\"\"\"-----'")


def fold(text: str) -> str:
    r"""White space, quotation marks and dashes made plain, one for one, so that offsets stay.

    >>> fold("Mare\u00a0\u2019l \u2013\n")
    "Mare 'l - "
    """
    return plain_marks(_SPACE.sub(" ", text))


def plain_marks(text: str) -> str:
    """Quotation marks and dashes as a keyboard has them."""
    return text.translate(_PLAIN)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: atoms `first` to `last` (exclusive); `marker` is "##", "-", "[ ]" or "", `shape` tells alike lines."""

    first: int
    last: int
    marker: str

    @property
    def shape(self) -> tuple[str, int]:
        """The marker and the number of atoms: rows of one table, items of one list have the same."""
        return self.marker, self.last - self.first


class PageText:
    """One page's text.

    >>> page = PageText("# Pump  seal\\nSeal | 4\\nTotal:\\u00a012.00")
    >>> page.find("Total: 12"), page.atoms, [line.shape for line in page.lines]
    (22, [(2, 12), (13, 17), (20, 21), (22, 34)], [('#', 1), ('', 2), ('', 1)])
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = fold(text)

    @cached_property
    def small(self) -> str:
        """The folded text in small letters; as it is where that would move offsets."""
        small = self.flat.lower()
        return small if len(small) == len(self.flat) else self.flat

    @cached_property
    def atoms(self) -> list[tuple[int, int]]:
        """[start, end) of every atom, white space around it left out."""
        return [atom for _, atoms in self._rows for atom in atoms]

    @cached_property
    def lines(self) -> list[Line]:
        """The lines that hold at least one atom."""
        found: list[Line] = []
        for marker, atoms in self._rows:
            first = found[-1].last if found else 0
            found.append(Line(first, first + len(atoms), marker))
        return found

    @cached_property
    def body(self) -> int:
        """Where the text behind the page's title begins: at the second first-level heading, else at the start."""
        tops = [line for line in self.lines if line.marker == "#"]
        return self.atoms[tops[1].first][0] if len(tops) > 1 and tops[0].first == 0 else 0

    @cached_property
    def _rows(self) -> list[tuple[str, list[tuple[int, int]]]]:
        rows: list[tuple[str, list[tuple[int, int]]]] = []
        at = 0
        for line in self.text.split("\n"):
            marker = _MARKER.match(line)
            body = marker.end() if marker is not None else 0
            cells = _stripped(line, body, len(line)) if line.startswith("#") else _atoms(line, body)
            atoms = [(at + start, at + end) for start, end in cells]
            if atoms:
                rows.append((marker.group(1) if marker is not None else "", atoms))
            at += len(line) + 1
        return rows

    @cached_property
    def atom_starts(self) -> list[int]:
        """Where each atom starts, ascending."""
        return [start for start, _ in self.atoms]

    @cached_property
    def _line_firsts(self) -> list[int]:
        return [line.first for line in self.lines]

    def atom_at(self, offset: int) -> int:
        """Index of the last atom that starts at or before `offset`, -1 before the first."""
        return bisect_right(self.atom_starts, offset) - 1

    def line_of(self, atom: int) -> int:
        """Index of the line that atom stands in."""
        return bisect_right(self._line_firsts, atom) - 1

    def atom_text(self, atom: int) -> str:
        """The text of an atom."""
        start, end = self.atoms[atom]
        return self.text[start:end]

    def find(self, value: str, near: int = 0) -> int | None:
        """Where `value` stands as whole words, once both are folded: first after `near`, else anywhere before it."""
        needle = fold(value)
        after = self._find_words(needle, near)
        return after if after is not None or near <= 0 else self._find_words(needle, 0)

    def _find_words(self, needle: str, at: int) -> int | None:
        if not needle:
            return None
        for _ in range(_MAX_TRIES):
            at = self.flat.find(needle, at)
            if at < 0:
                return None
            if self.is_word_edge(at) and self.is_word_edge(at + len(needle)):
                return at
            at += 1
        return None

    def is_word_edge(self, offset: int) -> bool:
        """Whether no run of letters and digits is cut at `offset` (scripts without spaces may be cut anywhere)."""
        flat = self.flat
        if not 0 < offset < len(flat):
            return True
        return not (flat[offset - 1].isalnum() and flat[offset].isalnum()) or flat[offset] >= "\u2e80"

    def word_end(self, start: int) -> int:
        """The end of the run without white space that begins at `start`."""
        end = self.flat.find(" ", start)
        return len(self.flat) if end < 0 else end

    def line_end(self, offset: int) -> int:
        """The end of the line that `offset` is in."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end


def _atoms(line: str, body: int) -> Iterator[tuple[int, int]]:
    """The atoms of one line from offset `body` on."""
    edges = [(cut.start(), cut.end()) for cut in _CUT.finditer(line, body)]
    for start, end in zip([body, *(after for _, after in edges)], [*(cut for cut, _ in edges), len(line)], strict=True):
        at = start
        for link in _LINK.finditer(line, start, end):
            yield from _stripped(line, at, link.start())
            yield link.span(1)
            at = link.end()
        yield from _stripped(line, at, end)


def _stripped(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    inside = line[start:end]
    body = inside.strip()
    if body:
        at = start + inside.index(body)
        yield at, at + len(body)


@lru_cache(maxsize=8)
def page_text(text: str) -> PageText:
    """The `PageText` of `text`, shared by all who ask for the same page."""
    return PageText(text)


def occurrences(text: str, needle: str, near: int, limit: int) -> list[int]:
    """Up to `limit` places of `needle` in `text`: those after `near` first, then those before it.

    >>> occurrences("a b a b a", "a", 3, 5)
    [4, 8, 0]
    """
    found: list[int] = []
    for begin, end in ((near, len(text)), (0, min(len(text), near + len(needle) - 1))):
        at = text.find(needle, begin, end)
        while at >= 0 and len(found) < limit:
            found.append(at)
            at = text.find(needle, at + 1, end)
    return found
