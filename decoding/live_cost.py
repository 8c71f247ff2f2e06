"""A measured cost curve, corrected by the forwards that were really run.

A machine is not always as busy as it was when its curve was measured, and a page is longer than the context it was
measured behind. Only how many drafts are bought depends on this, never a token.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import replace
from statistics import median

from lookstruct.decoding.account import Forward
from lookstruct.decoding.cost import CostModel, Curve

MEMORY = 15
"""Forwards of one size that are remembered; their median counts, so one that was held up says nothing."""
ENOUGH = 3
"""Forwards of one size before they are believed."""
EVERY = 8
"""Forwards between two corrections."""
BELIED = 0.6
"""Forwards that take less than this share of what the curve says: it was measured while the machine was busy."""


class LiveCost:
    """`model` is the curve to plan by; `observe` every forward."""

    def __init__(self, measured: CostModel) -> None:
        self.model = measured
        self._measured = measured
        self._ratios: dict[int, deque[float]] = {}
        self._n = 0

    def observe(self, forward: Forward, seconds: float) -> None:
        """A forward took `seconds`, its logits included."""
        points = self._measured.body.rows
        rows = self._measured.filled(forward.rows)
        point = points[min(bisect_left(points, rows), len(points) - 1)]
        ratios = self._ratios.setdefault(point, deque(maxlen=MEMORY))
        ratios.append(seconds / self._measured.seconds(forward.rows, forward.context, forward.logit_rows))
        self._n += 1
        if self._n % EVERY == 0:
            self.model = replace(self._measured, correction=self._correction())

    def _correction(self) -> Curve:
        """The median ratio at each point that was seen often enough; sizes beyond go by the nearest of them."""
        seen = {p: median(r) for p, r in sorted(self._ratios.items()) if len(r) >= ENOUGH}
        if not seen:
            return self._measured.correction
        first, last = min(seen), max(seen)
        seen |= {1: seen[first], last + 1: seen[last], last + 2: seen[last]}
        rows = tuple(sorted(seen))
        return Curve(rows, tuple(seen[n] for n in rows))

    @property
    def is_belied(self) -> bool:
        """Whether forwards are so much cheaper than the curve says that it should be measured again."""
        ratios = [ratio for some in self._ratios.values() for ratio in some]
        return len(ratios) >= MEMORY and median(ratios) < BELIED
