"""Field + page -> likely values (`Guess`), by type, label and nearness."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from math import exp

from lookstruct.decoding.field_words import similarity, words
from lookstruct.decoding.json_text import dumps, number_forms
from lookstruct.decoding.page_text import PageText
from lookstruct.decoding.page_values import find_candidates, time_forms
from lookstruct.decoding.request import Candidate, Hints
from lookstruct.decoding.schema_walk import Path, SchemaNode
from lookstruct.decoding.skeleton import Skeleton, literal_texts
from lookstruct.decoding.suitability import Suitability

_FITS: dict[str, dict[str, float]] = {
    "date": {"date": 1.0},
    "number": {"price": 1.0, "number": 0.7, "percent": 0.15},
    "integer": {"number": 1.0, "price": 0.3, "percent": 0.1},
    "email": {"email": 1.0},
    "url": {"url": 1.0},
    "phone": {"phone": 1.0},
    "duration": {"duration": 1.0},
    "time": {"time": 1.0},
    "code": {"code": 1.0, "cell": 0.7, "line": 0.1, "heading": 0.1, "phone": 0.1},
    "line": {"cell": 0.7, "line": 1.0, "heading": 0.4},
    "text": {"cell": 1.0, "line": 0.6, "heading": 0.8, "code": 0.2, "time": 0.1, "price": 0.05},
}
"""For each kind of field, how well each kind of candidate fits it."""
_PRICED = {("price", True): 1.5, ("number", True): 0.4, ("price", False): 0.6, ("number", False): 1.2}
"""How a number's kind fits, by whether the field's name speaks of prices."""
_SHARPNESS = 1.6
_CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY"}
_CURRENCY = re.compile("[" + re.escape("".join(_CURRENCIES)) + r"]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|SEK|NOK|DKK|PLN)\b")
_NULL_SHARE = {"number": 0.3, "integer": 0.35, "url": 0.35, "phone": 0.35, "text": 0.18, "date": 0.07, "line": 0.07}
"""How often an optional field of a kind is null, as far as nothing on the page speaks for a value."""
_TOLD_NULL, _UNTOLD_NULL = 0.25, 1.2
"""What the share of null is multiplied by where a label tells the value, and where none does."""
_COVERED = {"text": 0.75, "line": 0.8, "code": 0.75}
"""How often the value is among the guesses, for kinds where that is not nearly always."""
_BEST_STATIC = 12
_NEXT_ON_PAGE = 8
_MAX_VALUE = 400
_MAX_KEPT = 2048
_NAMED_LINE = 80
_SURE = 0.9
_LEADS = re.compile(r"(?<=\w)[:.]?\s+(?=\S)")
_TOLD = 0.6  # likeness from which on a label tells what a value is


@dataclass(frozen=True, slots=True)
class Guess:
    """A value as JSON, the belief that it is the one, and where on the page it ends (None: it stands nowhere)."""

    raw: bytes
    p: float
    kind: str
    end: int | None = None


@dataclass(frozen=True, slots=True)
class _Scored:
    """A candidate as one field sees it: `score` leaves out where the page is being copied from."""

    candidate: Candidate
    raws: tuple[bytes, ...]
    score: float
    likeness: float


class _Field:
    """What one field of the schema could hold: its fitting candidates in page order and the best of them."""

    def __init__(self, kind: str, fitting: list[_Scored]) -> None:
        self.kind = kind
        self.fitting = fitting
        self.starts = [scored.candidate.start for scored in fitting]
        self.best = sorted(fitting, key=lambda scored: -scored.score)[:_BEST_STATIC]

    def around(self, last: int) -> list[_Scored]:
        """The best by label and the next ones on the page."""
        at = bisect_left(self.starts, last)
        nearby = self.fitting[at : at + _NEXT_ON_PAGE]
        return [*self.best, *(scored for scored in nearby if scored not in self.best)]


class Guesser:
    """Guesses values for one page and schema; holds nothing that changes but caches."""

    def __init__(self, hints: Hints, page: PageText, skeleton: Skeleton) -> None:
        self._page = page
        self._skeleton = skeleton
        self._candidates = _merged(hints.candidates, find_candidates(page))
        self._fields: dict[Path, _Field] = {}
        self._ranked: dict[tuple[Path, int, bool | None], tuple[Guess, ...]] = {}
        self._currency = _main_currency(page.text)

    def field_kind(self, path: Path) -> str:
        """The kind of field at `path`: a key of the fit table, or "" for objects, arrays and closed lists."""
        return _field_kind(self._skeleton.node(path), _name(path))

    def ranked(self, path: Path, last: int, keeps_zeros: bool | None = None) -> tuple[Guess, ...]:
        """Guesses for the value at `path`, likeliest first; their `p` add up to less than one.

        `last` is where the page was copied from last, `keeps_zeros` how numbers were written (see `Progress`).
        """
        key = (path, last, keeps_zeros)
        if key not in self._ranked:
            if len(self._ranked) > _MAX_KEPT:
                self._ranked.clear()
            self._ranked[key] = self._rank(path, last, keeps_zeros)
        return self._ranked[key]

    def best(self, path: Path, last: int, keeps_zeros: bool | None = None) -> Guess | None:
        """The likeliest of them."""
        return next(iter(self.ranked(path, last, keeps_zeros)), None)

    def matching(self, path: Path, written: bytes, last: int) -> tuple[Guess, ...]:
        """Guesses for a value that begins with `written`, likeliest first."""
        field = self._field(path)
        if not field.kind:
            closed = [raw for raw in literal_texts(self._skeleton.node(path)) if raw.startswith(written)]
            return tuple(Guess(raw, 0.9 / len(closed), "closed") for raw in closed)
        found = [(raw, scored) for scored in field.fitting for raw in scored.raws if raw.startswith(written)]
        return _weighed([(raw, s, self._live(s, path, last)) for raw, s in found], field.kind, "begun")

    def _rank(self, path: Path, last: int, keeps_zeros: bool | None) -> tuple[Guess, ...]:
        node, field = self._skeleton.node(path), self._field(path)
        if not field.kind:
            return self._closed(node, literal_texts(node))
        if "currency" in _name(path) and node.only("string"):
            return self._currencies(node)
        options = [(_form(s.raws, keeps_zeros), s, self._live(s, path, last)) for s in field.around(last)]
        told = max((s.likeness for s in field.best), default=0.0)
        null = _NULL_SHARE.get(field.kind, 0.1) * (_TOLD_NULL if told >= _TOLD else _UNTOLD_NULL) if node.nullable else 0.0
        return _weighed(options, field.kind, "", null)

    def _currencies(self, node: SchemaNode) -> tuple[Guess, ...]:
        """The page's own currency, then those that models like to write."""
        codes = dict.fromkeys(filter(None, (self._currency, "EUR", "USD", "GBP")))
        ps = (0.6, 0.2, 0.1, 0.05)
        return tuple(Guess(dumps(code), p, "currency") for code, p in zip(codes, ps, strict=False))

    def _closed(self, node: SchemaNode, texts: list[bytes]) -> tuple[Guess, ...]:
        """Members of a closed list: those whose words stand on the page first, then the first of the list."""
        if not texts:
            return ()
        page = self._page.flat.casefold()
        weights = [
            (raw, (4.0 if _spoken(raw) and _spoken(raw) in page else 1.0) * (2.0 if number == 0 else 1.0))
            for number, raw in enumerate(texts)
        ]
        weights += [(b"null", 0.3)] if node.nullable else []
        total = sum(weight for _, weight in weights)
        guesses = [Guess(raw, 0.95 * weight / total, "closed") for raw, weight in weights]
        return tuple(sorted(guesses, key=lambda guess: -guess.p)[:_BEST_STATIC])

    def _field(self, path: Path) -> _Field:
        generic = tuple(step if isinstance(step, str) else 0 for step in path)
        if generic not in self._fields:
            self._fields[generic] = self._make_field(generic)
        return self._fields[generic]

    def _make_field(self, path: Path) -> _Field:
        node = self._skeleton.node(path)
        kind = _field_kind(node, _name(path))
        if not kind:
            return _Field("", [])
        name, about = _name(path), words(node.words)
        around = frozenset[str]().union(*(words(step) for step in path[:-1] if isinstance(step, str)))
        allowed = set(literal_texts(node))
        suits = Suitability(self._page, name, deep=len(path) > 1)
        fitting = []
        for candidate in self._candidates:
            fit = _FITS[kind].get(candidate.kind, 0.0)
            raws = _raws(candidate, node) if fit else ()
            raws = tuple(raw for raw in raws if raw in allowed) if allowed else raws
            if raws:
                label = words(candidate.label)
                like = max(similarity(name, label, about), 0.9 * similarity(name | around, label, about))
                like = max(like, suits.of(candidate))
                fit *= _PRICED.get((candidate.kind, "price" in name), 1.0) if kind == "number" else 1.0
                fitting.append(_Scored(candidate, raws, fit * (0.12 + like), like))
        if kind in ("text", "code", "line"):
            fitting += self._named(name)
        return _Field(kind, sorted(fitting, key=lambda scored: scored.candidate.start))

    def _named(self, name: frozenset[str]) -> list[_Scored]:
        """Lines that begin with the field's name and go on with its value: `Yield 4 servings`."""
        found = []
        for candidate in self._candidates:
            if candidate.kind in ("line", "cell") and len(candidate.text) <= _NAMED_LINE:
                for lead in _LEADS.finditer(candidate.text):
                    if similarity(name, words(candidate.text[: lead.start()])) >= _SURE:
                        rest = replace(candidate, text=candidate.text[lead.end() :], start=candidate.start + lead.end())
                        found.append(_Scored(rest, (dumps(rest.text),), 0.9, 0.9))
        return found

    def _live(self, scored: _Scored, path: Path, last: int) -> float:
        """The score, moved by where the candidate stands: just after what was copied last is best.

        Items of an array go down the page: their fields stand in one row, and what was passed is over.
        """
        ahead = scored.candidate.start - last
        if any(isinstance(step, int) for step in path):
            near = exp(-ahead / 60.0) if ahead >= 0 else 0.05
            return scored.score * (0.1 + 4.0 * near)
        near = exp(-ahead / 160.0) if ahead >= 0 else 0.25 * exp(ahead / 400.0)
        return scored.score * (0.5 + 1.5 * near)


def _weighed(
    options: list[tuple[bytes, _Scored, float]], field: str, how: str, null: float = 0.0
) -> tuple[Guess, ...]:
    """Scores made beliefs: each one's share, with something left for null and for values that nobody thought of."""
    best: dict[bytes, tuple[float, _Scored]] = {}
    for raw, scored, score in options:
        if raw not in best or best[raw][0] < score**_SHARPNESS:
            best[raw] = (score**_SHARPNESS, scored)
    covered = _COVERED.get(field, 0.92) * (1.0 - null)
    total = sum(score for score, _ in best.values()) / covered or 1.0
    guesses = [
        Guess(raw, score / total, f"{field}:{how or _evidence(scored)}", _end(scored.candidate))
        for raw, (score, scored) in best.items()
    ]
    if null:
        guesses.append(Guess(b"null", null, "null"))
    return tuple(sorted(guesses, key=lambda guess: -guess.p))


def _end(candidate: Candidate) -> int:
    return candidate.start + len(candidate.text)


def _evidence(scored: _Scored) -> str:
    return "label" if scored.likeness >= _TOLD else "hint" if scored.likeness > 0 else "place"


def _form(raws: tuple[bytes, ...], keeps_zeros: bool | None) -> bytes:
    """The way of writing a number that the record has shown so far; the page's own until it has shown one."""
    return raws[1] if keeps_zeros is False and len(raws) > 1 and raws[0][:1] != b'"' else raws[0]


def _merged(given: tuple[Candidate, ...], found: tuple[Candidate, ...]) -> list[Candidate]:
    """Both lists in page order; what was given wins over the same thing found here."""
    known = {(c.text, c.kind, c.start) for c in given}
    both = [*given, *(c for c in found if (c.text, c.kind, c.start) not in known)]
    return sorted((c for c in both if len(c.text) <= _MAX_VALUE), key=lambda c: c.start)


def _raws(candidate: Candidate, node: SchemaNode) -> tuple[bytes, ...]:
    """The ways the candidate would be written as a value of this type; () if it cannot be one."""
    if node.only("integer", "number"):
        return tuple(form.encode() for form in number_forms(candidate.text, integer=node.only("integer")))
    if candidate.kind == "time":
        return tuple(dumps(form) for form in time_forms(candidate.text))
    if node.source == "link" and "://" not in candidate.text:
        return ()
    if node.format == "date" and (candidate.kind != "date" or "T" in candidate.text):
        return ()
    if node.format == "date-time" and candidate.kind == "date" and "T" not in candidate.text:
        return (dumps(candidate.text + "T00:00:00"),)
    return (dumps(candidate.text),)


def _name(path: Path) -> frozenset[str]:
    return words(next((step for step in reversed(path) if isinstance(step, str)), ""))


_BY_FORMAT = {
    "date": "date",
    "date-time": "date",
    "time": "time",
    "email": "email",
    "uri": "url",
    "url": "url",
    "duration": "duration",
}
_BY_SOURCE = {"date": "date", "datetime": "date", "duration": "duration", "link": "url", "line": "line"}
_BY_NAME = {"email": "email", "phone": "phone", "fax": "phone", "time": "time", "link": "url", "image": "url"}
_CODES = frozenset({"number", "sku", "isbn", "ean", "gtin", "iban", "postal", "zip"})
_FEW = 24


def _field_kind(node: SchemaNode, name: frozenset[str]) -> str:
    """The kind of a field by type, format, source and name, "" where a closed list or a container leaves nothing."""
    if node.enum and len(node.enum) <= _FEW:
        return ""
    if node.only("integer"):
        return "integer"
    if node.only("integer", "number"):
        return "number"
    if not node.only("string"):
        return ""
    told = _BY_FORMAT.get(node.format) or _BY_SOURCE.get(node.source)
    by_name = next((kind for word, kind in _BY_NAME.items() if word in name), None)
    return told or by_name or ("code" if name & _CODES else "text")


def _spoken(raw: bytes) -> str:
    """A closed list's member as a page would say it: `"InStock"` as "in stock"."""
    text = raw.decode().strip('"')
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", text).casefold() if raw.startswith(b'"') else ""


def _main_currency(text: str) -> str:
    """The currency that the page names most often, as an ISO code."""
    found = [_CURRENCIES.get(match.group(), match.group()) for match in _CURRENCY.finditer(text)]
    return max(dict.fromkeys(found), key=found.count) if found else ""
