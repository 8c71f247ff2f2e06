"""Drafts copied from the page: the text so far is found on the page, and what follows it there is offered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from lookstruct.decoding.cursor import decode_string, n_dangling
from lookstruct.decoding.json_text import dumps, escape
from lookstruct.decoding.skeleton import Slot, Stage
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.decoding.sources.outlook import Outlook

_LONGEST = 80  # characters of context that are looked for at most
_PLACES = 12  # places of a match that are looked at
_KEPT = 3  # places that are drafted from
_BOUNDARY = re.compile(r"[.!?](?=\s|$)|[,;:](?=\s|$)|\s[-–—|(/·•]\s?|\s\(|\n|$")
_MAX_CHARS = 320
_CHAIN_BYTES = 240


@dataclass(frozen=True, slots=True)
class _Match:
    """A place whose preceding `size` characters agree with the text so far: copying goes on at `at`."""

    at: int
    size: int
    whole: bool  # the whole value so far agrees, from a word's start


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
            text = slot.lead + opened + raw + self._beyond(Slot(slot.stage, path), end)
            yield Draft(text, p=0.3 / (number + 1), q=0.95, kind="start")

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
        size = self._longest(value)
        if size == 0:
            return []
        near, needle = self._outlook.progress.last, value[len(value) - size :]
        whole = size == len(value)
        found = [
            _Match(at + size, size, whole)
            for at in self._page.occurrences(_even(needle), near, _PLACES)
            if self._page.is_word_edge(at) or not whole
        ]
        return _distinct(found, self._page.flat)[:_KEPT]

    def _longest(self, value: str) -> int:
        """The size of the longest ending of `value` that stands on the page; 0 for less than a word's edge."""
        needle, flat = _even(value[-_LONGEST:]), self._page.flat
        if needle in flat:
            return len(needle)
        low, high = 0, len(needle)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if needle[len(needle) - middle :] in flat else (low, middle)
        return low if low >= 3 else 0

    def _comb(self, slot: Slot, match: _Match, p: float) -> Iterator[Draft]:
        """The value ends at the line's end, or at one of the next boundaries, or runs on beyond the line."""
        text, at = self._page.text, match.at
        stop = self._stop(at)
        size = "long" if match.size > 8 else "short"
        rest = text[at:stop].rstrip()
        yield Draft(escape(rest) + b'"' + self._beyond(slot, stop), p=p * 0.6, q=0.96, kind=f"line:{size}")
        ends = [cut.start() + (cut.group()[:1] in ".!?") for cut in _BOUNDARY.finditer(text, at, stop)]
        shares = [0.15, 0.08, 0.05]
        for end, share in zip([end for end in ends if end < at + len(rest)], shares, strict=False):
            yield Draft(escape(text[at:end]) + b'"' + self._beyond(slot, end), p=p * share, q=0.95, kind=f"mark:{size}")
        joined = text[stop : stop + _MAX_CHARS].lstrip("\n -")
        if joined and stop == self._page.line_end(at):
            follow = joined.split("\n", 1)[0]
            for number, glue in enumerate((", ", " ")):
                run = escape(rest + glue + follow)
                yield Draft(run, p=p * 0.06 / (number + 1), q=0.95, kind=f"on:{size}")

    def _stop(self, at: int) -> int:
        """Where the atom that `at` is in ends."""
        atom = self._page.atom_at(at)
        end = self._page.atoms[atom][1] if atom >= 0 else at
        end = end if end >= at else self._page.line_end(at)
        return min(end, at + _MAX_CHARS)

    def _beyond(self, slot: Slot, end: int) -> bytes:
        """From the value's end on."""
        return self._outlook.follow(slot.path, end, _CHAIN_BYTES)

    def _free(self, text: bytes) -> Iterator[Draft]:
        """Plain lookup for output that is not JSON: the longest ending of the text, continued as on the page."""
        tail = text[-4 * _LONGEST :].decode("utf-8", "ignore")[-_LONGEST:]
        size = self._longest(tail) if tail else 0
        if size < 4:
            return
        needle = _even(tail[len(tail) - size :])
        places = self._page.occurrences(needle, self._free_last, _PLACES)
        found = _distinct([_Match(at + size, size, False) for at in places], self._page.flat)[:_KEPT]
        for number, match in enumerate(found):
            rest = self._page.text[match.at : match.at + _MAX_CHARS]
            if rest:
                kind = "free:long" if size > 12 else "free:short"
                yield Draft(
                    rest.encode("utf-8", "replace"), p=min(0.9, 0.2 + size / 40) / (number + 1), q=0.9, kind=kind
                )
        if found:
            self._free_last = found[0].at


def _belief(match: _Match) -> float:
    """Longer agreement, from the value's own start, is likelier to go on."""
    return min(0.95, (0.5 if match.whole else 0.3) + match.size / 40)


def _even(text: str) -> str:
    return " ".join(text.split(" ")).replace("\n", " ").replace("\t", " ")


def _distinct(matches: list[_Match], flat: str) -> list[_Match]:
    """The matches that go on differently, in order."""
    kept: dict[str, _Match] = {}
    for match in matches:
        kept.setdefault(flat[match.at : match.at + 24], match)
    return list(kept.values())
