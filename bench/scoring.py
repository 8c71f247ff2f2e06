"""Known values + an answer -> scores: by field, by page, together, with an interval drawn by bootstrap."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.datasets.sample import Kind

_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")


@dataclass(frozen=True, slots=True)
class Score:
    """One known field of one page. `n_gold`, `n_given`: how many values are known and answered; `n_right`: how many
    agree. For a list they count items, else they are 0 or 1. `n_visible` of the known values stand on the page, and
    `n_missed` of these the answer does not give at all."""

    field: str
    n_gold: int
    n_given: int
    n_right: int
    n_visible: int = 0
    n_missed: int = 0

    @property
    def precision(self) -> float | None:
        """The share of the answered values that are right; None where none was given."""
        return self.n_right / self.n_given if self.n_given else None

    @property
    def recall(self) -> float:
        """The share of the known values that were answered."""
        return self.n_right / self.n_gold


@dataclass(frozen=True, slots=True)
class Total:
    """Precision, recall and F1, all in [0, 1]; `low` and `high` bound F1 for 95 of 100 draws of pages."""

    precision: float
    recall: float
    f1: float
    low: float
    high: float


def score(
    gold: Mapping[str, Any], given: Mapping[str, Any], kinds: Mapping[str, Kind], visible: Mapping[str, Any]
) -> list[Score]:
    """A score for each field of `gold`. `visible` holds the part of `gold` that stands on the page, in its shape."""
    return [_score(name, gold[name], given.get(name), kinds.get(name, Kind.TEXT), visible.get(name)) for name in gold]


def _score(name: str, gold: Any, given: Any, kind: Kind, visible: Any) -> Score:
    known, answered, seen = (Counter(normal(value, kind) for value in _listed(some)) for some in (gold, given, visible))
    right = known & answered
    missed = seen - answered if isinstance(gold, list) else seen if not answered else Counter[Any]()
    return Score(name, known.total(), answered.total(), right.total(), seen.total(), missed.total())


def _listed(value: Any) -> list[Any]:
    return [one for one in (value if isinstance(value, list) else [value]) if one not in (None, "")]


def normal(value: Any, kind: Kind) -> Any:
    """What two values of a kind must have in common to be equal.

    >>> normal("½ cup  Flour,", Kind.TEXT) == normal("1/2 cup flour", Kind.TEXT)
    True
    >>> normal("PT1H15M", Kind.DURATION), normal(4908, Kind.NUMBER), normal("Serves 4 to 6", Kind.COUNT)
    (75.0, 4908.0, '46')
    """
    if kind is Kind.NUMBER:
        return round(float(value), 2) if _is_number(value) else str(value)
    if kind is Kind.DURATION:
        return _minutes(str(value))
    if kind is Kind.DATE:
        return str(value)[:10]
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", str(value)).casefold())
    wanted: Callable[[str], bool] = str.isdigit if kind is Kind.COUNT else str.isalnum
    return "".join(filter(wanted, folded))


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _minutes(text: str) -> Any:
    found = _DURATION.fullmatch(text)
    if found is None:
        return text
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return days * 1440.0 + hours * 60 + minutes + seconds / 60


def total(pages: Sequence[Sequence[Score]], *, draws: int = 1000, seed: int = 0) -> Total:
    """All pages together. Every known field of a page counts the same, a list by its share of right items.

    Precision is over the fields that were answered, recall over those that are known.
    """
    sums = [_sums(page) for page in pages]
    generator = random.Random(seed)
    drawn = sorted(_f1(_added(generator.choices(sums, k=len(sums)))) for _ in range(draws if sums else 0))
    precision, recall = _rates(_added(sums))
    low, high = (drawn[int(0.025 * draws)], drawn[int(0.975 * draws) - 1]) if drawn else (0.0, 0.0)
    return Total(precision, recall, _f1(_added(sums)), low, high)


Sums = tuple[float, int, float, int]
"""Sum of precisions, how many; sum of recalls, how many."""


def _sums(scores: Iterable[Score]) -> Sums:
    listed = list(scores)
    precisions = [p for s in listed if (p := s.precision) is not None]
    return sum(precisions), len(precisions), sum(s.recall for s in listed), len(listed)


def _added(sums: Iterable[Sums]) -> Sums:
    columns = list(zip(*sums, strict=True)) or [(0.0,), (0,), (0.0,), (0,)]
    return sum(columns[0]), int(sum(columns[1])), sum(columns[2]), int(sum(columns[3]))


def _rates(sums: Sums) -> tuple[float, float]:
    return sums[0] / max(1, sums[1]), sums[2] / max(1, sums[3])


def _f1(sums: Sums) -> float:
    precision, recall = _rates(sums)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def by_field(pages: Iterable[Iterable[Score]]) -> dict[str, list[Score]]:
    """The scores of all pages, field by field."""
    found: dict[str, list[Score]] = {}
    for page in pages:
        for one in page:
            found.setdefault(one.field, []).append(one)
    return found


def items_f1(scores: Iterable[Score]) -> float:
    """F1 of values counted one by one: what a list field is worth item by item."""
    listed = list(scores)
    right, given, known = (sum(column) for column in zip(*_counts(listed), strict=True)) if listed else (0, 0, 0)
    return 2 * right / (given + known) if given + known else 0.0


def _counts(scores: Iterable[Score]) -> Iterator[tuple[int, int, int]]:
    return ((s.n_right, s.n_given, s.n_gold) for s in scores)
