"""How many of a tree's nodes to buy: as many as give the most expected tokens a second under the cost curve."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import inf

from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.tree import Node


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be drafted: exactly up to `nodes`, or, when that is None, as long as it pays.

    It pays while it raises the expected tokens a second, and the forward may not cost more than `limit_s`.
    """

    cost: CostModel
    pending: int
    context: int
    nodes: int | None = None
    limit_s: float = inf


class Purchase:
    """Nodes are added likeliest first; `best` is how many of them to buy, 0 meaning plain decoding.

    `first_is_wide` says whether the first choice takes the logits of the whole vocabulary.
    """

    def __init__(self, budget: Budget, *, first_is_wide: bool) -> None:
        self._budget = budget
        self._size = 0
        self._forwards: dict[int, float] = {}  # seconds by nodes, and by rows of logits: asked for again and again
        self._heads: dict[int, float] = {}
        self._most: dict[int, int] = {}
        self._choices = 1.0
        self._looked = float(first_is_wide)
        self.best = 0
        self._best_rate = 1.0 / self._seconds(0, self._looked)
        self._stops = budget.cost.stops

    def add(self, node: Node) -> None:
        """Take one more node into account."""
        self._size += 1
        self._choices += node.gain
        self._looked += node.p * node.wide
        seconds = self._seconds(self._size, self._looked)
        if seconds <= self._budget.limit_s and self._choices / seconds > self._best_rate:
            self.best, self._best_rate = self._size, self._choices / seconds

    def may_improve(self, p: float) -> bool:
        """Whether some larger tree could be better, if every further node came true with probability `p`.

        None comes true with a higher one, so nothing is lost by stopping. Between the stops of the curve the rate has
        no maximum of its own, so they are all that has to be tried, and the largest tree that can be afforded.
        """
        now = self._budget.pending + self._size
        sizes = (now + 1, *self._stops) if self._budget.limit_s == inf else (now + 1, *self._stops, self._affordable())
        return any(self._could(rows - now, p) for rows in sizes if rows > now)

    def _affordable(self) -> int:
        """The most rows that cost no more than the limit."""
        looked, pending = self._looked, self._budget.pending
        key = round(looked)
        if key not in self._most:
            more = range(self._stops[-1] - pending + 1)
            over = bisect_right(more, self._budget.limit_s, key=lambda nodes: self._seconds(nodes, looked))
            self._most[key] = pending + over - 1
        return self._most[key]

    def _could(self, more: int, p: float) -> bool:
        seconds = self._seconds(self._size + more, self._looked)
        return seconds <= self._budget.limit_s and self._choices + more * p > self._best_rate * seconds

    def _seconds(self, nodes: int, looked: float) -> float:
        cost, logit_rows = self._budget.cost, round(looked)
        if nodes not in self._forwards:
            self._forwards[nodes] = cost.seconds(self._budget.pending + nodes, self._budget.context, 0)
        if logit_rows not in self._heads:
            self._heads[logit_rows] = cost.logits(logit_rows)
        return self._forwards[nodes] + self._heads[logit_rows]
