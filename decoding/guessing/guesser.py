"""Field + page + last copied place -> likely values (`Guess`), by type, label and nearness."""

from __future__ import annotations

import re
from math import exp
from typing import NamedTuple

from lookstruct.decoding.guessing.field_candidates import BEST, TOLD, FieldFinder, Scored
from lookstruct.decoding.guessing.field_kinds import field_name
from lookstruct.decoding.guessing.json_text import string
from lookstruct.decoding.guessing.page_text import PageText
from lookstruct.decoding.guessing.page_values import find_candidates
from lookstruct.decoding.guessing.schema_walk import Path, SchemaNode
from lookstruct.decoding.guessing.skeleton import Skeleton, literal_texts
from lookstruct.decoding.request import Candidate, Hints

_SHARPNESS = 1.6  # the power of a score that its share of belief goes with
_NULL_SHARE = {"number": 0.3, "integer": 0.35, "url": 0.35, "phone": 0.35, "text": 0.18, "date": 0.07, "line": 0.07}
"""How often an optional field of a kind is null, as far as nothing on the page speaks for a value."""
_TOLD_NULL, _UNTOLD_NULL = 0.25, 1.2
"""What the share of null is multiplied by where a label tells the value, and where none does."""
_COVERED = {"text": 0.75, "line": 0.8, "code": 0.75}
"""How often the value is among the guesses, for kinds where that is not nearly always."""
_CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY"}
_CURRENCY = re.compile("[" + re.escape("".join(_CURRENCIES)) + r"]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|SEK|NOK|DKK|PLN)\b")
_MAX_VALUE = 400
_MAX_KEPT = 2048


class Guess(NamedTuple):
    """A value as JSON, the belief that it is the one, and where on the page it ends (None: it stands nowhere)."""

    raw: bytes
    p: float
    kind: str
    end: int | None = None


class Guesser:
    """Guesses values for one page and schema; holds nothing that changes but caches."""

    def __init__(self, hints: Hints, page: PageText, skeleton: Skeleton) -> None:
        self._page = page
        self._skeleton = skeleton
        self._fields = FieldFinder(page, _merged(hints.candidates, find_candidates(page)), skeleton)
        self._ranked: dict[tuple[Path, int, bool | None], tuple[Guess, ...]] = {}
        self._currency = _main_currency(page.text)

    def ranked(self, path: Path, last: int, keeps_zeros: bool | None = None) -> tuple[Guess, ...]:
        """Guesses for the value at `path`, likeliest first; their `p` add up to less than one.

        `last` is where the page was copied from last, `keeps_zeros` how numbers were written (see `Progress`).
        """
        key = (path, last, keeps_zeros)
        found = self._ranked.get(key)
        if found is None:
            if len(self._ranked) > _MAX_KEPT:
                self._ranked.clear()
            found = self._ranked[key] = self._rank(path, last, keeps_zeros)
        return found

    def best(self, path: Path, last: int, keeps_zeros: bool | None = None) -> Guess | None:
        """The likeliest of them."""
        return next(iter(self.ranked(path, last, keeps_zeros)), None)

    def matching(self, path: Path, written: bytes, last: int) -> tuple[Guess, ...]:
        """Guesses for a value that begins with `written`, likeliest first."""
        field = self._fields.at(path)
        if not field.kind:
            closed = [raw for raw in literal_texts(self._skeleton.node(path)) if raw.startswith(written)]
            return tuple(Guess(raw, 0.9 / len(closed), "closed") for raw in closed)
        in_array = _in_array(path)
        found = [(raw, scored) for scored in field.fitting for raw in scored.raws if raw.startswith(written)]
        return _shares([(raw, s, _live(s, last, in_array)) for raw, s in found], field.kind, "begun")

    def _rank(self, path: Path, last: int, keeps_zeros: bool | None) -> tuple[Guess, ...]:
        node, field = self._skeleton.node(path), self._fields.at(path)
        if not field.kind:
            return self._closed(node, literal_texts(node))
        if "currency" in field_name(path) and node.sole == "string":
            return self._currencies()
        in_array = _in_array(path)
        options = [(_form(s.raws, keeps_zeros), s, _live(s, last, in_array)) for s in field.around(last)]
        null = _NULL_SHARE.get(field.kind, 0.1) * (_TOLD_NULL if field.told else _UNTOLD_NULL) if node.nullable else 0.0
        return _shares(options, field.kind, "", null)

    def _currencies(self) -> tuple[Guess, ...]:
        """The page's own currency, then those that models like to write."""
        codes = dict.fromkeys(filter(None, (self._currency, "EUR", "USD", "GBP")))
        ps = (0.6, 0.2, 0.1, 0.05)
        return tuple(Guess(string(code), p, "currency") for code, p in zip(codes, ps, strict=False))

    def _closed(self, node: SchemaNode, texts: list[bytes]) -> tuple[Guess, ...]:
        """Members of a closed list: those whose words stand on the page first, then the first of the list."""
        if not texts:
            return ()
        page = self._page.small
        weights = [
            (raw, (4.0 if _spoken(raw) and _spoken(raw) in page else 1.0) * (2.0 if number == 0 else 1.0))
            for number, raw in enumerate(texts)
        ]
        weights += [(b"null", 0.3)] if node.nullable else []
        total = sum(weight for _, weight in weights)
        guesses = [Guess(raw, 0.95 * weight / total, "closed") for raw, weight in weights]
        return tuple(sorted(guesses, key=lambda guess: -guess.p)[:BEST])


def _in_array(path: Path) -> bool:
    """Whether items before this one have fixed where on the page the array stands."""
    return any(type(step) is int and step > 0 for step in path)


def _live(scored: Scored, last: int, in_array: bool) -> float:
    """The score, moved by where the candidate stands: just after what was copied last is best.

    Items of an array go down the page: their fields stand in one row, and what was passed is over.
    """
    ahead = scored.candidate.start - last
    if in_array:
        return scored.score * (0.1 + 4.0 * exp(-ahead / 60.0) if ahead >= 0 else 0.3)
    return scored.score * (0.5 + 1.5 * (exp(-ahead / 160.0) if ahead >= 0 else 0.25 * exp(ahead / 400.0)))


def _shares(options: list[tuple[bytes, Scored, float]], field: str, how: str, null: float = 0.0) -> tuple[Guess, ...]:
    """Scores made beliefs: each one's share, with something left for null and for values that nobody thought of."""
    best: dict[bytes, tuple[float, Scored]] = {}
    for raw, scored, score in options:
        known = best.get(raw)
        if known is None or known[0] < score:
            best[raw] = (score, scored)
    ranked = sorted(
        ((score**_SHARPNESS, raw, scored) for raw, (score, scored) in best.items()), key=_weight, reverse=True
    )
    covered = _COVERED.get(field, 0.92) * (1.0 - null)
    total = sum(weight for weight, _, _ in ranked) / covered or 1.0
    guesses = [
        Guess(raw, weight / total, f"{field}:{how or _evidence(scored)}", _end(scored.candidate))
        for weight, raw, scored in ranked[:BEST]
    ]
    if null:
        at = next((i for i, guess in enumerate(guesses) if guess.p < null), len(guesses))
        guesses.insert(at, Guess(b"null", null, "null"))
    return tuple(guesses)


def _weight(ranked: tuple[float, bytes, Scored]) -> float:
    return ranked[0]


def _end(candidate: Candidate) -> int:
    return candidate.start + len(candidate.text)


def _evidence(scored: Scored) -> str:
    return "label" if scored.likeness >= TOLD else "hint" if scored.likeness > 0 else "place"


def _form(raws: tuple[bytes, ...], keeps_zeros: bool | None) -> bytes:
    """The way of writing a number that the record has shown so far; the page's own until it has shown one."""
    return raws[1] if keeps_zeros is False and len(raws) > 1 and raws[0][:1] != b'"' else raws[0]


def _merged(given: tuple[Candidate, ...], found: tuple[Candidate, ...]) -> list[Candidate]:
    """Both lists in page order; what was given wins over the same thing found here."""
    known = {(c.text, c.kind, c.start) for c in given}
    both = [*given, *(c for c in found if (c.text, c.kind, c.start) not in known)]
    return sorted((c for c in both if len(c.text) <= _MAX_VALUE), key=lambda c: c.start)


def _spoken(raw: bytes) -> str:
    """A closed list's member as a page would say it: `"InStock"` as "in stock"."""
    text = raw.decode().strip('"')
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", text).casefold() if raw.startswith(b'"') else ""


def _main_currency(text: str) -> str:
    """The currency that the page names most often, as an ISO code."""
    found = [_CURRENCIES.get(match.group(), match.group()) for match in _CURRENCY.finditer(text)]
    return max(dict.fromkeys(found), key=found.count) if found else ""
