"""Token log-probabilities + evidence -> how far each leaf value can be trusted, as a probability.

A value's own probability is the product of those of its tokens, each in the masked distribution it was chosen from: a
token that the grammar forced is certain. An item of a list that was forced altogether, because the item before it was
chosen, is as certain as that one. That number is then corrected by a table (`Calibration`) for each kind of
evidence, measured on pages whose values are known; the default table changes nothing, except that what stands nowhere
on the page is trusted less.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from math import exp, isfinite

from lookstruct.pipeline.grounding.json_places import json_places
from lookstruct.schemas.record import Evidence, EvidenceStatus

Point = tuple[float, float]
"""A raw probability and the share of values that were right there."""

_FORCED = 1 - 1e-9
"""A probability from which on nothing was decided."""
_NOWHERE = 0.5
"""What a value that stands nowhere is worth of its raw probability, until it is measured."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Raw probability -> probability of being right, by evidence status: rising points, straight lines between them.

    A status without points keeps its raw probability; beyond the outermost points the line is level.

    >>> Calibration({EvidenceStatus.EXACT: ((0.5, 0.8), (1.0, 1.0))}).of(0.75, EvidenceStatus.EXACT)
    0.9
    """

    points: Mapping[EvidenceStatus, tuple[Point, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for status, points in self.points.items():
            if any(a[0] >= b[0] or a[1] > b[1] for a, b in pairwise(points)):
                raise ValueError(f"the points of {status.value} must rise, got {points}")

    def of(self, raw: float, status: EvidenceStatus) -> float:
        """The corrected probability."""
        points = self.points.get(status)
        if not points:
            return raw
        at = bisect_right([x for x, _ in points], raw)
        if at in (0, len(points)):
            return points[max(0, at - 1)][1]
        (x0, y0), (x1, y1) = points[at - 1], points[at]
        return y0 + (y1 - y0) * (raw - x0) / (x1 - x0)


UNMEASURED = Calibration({EvidenceStatus.NONE: ((0.0, 0.0), (1.0, _NOWHERE))})
"""Used until the benchmark has measured a table."""


def leaf_confidence(
    token_bytes: Sequence[bytes],
    logprobs: Sequence[float],
    evidence: Mapping[str, Evidence],
    calibration: Calibration = UNMEASURED,
    *,
    start: int = 0,
) -> dict[str, float]:
    """JSON pointer -> probability that the value is right, for each leaf of `evidence` that the text spells.

    `token_bytes` are the generated tokens in order, `logprobs` one natural log-probability for each (0.0 where it was
    forced). The JSON begins at byte `start` (a model may think first). A token that spells the end of one value and
    the beginning of the next counts for both. A null is not corrected: to stand nowhere is what it says.

    >>> tokens, p = [b'{"a": ', b"12", b', "b": "', b'x"}'], [0.0, -0.105, 0.0, -2.3]
    >>> exact = Evidence(EvidenceStatus.EXACT)
    >>> {pointer: round(value, 2) for pointer, value in leaf_confidence(tokens, p, {"/a": exact, "/b": exact}).items()}
    {'/a': 0.9, '/b': 0.1}
    """
    if len(token_bytes) != len(logprobs):
        raise ValueError(f"{len(token_bytes)} tokens came with {len(logprobs)} log-probabilities; each needs one")
    text = b"".join(token_bytes)
    ends = list(accumulate(map(len, token_bytes)))
    sums = [0.0, *accumulate(logprob if isfinite(logprob) else -1e9 for logprob in logprobs)]
    found: dict[str, float] = {}
    raws: dict[str, float] = {}
    for pointer, (begin, end) in json_places(text, start).items():
        if pointer in evidence:
            first, last = bisect_right(ends, begin), bisect_right(ends, end - 1)
            raw = raws[pointer] = _led(pointer, exp(min(0.0, sums[last + 1] - sums[first])), raws)
            found[pointer] = raw if text[begin:end] == b"null" else calibration.of(raw, evidence[pointer].status)
    return found


def _led(pointer: str, raw: float, raws: Mapping[str, float]) -> float:
    """The probability of a value, that of the item before it where it is an item that nothing but that one decided.

    >>> _led("/steps/2", 1.0, {"/steps/1": 0.7}), _led("/steps/2", 0.9, {"/steps/1": 0.7}), _led("/name", 1.0, {})
    (0.7, 0.9, 1.0)
    """
    parent, _, step = pointer.rpartition("/")
    before = raws.get(f"{parent}/{int(step) - 1}") if step.isdecimal() else None
    return raw if before is None or raw < _FORCED else before


def with_confidence(evidence: Mapping[str, Evidence], confidence: Mapping[str, float]) -> dict[str, Evidence]:
    """The same evidence, each with its confidence where there is one."""
    return {pointer: replace(one, confidence=confidence.get(pointer)) for pointer, one in evidence.items()}


def fitted(pairs: Iterable[tuple[float, bool]], n_points: int = 10) -> tuple[Point, ...]:
    """Points of a calibration from measured pairs (raw probability, was right), by isotonic regression.

    Pairs are put into up to `n_points` groups of about equal size, those of one probability never into two, and
    neighbours that fall instead of rising are merged until none is left.

    >>> fitted([(0.2, False), (0.4, True), (0.6, False), (0.9, True)], n_points=4)
    ((0.2, 0.0), (0.5, 0.5), (0.9, 1.0))
    >>> fitted([(1.0, True), (1.0, False)])
    ((1.0, 0.5),)
    """
    risen: list[_Group] = []
    for group in _groups(pairs, n_points):
        risen.append(group)
        while len(risen) > 1 and risen[-2].right / risen[-2].n >= risen[-1].right / risen[-1].n:
            last = risen.pop()
            risen[-1] += last
    return tuple((group.raw / group.n, group.right / group.n) for group in risen)


@dataclass(frozen=True, slots=True)
class _Group:
    """Measured pairs: the sum of their probabilities, how many were right, how many there are."""

    raw: float
    right: int
    n: int

    def __add__(self, other: _Group) -> _Group:
        return _Group(self.raw + other.raw, self.right + other.right, self.n + other.n)


def _groups(pairs: Iterable[tuple[float, bool]], most: int) -> Iterator[_Group]:
    """The pairs by rising probability, in up to `most` groups."""
    counted: dict[float, _Group] = {}
    for raw, right in pairs:
        counted[raw] = counted.get(raw, _Group(0.0, 0, 0)) + _Group(raw, int(right), 1)
    size = max(1, -(-sum(group.n for group in counted.values()) // most))
    group = _Group(0.0, 0, 0)
    for _, same in sorted(counted.items()):
        group += same
        if group.n >= size:
            yield group
            group = _Group(0.0, 0, 0)
    if group.n:
        yield group
