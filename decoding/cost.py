"""What a forward costs on this machine: rows and logit rows -> seconds, so that drafts are bought only if they pay."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

POINTS = (1, 2, 4, 8, 16, 32, 64, 128)
"""Row counts at which the curve is measured; between them it is linear."""
REPEATS = 2


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


@dataclass(frozen=True, slots=True)
class CostModel:
    """t(rows, context, logit rows) = body(rows) + attention * rows * context + head(logit rows).

    `block` is how many logit rows are worth computing together.
    """

    body: Curve
    head: Curve
    per_key: float = 0.0
    block: int = 4
    measured: bool = field(default=False)

    def seconds(self, rows: int, context: int = 0, logit_rows: int = 1) -> float:
        """Estimated wall-clock seconds of one forward and the logits looked at."""
        return self.body(rows) + self.per_key * rows * context + self.head(logit_rows)

    @staticmethod
    def assumed(slope: float = 0.03) -> CostModel:
        """A curve for machines not measured: each further row costs `slope` of the first."""
        return CostModel(Curve((1, 129), (1.0, 1.0 + 128 * slope)), Curve((1, 129), (0.1, 0.1 + 12.8 * slope)))

    @staticmethod
    def free(block: int = 16) -> CostModel:
        """Rows cost nothing: every draft that could be right is bought."""
        return CostModel(Curve((1,), (1.0,)), Curve((1,), (0.0,)), block=block)


def measure(
    body: Callable[[int], None],
    head: Callable[[int], None],
    limit_s: float = 8.0,
    clock: Callable[[], float] = time.perf_counter,
) -> CostModel:
    """Time `body(n)` and `head(n)` at the points of the curve, the fastest of a few tries each, within `limit_s`.

    Curves are made monotone: a forward of more rows is never assumed to be cheaper than one of fewer (it could always
    be padded), and noise must not make it look so.
    """
    deadline = clock() + limit_s
    rows, body_s, head_s = [], [], []
    for n in POINTS:
        rows.append(n)
        body_s.append(_fastest(body, n, clock))
        head_s.append(_fastest(head, n, clock))
        if clock() > deadline:
            break
    body_curve = Curve(tuple(rows), _monotone(body_s))
    head_curve = Curve(tuple(rows), _monotone(head_s))
    return CostModel(body_curve, head_curve, block=_block(head_curve, rows), measured=True)


def _block(head: Curve, rows: Sequence[int]) -> int:
    """The largest measured row count whose logits cost less than 1.6 times those of one row."""
    return max(n for n in rows if head(n) <= 1.6 * head(1))


def _fastest(run: Callable[[int], None], n: int, clock: Callable[[], float]) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        start = clock()
        run(n)
        best = min(best, clock() - start)
    return best


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
