"""How many of a tree's nodes to buy: as many as give the most expected tokens a second under the cost curve."""

from __future__ import annotations

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
        no maximum of its own, so they are all that has to be tried.
        """
        now = self._budget.pending + self._size
        return any(self._could(rows - now, p) for rows in (now + 1, *self._stops) if rows > now)

    def _could(self, more: int, p: float) -> bool:
        seconds = self._seconds(self._size + more, self._looked)
        return seconds <= self._budget.limit_s and self._choices + more * p > self._best_rate * seconds

    def _seconds(self, nodes: int, looked: float) -> float:
        budget = self._budget
        return budget.cost.seconds(budget.pending + nodes, budget.context, round(looked))
