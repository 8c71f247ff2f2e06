"""A piece of text -> the places where it stands in another (`Match`), whatever the white space, quotes and line breaks.

Words must be equal one by one and whole: "12" does not stand in "2012", "12.50" or "A-12", "Main" not in "Mainz".
What stands between them may differ within limits, and the match says how far.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

from lookstruct.pipeline.grounding.tokens import Token, tokenize
from lookstruct.pipeline.values.text import glued
from lookstruct.schemas.document import Span

MAX_MATCHES = 5000
"""Places of one value after which nobody looks further; fewer for long values."""
_MAX_COMPARED = 100_000
"""Words compared for one value."""


class Likeness(IntEnum):
    """How far a place differs from the value, from not at all to a little too much to pass over in silence."""

    SAME = 0  # character for character, up to white space
    SPELLING = 1  # other case, quotes, dashes, composition of accents
    SEPARATORS = 2  # commas, bars or line breaks between the same words
    PUNCTUATION = 3  # other punctuation between the same words


@dataclass(frozen=True, slots=True)
class Match:
    """One place of a value."""

    span: Span
    likeness: Likeness


_INVISIBLE = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_SPACE = re.compile(r"\s+")
_SAME_MARK = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛´`ʼ′＇", "'"),
        **dict.fromkeys("“”„‟«»″〝〞＂", '"'),
        **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
        "，": ",", "．": ".", "：": ":", "；": ";", "（": "(", "）": ")", "！": "!", "？": "?", "％": "%", "…": ".",
        "／": "/", "＃": "#", "＆": "&", "＠": "@", "＊": "*",
    }
)  # fmt: skip
_SOFT = re.compile(r"(?:[\s,;:|/·•–—-]|\.(?=\s|$)|\(|\))*")
"""Between two words: what an address, a list or a table row loses or gains when it is written in one line."""
_HARD = frozenset("#@%&*+/\\=<>-_$€£")
"""At the edge of a value: what makes it another one (C and C#, 5 and 5%)."""
_FEW = 4
"""Words from which on other punctuation between them is forgiven."""


class TextIndex:
    """A text whose words can be looked up; building it is linear, a look-up costs what `str.find` costs."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = list(tokenize(text))
        self._joined = _join(self._tokens)
        self._at: list[int] = []
        at = 1
        for token in self._tokens:
            self._at.append(at)
            at += len(token.key) + 1

    def find(self, value: str) -> tuple[Match, ...]:
        """Every place of `value`, in order.

        >>> text = "Total: 12 Main St.\\nSpringfield, 2012"
        >>> [(m.span.of(text), m.likeness.name) for m in TextIndex(text).find("12 Main St, springfield")]
        [('12 Main St.\\nSpringfield', 'SEPARATORS')]
        >>> TextIndex(text).find("12 Main St Spring"), TextIndex("A-12").find("12")
        ((), ())
        """
        tokens = list(tokenize(value))
        if not tokens:
            return tuple(self._literal(value))
        limit = min(MAX_MATCHES, _MAX_COMPARED // len(tokens) + 1)
        found = (self._match(value, tokens, first) for first in islice(self._places(_join(tokens)), limit))
        return tuple(match for match in found if match is not None)

    def _literal(self, value: str) -> Iterator[Match]:
        """Places of a value without words: a dash, stars."""
        wanted, at = value.strip(), 0
        while wanted and (at := self.text.find(wanted, at)) >= 0:
            yield Match(Span(at, at + len(wanted)), Likeness.SAME)
            at += len(wanted)

    def _places(self, wanted: str) -> Iterator[int]:
        """The numbers of the words from which on the wanted words stand."""
        at = self._joined.find(wanted)
        while at >= 0:
            yield bisect_left(self._at, at + 1)
            at = self._joined.find(wanted, at + 1)

    def _match(self, value: str, tokens: list[Token], first: int) -> Match | None:
        here = self._tokens[first : first + len(tokens)]
        likeness = _gaps(value, tokens, self.text, here)
        if likeness is None or not self._stands_alone(tokens, here[0].start, here[-1].end):
            return None
        edges = self._with_edges(value, tokens, here[0].start, here[-1].end)
        if edges is None or self._is_part_of_name(edges):
            return None
        if likeness is not Likeness.PUNCTUATION and _spaced(edges.of(self.text)) == _spaced(value):
            return Match(edges, Likeness.SAME)
        return Match(edges, max(likeness, Likeness.SPELLING))

    def _stands_alone(self, tokens: list[Token], start: int, end: int) -> bool:
        """Whether the words on both sides do not go on: letters, digits, the rest of a number or an address."""
        before, after = self._near(start - 1, -1), self._near(end, 1)
        first, last = tokens[0].key, tokens[-1].key
        if glued(first[0]) and before and glued(before[0]) and not (before[0].isdigit() and first[0].isalpha()):
            return False
        if glued(last[-1]) and after and glued(after[0]):
            return False
        if first.isdigit() and _goes_on(before, alone=len(tokens) == 1):
            return False
        return not (last.isdigit() and _goes_on(after, alone=False))

    def _is_part_of_name(self, edges: Span) -> bool:
        """Whether what touches the place makes another word of it: an address, `C#` for `C`, `5%` for `5`."""
        before, after = self._near(edges.start - 1, -1), self._near(edges.end, 1)
        return _is_address(before) or _is_address(after) or after[:1] in ("#", "%", "％", "٪") or after == "++"

    def _near(self, at: int, step: int) -> str:
        """The two characters next to a place, the nearest first, white space as it is, invisible ones left out."""
        found = ""
        while 0 <= at < len(self.text) and len(found) < 2:
            if not _INVISIBLE.match(self.text[at]):
                found += self.text[at]
            at += step
        return found

    def _with_edges(self, value: str, tokens: list[Token], start: int, end: int) -> Span | None:
        """The place with the punctuation at the value's edges, as far as the page has it; None if it must have it."""
        before, after = value[: tokens[0].start].lstrip(), value[tokens[-1].end :].rstrip()
        head = self.text[max(0, start - len(before)) : start]
        tail = self.text[end : end + len(after)]
        if before and _plain_marks(_spaced(head)) == _plain_marks(_spaced(before)):
            start -= len(before)
        elif _HARD & set(before):
            return None
        if after and _plain_marks(_spaced(tail)) == _plain_marks(_spaced(after)):
            end += len(after)
        elif _HARD & set(after):
            return None
        taken = self.text[start:end]
        return Span(end - len(taken.lstrip()), start + len(taken.rstrip()))


def _join(tokens: list[Token]) -> str:
    """Keys with a space before, between and after them: a run of whole words is found by plain search."""
    return f" {' '.join(token.key for token in tokens)} "


def _gaps(value: str, tokens: list[Token], text: str, here: list[Token]) -> Likeness | None:
    """How far what stands between the words differs; None where it makes other words of them."""
    worst = Likeness.SAME
    for number in range(len(tokens) - 1):
        wanted = value[tokens[number].end : tokens[number + 1].start]
        found = text[here[number].end : here[number + 1].start]
        if wanted != found:
            digits = tokens[number].key.isdigit() and tokens[number + 1].key.isdigit()
            likeness = _gap(_INVISIBLE.sub("", wanted), _INVISIBLE.sub("", found), digits=digits)
            if likeness is None or (likeness is Likeness.PUNCTUATION and len(tokens) < _FEW):
                return None
            worst = max(worst, likeness)
    return worst


def _gap(wanted: str, found: str, *, digits: bool) -> Likeness | None:
    """How far two gaps differ; `digits`: they stand between digits, where all but white space matters."""
    if _SPACE.sub(" ", wanted) == _SPACE.sub(" ", found):
        return Likeness.SAME
    if _plain_marks(wanted) == _plain_marks(found):
        return Likeness.SPELLING
    if digits and not (_is_break(wanted) and _is_break(found)):
        return None
    if _SOFT.fullmatch(wanted) and _SOFT.fullmatch(found):
        return Likeness.SEPARATORS
    return Likeness.PUNCTUATION


def _is_break(gap: str) -> bool:
    """Whether a gap between digits can only stand between two things: it holds white space and is soft."""
    return any(map(str.isspace, gap)) and _SOFT.fullmatch(gap) is not None


def _plain_marks(text: str) -> str:
    return _SPACE.sub(" ", text).translate(_SAME_MARK)


def _spaced(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _goes_on(near: str, *, alone: bool) -> bool:
    """Whether a number goes on beyond a mark (12 in 12.50), or hangs on to a word (12 in A-12) if it is `alone`."""
    mark, beyond = near[:1], near[1:2]
    if not mark or not beyond:
        return False
    if beyond.isdigit():
        return mark in ".,'’/:-−–٫٬"
    return alone and mark in "-_/" and beyond.isalpha()


def _is_address(near: str) -> bool:
    """Whether the value is a part of an e-mail or web address: `example` in `example.com`."""
    return near[:1] in ("@", "_") or (near[:1] == "." and near[1:2].isalpha() and near[1:2].islower())
