"""Drafts copied from the page: the text so far is found on the page, and what follows it there is offered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from lookstruct.decoding.cursor import decode_string, n_dangling
from lookstruct.decoding.guessing.json_text import dumps, escape
from lookstruct.decoding.guessing.page_text import fold, occurrences, plain_marks
from lookstruct.decoding.guessing.skeleton import Slot, Stage
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.decoding.sources.outlook import Fork, Outlook

_SHORTEST_FREE = 4
_LONGEST = 80  # characters of context that are looked for at most
_PLACES = 12  # places of a match that are looked at
_KEPT = 3  # places that are drafted from
_BOUNDARY = re.compile(r"[.!?](?=\s|$)|[,;:](?=\s|$)|\s[-–—|(/·•]\s?|\s\(|\n|$")
_MAX_CHARS = 320
_CASE_GAIN = 3  # characters that a match blind to case must have over an exact one
_LONG = 8  # characters of agreement from which on a match counts as long
_TO_THE_END, _AT_MARKS = 0.6, (0.15, 0.08, 0.05)
"""How often a value that is being copied ends with its line, and at the first, second and third mark before."""
_AT_WORDS_LISTED, _AT_WORDS = (0.3, 0.2, 0.1), (0.08, 0.06)
"""How often it ends after the first, second and third word from here, as an item of a list and as a field."""
_WORD_END = re.compile(r"(?<=\w)(?=\s)")
_GLUE_PROSE = ((" ", 0.2),)
_GLUE_LINES = ((", ", 0.08), (" ", 0.05))
"""What joins a line to the next within one value, and how often."""
_CHAIN_BYTES = 400
_SHORT_CHAIN_BYTES = 120
_FORKING = 0.4  # belief in a match from which on what follows is worth forking


@dataclass(frozen=True, slots=True)
class _Match:
    """A place whose preceding `size` characters agree with `said`, the end of the text so far: copying goes on at `at`.

    `whole` tells that all of the value so far agrees, from a word's start.
    """

    at: int
    size: int
    whole: bool
    said: str


class PageCopy:
    """Prompt lookup on text rather than tokens.

    Inside a string the longest ending of the value that stands on the page is continued from there, nearest to where
    the page was copied from last; at a string's start the atoms after that place are offered. Each place gives a
    comb: the value may end at the next marks, at the line's end, or run on. Without a grammar it is plain lookup.
    """

    name: ClassVar[str] = "page"

    def __init__(self, request: DraftRequest) -> None:
        self._outlook = Outlook.of(request)
        self._page = self._outlook.page
        self._free_last = 0

    def propose(self, context: DraftContext) -> Iterable[Draft]:
        """Continuations of the string under the cursor, or of free text where the output is not JSON."""
        if not self._page.text:
            return []
        if context.cursor is None:
            return list(self._free(context.text))
        slot = self._outlook.look(context)
        if slot is None or slot.stage is Stage.ENDED or not self._may_be_string(slot):
            return []
        if slot.stage is Stage.AHEAD:
            return list(self._at_start(slot))
        return list(self._inside(slot)) if slot.written.startswith(b'"') else []

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Nothing of its own: the shared outlook follows the text."""

    def _may_be_string(self, slot: Slot) -> bool:
        types = self._outlook.skeleton.node(self._outlook.skeleton.descend(slot.path)[1]).types
        return not types or "string" in types

    def _at_start(self, slot: Slot) -> Iterator[Draft]:
        """The atoms right after the last copied place, whole."""
        opened, path = self._outlook.skeleton.descend(slot.path)
        first = self._page.atom_at(self._outlook.progress.last) + 1
        for number, atom in enumerate(range(first, min(first + _KEPT, len(self._page.atoms)))):
            start, end = self._page.atoms[atom]
            raw = dumps(self._page.text[start : min(end, start + _MAX_CHARS)])
            text = slot.lead + opened + raw + self._outlook.follow(path, end, _SHORT_CHAIN_BYTES)
            yield Draft(text, p=0.15 / (number + 1), q=0.95, kind="start")

    def _inside(self, slot: Slot) -> Iterator[Draft]:
        """The comb at each place that the value so far leads to."""
        inner = slot.written[1:]
        if n_dangling(inner):
            return
        value = decode_string(inner)
        if not value:
            yield from self._atoms_inside(slot)
            return
        matches = self._matches(value)
        for number, match in enumerate(matches):
            p = _belief(match) / (1 if number == 0 else 2 * number + 1)
            yield from self._comb(slot, match, p)

    def _atoms_inside(self, slot: Slot) -> Iterator[Draft]:
        for draft in self._at_start(slot):
            yield Draft(draft.text[1:], p=draft.p, q=draft.q, kind="start")

    def _matches(self, value: str) -> list[_Match]:
        """Places that follow the longest ending of `value` on the page, the likeliest first."""
        needle, page = fold(value[-_LONGEST:]), self._page.flat
        size = _longest(needle, page)
        if size < len(needle):
            small = _longest(needle.lower(), self._page.small)
            if small > size + _CASE_GAIN:
                needle, page, size = needle.lower(), self._page.small, small
        if size == 0:
            return []
        near, whole = self._outlook.progress.last, size == len(value)
        found = [
            _Match(at + size, size, whole, value[len(value) - size :])
            for at in occurrences(page, needle[len(needle) - size :], near, _PLACES)
            if self._page.is_word_edge(at) or not whole
        ]
        return _distinct(found, self._page.flat)[:_KEPT]

    def _comb(self, slot: Slot, match: _Match, p: float) -> Iterator[Draft]:
        """The value ends at the line's end, or at one of the next marks, or runs on beyond the line."""
        stop = self._stop(match.at)
        size = "long" if match.size > _LONG else "short"
        style = _style(match.said, self._page.text[match.at - match.size : match.at])
        rest = style(self._page.text[match.at : stop].rstrip())
        whole = escape(rest) + b'"'
        main, *forks = self._ends(slot, stop, forking=p > _FORKING)
        yield Draft(whole + main.text, p=p * _TO_THE_END, q=0.96, kind=f"line:{size}")
        for fork in forks:
            yield Draft(whole + fork.text, p=p * _TO_THE_END * fork.p, q=0.97, kind="fork")
        for part, share in self._cut_at_marks(match.at, match.at + len(rest), stop):
            text = escape(style(part)) + b'"' + self._outlook.step(slot.path)
            yield Draft(text, p=p * share, q=0.95, kind=f"mark:{size}")
        yield from self._cut_at_words(slot, match, rest, p)
        if stop < match.at + _MAX_CHARS:
            for glue, follow, share in self._next_atom(stop, rest):
                yield Draft(escape(rest + glue + style(follow)), p=p * share, q=0.96, kind=f"on:{size}")

    def _cut_at_marks(self, at: int, end: int, stop: int) -> Iterator[tuple[str, float]]:
        """What stands before each of the next marks, and how likely a value is to end there."""
        text = self._page.text
        cuts = (cut.start() + (cut.group()[:1] in ".!?") for cut in _BOUNDARY.finditer(text, at, stop))
        for cut, share in zip((cut for cut in cuts if cut < end), _AT_MARKS, strict=False):
            yield text[at:cut], share

    def _cut_at_words(self, slot: Slot, match: _Match, rest: str, p: float) -> Iterator[Draft]:
        """The value ends after the word it is in, or one of the next: short phrases of a sentence do."""
        listed = isinstance(slot.path[-1], int) if slot.path else False
        shares, place = (_AT_WORDS_LISTED, "item") if listed else (_AT_WORDS, "field")
        style = _style(match.said, self._page.text[match.at - match.size : match.at])
        cuts = (cut.start() for cut in _WORD_END.finditer(rest))
        for number, (cut, share) in enumerate(zip(cuts, shares, strict=False)):
            for way in self._outlook.steps(slot.path):
                text = escape(style(rest[:cut])) + b'"' + way.text
                yield Draft(text, p=p * share * way.p, q=0.97, kind=f"word{number}:{place}")

    def _next_atom(self, stop: int, rest: str) -> Iterator[tuple[str, str, float]]:
        """The atom after the one that ends at `stop`, and what may join the two in one value."""
        following = self._page.atom_at(max(0, stop - 1)) + 1
        if following < len(self._page.atoms):
            for glue, share in _GLUE_PROSE if rest.endswith((".", "!", "?")) else _GLUE_LINES:
                yield glue, self._page.atom_text(following)[:_MAX_CHARS], share

    def _stop(self, at: int) -> int:
        """Where the atom that `at` is in ends."""
        atom = self._page.atom_at(at)
        end = self._page.atoms[atom][1] if atom >= 0 else at
        end = end if end >= at else self._page.line_end(at)
        return min(end, at + _MAX_CHARS)

    def _ends(self, slot: Slot, end: int, *, forking: bool) -> list[Fork]:
        """What follows if the value ends at `end` on the page."""
        if forking:
            return self._outlook.branches(slot.path, end, _CHAIN_BYTES, self.name)
        return [Fork(self._outlook.follow(slot.path, end, _SHORT_CHAIN_BYTES), 1.0)]

    def _free(self, text: bytes) -> Iterator[Draft]:
        """Plain lookup for output that is not JSON: the longest ending of the text, continued as on the page."""
        tail = text[-4 * _LONGEST :].decode("utf-8", "ignore")[-_LONGEST:]
        needle = fold(tail)
        size = _longest(needle, self._page.flat) if needle else 0
        if size < _SHORTEST_FREE:
            return
        places = occurrences(self._page.flat, needle[len(needle) - size :], self._free_last, _PLACES)
        found = _distinct([_Match(at + size, size, False, "") for at in places], self._page.flat)[:_KEPT]
        for number, match in enumerate(found):
            rest = self._page.text[match.at : match.at + _MAX_CHARS]
            if rest:
                p, kind = min(0.9, 0.2 + size / 40) / (number + 1), "free:long" if size > _LONG else "free:short"
                yield Draft(rest.encode("utf-8", "replace"), p=p, q=0.9, kind=kind)
        if found:
            self._free_last = found[0].at


def _belief(match: _Match) -> float:
    """Longer agreement, from the value's own start, is likelier to go on."""
    return min(0.95, (0.5 if match.whole else 0.3) + match.size / 40)


def _longest(needle: str, page: str) -> int:
    """The size of the longest ending of `needle` that stands on the page; 0 for fewer than three characters."""
    if needle in page:
        return len(needle)
    low, high = 0, len(needle)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needle[len(needle) - middle :] in page else (low, middle)
    return low if low >= 3 else 0


def _style(said: str, shown: str) -> Callable[[str], str]:
    """How the model writes what the page shows: as it is, with plain quotation marks, or in other letters."""
    if said == shown:
        return str
    if said == plain_marks(shown):
        return plain_marks
    if said.islower():
        return str.lower
    return str.upper if said.isupper() and not shown.isupper() else str


def _distinct(matches: list[_Match], flat: str) -> list[_Match]:
    """The matches that go on differently, in order."""
    kept: dict[str, _Match] = {}
    for match in matches:
        kept.setdefault(flat[match.at : match.at + 24], match)
    return list(kept.values())
