"""Field + page -> the candidates that fit it, each with a score by label, name and form (`Field`)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lookstruct.decoding.guessing.field_kinds import allowed, field_kind, field_name, fit, ways_to_write
from lookstruct.decoding.guessing.field_words import similarity, words
from lookstruct.decoding.guessing.json_text import string
from lookstruct.decoding.guessing.page_text import PageText
from lookstruct.decoding.guessing.schema_walk import Path
from lookstruct.decoding.guessing.skeleton import Skeleton, literal_texts
from lookstruct.decoding.guessing.suitability import Suitability
from lookstruct.decoding.request import Candidate

BEST = 12
"""Candidates of a field that are always looked at, wherever they stand."""
TOLD = 0.6
"""Likeness from which on a label tells what a value is."""
_NEXT_ON_PAGE = 8
_BASE = 0.12  # score of a candidate that fits and has nothing else to say for it
_AROUND = 0.9  # what a likeness counts that needs the names of the objects around the field
_NAMED_LINE = 80
_NAMED = 0.9
_NAMED_ALIKE = 0.8  # likeness of a field's name and what a line begins with
_PRICE = 1.5  # how a price fits a field that asks for one
_BYLINE = 120
_BY = re.compile(r"(?:\w+ )?(?:by|von|par|di|por|de|door|av|af)\b:? ", re.IGNORECASE)
_PERSON = re.compile(r"[^\W\d_a-z][\w'’.-]*(?: [^\W\d_a-z][\w'’.-]+){1,2}")
_LEAD = re.compile(r"(?<=\w)[:.]?\s+(?=\S)")


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A candidate as one field sees it: `raws` are the ways to write it, `score` leaves out where the page is being
    copied from, `likeness` is what its label or form says.
    """

    candidate: Candidate
    raws: tuple[bytes, ...]
    score: float
    likeness: float


class Field:
    """What one field of the schema could hold: its fitting candidates in page order and the best of them."""

    def __init__(self, kind: str, fitting: list[Scored]) -> None:
        self.kind = kind
        self.fitting = sorted(fitting, key=lambda scored: scored.candidate.start)
        self.best = sorted(self.fitting, key=lambda scored: -scored.score)[:BEST]
        self.told = any(scored.likeness >= TOLD or scored.score >= _PRICE * _BASE for scored in self.best)
        self._starts = [scored.candidate.start for scored in self.fitting]
        self._best = {id(scored) for scored in self.best}

    def around(self, last: int) -> list[Scored]:
        """The best, and the next ones on the page after `last`."""
        at = bisect_left(self._starts, last)
        nearby = self.fitting[at : at + _NEXT_ON_PAGE]
        return [*self.best, *(scored for scored in nearby if id(scored) not in self._best)]


class FieldFinder:
    """Works out the `Field` of every place of one schema on one page, each when it is first asked for."""

    def __init__(self, page: PageText, candidates: list[Candidate], skeleton: Skeleton) -> None:
        self._page = page
        self._candidates = candidates
        self._skeleton = skeleton
        self._fields: dict[Path, Field] = {}
        self._named_lines: dict[str, list[Candidate]] | None = None

    def at(self, path: Path) -> Field:
        """The field at `path`; all items of an array share theirs."""
        generic = tuple([step if isinstance(step, str) else 0 for step in path])
        if generic not in self._fields:
            self._fields[generic] = self._make(generic)
        return self._fields[generic]

    def _make(self, path: Path) -> Field:
        node, name = self._skeleton.node(path), field_name(path)
        kind = field_kind(node, name)
        if not kind:
            return Field("", [])
        members = frozenset(literal_texts(node))
        likeness = _Likeness(path, words(node.words))
        suits = Suitability(self._page, name, deep=len(path) > 1)
        fitting = list(self._named(name)) if kind in ("text", "code", "line") else []
        fitting += self._bylines() if suits.is_person and kind == "text" else []
        for candidate in self._candidates:
            fits = fit(kind, candidate, name)
            raws = ways_to_write(candidate, node) if fits else ()
            raws = allowed(raws, members) if members else raws
            if raws:
                like = max(likeness.of(candidate.label), suits.of(candidate))
                fitting.append(Scored(candidate, raws, fits * (_BASE + like), like))
        return Field(kind, fitting)

    def _bylines(self) -> list[Scored]:
        return [Scored(name, (string(name.text),), _NAMED, _NAMED) for name in bylines(self._candidates)]

    def _named(self, name: frozenset[str]) -> Iterator[Scored]:
        """Lines that begin with the field's name and go on with its value: `Yield 4 servings`."""
        if self._named_lines is None:
            self._named_lines = _by_lead(self._candidates)
        for lead, values in self._named_lines.items():
            if similarity(name, words(lead)) >= _NAMED_ALIKE:
                yield from (Scored(value, (string(value.text),), _NAMED, _NAMED) for value in values)


def bylines(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """The names in lines such as `By Ada Byron and Charles Babbage`."""
    for candidate in candidates:
        lead = _BY.match(candidate.text) if candidate.kind in ("line", "cell", "heading") else None
        if lead is not None and len(candidate.text) <= _BYLINE:
            for name in _PERSON.finditer(candidate.text, lead.end()):
                yield replace(candidate, text=name.group(), start=candidate.start + name.start())


class _Likeness:
    """How like its name a field finds a label, each label compared once."""

    def __init__(self, path: Path, about: frozenset[str]) -> None:
        self._name = field_name(path)
        self._wide = self._name.union(*(words(step) for step in path[:-1] if isinstance(step, str)))
        self._about = about
        self._known: dict[str, float] = {"": 0.0}

    def of(self, label: str) -> float:
        """In [0, 1], by the field's own name or together with those of the objects around it."""
        found = self._known.get(label)
        if found is None:
            said = words(label)
            found = similarity(self._name, said, self._about)
            if self._wide != self._name:
                found = max(found, _AROUND * similarity(self._wide, said, self._about))
            self._known[label] = found
        return found


def _by_lead(candidates: list[Candidate]) -> dict[str, list[Candidate]]:
    """Short lines cut after their first, second and third word: what stands before -> what stands behind."""
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.kind in ("line", "cell") and len(candidate.text) <= _NAMED_LINE:
            for cut, _ in zip(_LEAD.finditer(candidate.text), range(3), strict=False):
                rest = replace(candidate, text=candidate.text[cut.end() :], start=candidate.start + cut.end())
                found.setdefault(candidate.text[: cut.start()], []).append(rest)
    return found
