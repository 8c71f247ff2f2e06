"""Signs that a page was rebuilt: a field that is gone, fewer fields filled or less certain than in the job's past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from lookstruct.pipeline.leaves import escape, leaves

FEWEST_RUNS = 3
"""A job's own past tells something from this many runs on."""
NOTABLE_DROP = 0.15
"""A share of filled fields, or a mean confidence, that falls by more than this under its median is a drop."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """Of one run's records: how many leaf values, how many of them filled, and the confidences, as counts and sums."""

    n_leaves: int = 0
    n_filled: int = 0
    n_confidences: int = 0
    confidence_sum: float = 0.0

    @property
    def fill_rate(self) -> float | None:
        """The share of leaf values that say something; None where there are none."""
        return self.n_filled / self.n_leaves if self.n_leaves else None

    @property
    def confidence(self) -> float | None:
        """The mean confidence; None where none was told."""
        return self.confidence_sum / self.n_confidences if self.n_confidences else None

    def __add__(self, other: Metrics) -> Metrics:
        return Metrics(**{name: getattr(self, name) + getattr(other, name) for name in asdict(self)})

    def to_json(self) -> dict[str, Any]:
        """Its JSON form in the runs table."""
        return asdict(self)


def measure(records: Iterable[tuple[Any, Mapping[str, Any]]]) -> Metrics:
    """Metrics of (data, evidence as JSON) pairs."""
    total = Metrics()
    for data, evidence in records:
        filled = [is_filled(value) for _, value in leaves(data)]
        told = [c for found in evidence.values() if (c := found.get("confidence")) is not None]
        total += Metrics(len(filled), sum(filled), len(told), sum(told))
    return total


def is_filled(value: Any) -> bool:
    """Whether a leaf says something."""
    return value is not None and value != ""


def find_drops(now: Metrics, past: Sequence[Metrics]) -> list[str]:
    """A sentence for each metric that fell clearly below everything in the past."""
    named = [
        ("share of filled fields", now.fill_rate, [m.fill_rate for m in past]),
        ("mean confidence", now.confidence, [m.confidence for m in past]),
    ]
    return [drop for name, value, before in named for drop in _drop(name, value, [b for b in before if b is not None])]


def _drop(name: str, value: float | None, before: Sequence[float]) -> Iterator[str]:
    if value is not None and len(before) >= FEWEST_RUNS and _fell(value, before):
        yield (
            f"The {name} fell to {value:.2f}; it was {median(before):.2f} in the {len(before)} runs before: the page's "
            "layout may have changed."
        )


def _fell(value: float, before: Sequence[float]) -> bool:
    return value < min(before) and value < median(before) - NOTABLE_DROP


def find_vanished(key: str, old: Any, old_evidence: Mapping[str, Any], new: Any) -> list[str]:
    """A sentence for each field that the page had and has no more, with where it stood."""
    return [
        f"{key}: the field {field} vanished; it was {_shown(value)}{_place(old_evidence.get(pointer))}: the page's "
        "layout may have changed."
        for field, pointer, value in _gone(old, new, "")
    ]


def _gone(old: Any, new: Any, pointer: str) -> list[tuple[str, str, Any]]:
    """(field, pointer of its first value, that value) of what was filled and is not. Items that left a list, but not
    the whole list, are changes of content and not of layout."""
    if isinstance(old, Mapping):
        inner = new if isinstance(new, Mapping) else {}
        return [gone for key, value in old.items() for gone in _gone(value, inner.get(key), f"{pointer}/{escape(key)}")]
    if isinstance(old, list):
        if old and not new:
            first, value = next(leaves(old, pointer), (pointer, None))
            return [(pointer, first, value)]
        return _gone_everywhere(old, new, pointer)
    return [(pointer, pointer, old)] if is_filled(old) and not is_filled(new) else []


def _gone_everywhere(old: list[Any], new: Any, pointer: str) -> list[tuple[str, str, Any]]:
    """Of a list of records: the fields that some item had and no item has any more."""
    if not isinstance(new, list):
        return []
    still = {_field(p) for p, value in leaves(new) if is_filled(value)}
    gone: dict[str, tuple[str, str, Any]] = {}
    for at, value in leaves(old):
        if is_filled(value) and _field(at) and _field(at) not in still:
            gone.setdefault(_field(at), (f"{pointer}/*{_field(at)}", pointer + at, value))
    return list(gone.values())


def _field(pointer: str) -> str:
    """`/3/price` -> `/price`: a pointer into a list without the item's number; deeper numbers too."""
    return "".join(f"/{step}" for step in pointer.split("/")[2:] if not step.isdigit())


def _shown(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _place(evidence: Mapping[str, Any] | None) -> str:
    if not evidence or not evidence.get("dom_path"):
        return ""
    return f" at {evidence['dom_path']} ({_shown(evidence.get('text') or '')})"
