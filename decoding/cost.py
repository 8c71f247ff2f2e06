"""What a forward costs on this machine: rows and logit rows -> seconds, so that drafts are bought only if they pay."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

POINTS = (1, 2, 4, 8, 16, 24, 32, 64, 128)
"""Row counts at which the curve is measured; between them it is linear."""
ROUNDS = 3
"""Times that every point is measured, in turns, so that a busy moment does not bend the curve."""

FEW = 8
"""Rows that are timed in every round."""
_LONGER = 1.25


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds by row count at a few points, linear between and beyond them.

    >>> Curve((1, 3), (1.0, 2.0))(2)
    1.5
    """

    rows: tuple[int, ...]
    seconds: tuple[float, ...]

    def __call__(self, n: int) -> float:
        if n <= self.rows[0] or len(self.rows) == 1:
            return self.seconds[0]
        i = min(bisect_left(self.rows, n), len(self.rows) - 1)
        x0, x1 = self.rows[i - 1], self.rows[i]
        y0, y1 = self.seconds[i - 1], self.seconds[i]
        return y0 + (y1 - y0) * (n - x0) / (x1 - x0)

    def less(self, slope: float) -> Curve:
        """The curve less `slope` seconds a row, nowhere below half of what it was."""
        return Curve(self.rows, tuple(max(s / 2, s - slope * n) for n, s in zip(self.rows, self.seconds, strict=True)))


@dataclass(frozen=True, slots=True)
class CostModel:
    """t(rows, context, logit rows) = correction(rows) * (body(rows) + per_key * rows * context) + head(logit rows).

    `body` is what a forward costs behind no context, `per_key` what one row pays for each committed token;
    `correction` is what later forwards taught (`live_cost.py`). Rows are filled up to one of `sizes` (ascending) where
    a kernel takes no others: 17 then cost as much as 24.
    """

    body: Curve
    head: Curve
    per_key: float = 0.0
    correction: Curve = Curve((1,), (1.0,))
    sizes: tuple[int, ...] = ()

    def filled(self, rows: int) -> int:
        """How many rows a forward of `rows` rows really has.

        >>> CostModel(Curve((1,), (1.0,)), Curve((1,), (0.0,)), sizes=(1, 8, 16)).filled(9)
        16
        """
        at = bisect_left(self.sizes, rows)
        return self.sizes[at] if at < len(self.sizes) else rows

    @property
    def stops(self) -> tuple[int, ...]:
        """The row counts, ascending, between which a forward's seconds are a straight line or a step."""
        largest = max(self.body.rows[-1], self.correction.rows[-1]) * 2
        return tuple(sorted({*self.body.rows, *self.correction.rows, *self.sizes, largest}))

    def seconds(self, rows: int, context: int = 0, logit_rows: int = 1) -> float:
        """Estimated wall-clock seconds of one forward and the logits looked at."""
        rows = self.filled(rows)
        return self.correction(rows) * (self.body(rows) + self.per_key * rows * context) + self.logits(logit_rows)

    def logits(self, rows: int) -> float:
        """Estimated seconds of `rows` rows of logits over the whole vocabulary."""
        return self.correction(rows) * self.head(rows) if rows else 0.0

    @staticmethod
    def assumed(slope: float = 0.03) -> CostModel:
        """A curve for machines not measured: each further row costs `slope` of the first."""
        return CostModel(Curve((1, 129), (1.0, 1.0 + 128 * slope)), Curve((1, 129), (0.1, 0.1 + 12.8 * slope)))

    @staticmethod
    def free() -> CostModel:
        """Rows cost nothing: every draft that could be right is bought."""
        return CostModel(Curve((1,), (1.0,)), Curve((1,), (0.0,)))


def measure(
    body: Callable[[int], None],
    head: Callable[[int], None],
    limit_s: float = 6.0,
    clock: Callable[[], float] = time.perf_counter,
) -> CostModel:
    """Time `body(n)` and `head(n)` at the points of the curve, the fastest of a few rounds, within about `limit_s`.

    A first round that takes longer than `limit_s` ends early: the curve goes on as it was last seen to rise. Few rows
    are timed in every round, for a quarter of the time more if need be: they cost little, and where they were held up
    once, many rows would look cheap beside them. Curves are made monotone: a forward of more rows is never assumed to
    be cheaper than one of fewer (it could always be padded), and noise must not make it look so.
    """
    start = clock()
    found: dict[int, tuple[float, float]] = {}
    for number in range(ROUNDS):
        for n in tuple(found) or POINTS:
            if len(found) > 1 and clock() - start > limit_s * (_LONGER if number and n <= FEW else 1):
                break
            times = _timed(body, n, clock), _timed(head, n, clock)
            found[n] = min(found.get(n, times)[0], times[0]), min(found.get(n, times)[1], times[1])
    rows = tuple(found)
    body_s, head_s = (_monotone([found[n][part] for n in rows]) for part in (0, 1))
    return CostModel(Curve(rows, body_s), Curve(rows, head_s))


def fastest(run: Callable[[int], None], n: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """The seconds of the fastest of a few runs."""
    return min(_timed(run, n, clock) for _ in range(ROUNDS))


def _timed(run: Callable[[int], None], n: int, clock: Callable[[], float]) -> float:
    start = clock()
    run(n)
    return clock() - start


def _monotone(values: Sequence[float]) -> tuple[float, ...]:
    """Each value replaced by the least of itself and all later ones.

    >>> _monotone([1.0, 3.0, 2.0, 4.0])
    (1.0, 2.0, 2.0, 4.0)
    """
    out: list[float] = []
    least = float("inf")
    for value in reversed(values):
        least = min(least, value)
        out.append(least)
    return tuple(reversed(out))
