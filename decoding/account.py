"""Never slower: what a request's forwards cost by the machine's curve, against plain decoding of the same tokens.

Plain decoding is our own without drafts: one forward for every token that the grammar leaves a choice about. Drafts are
bought only while, should they all fall, the request would still be within `RATE` of it plus `CREDIT` forwards.
What good drafts save may be spent on later ones. So a text of 100 tokens that nothing predicts costs at most 3% more.
"""

from __future__ import annotations

from dataclasses import dataclass

from lookstruct.decoding.cost import CostModel

RATE = 0.01
CREDIT = 2.0


@dataclass(frozen=True, slots=True)
class Forward:
    """One forward behind `context` committed tokens: `pending` of its `rows` are no drafts."""

    pending: int
    context: int
    rows: int
    logit_rows: int


@dataclass(slots=True)
class Account:
    """Seconds by the cost curve: `spent` by the forwards so far, `plain` what plain decoding would have spent."""

    spent: float = 0.0
    plain: float = 0.0

    def allowance(self, cost: CostModel, pending: int, context: int, *, wide: bool) -> float:
        """The most that the next forward may cost: the bound holds even if none of its drafts comes true.

        `wide` says whether the next choice takes the logits of the whole vocabulary.
        """
        plain = self.plain + cost.seconds(pending, context, int(wide))
        return (1 + RATE) * plain + CREDIT * cost.seconds(1, context, int(wide)) - self.spent

    def book(self, cost: CostModel, forward: Forward, choices: int, wide: int) -> None:
        """`forward` was run; `choices` tokens came of it that were not forced, `wide` of them from all logits."""
        self.spent += cost.seconds(forward.rows, forward.context, forward.logit_rows)
        first = cost.seconds(forward.pending, forward.context, 0)
        self.plain += first + max(0, choices - 1) * cost.seconds(1, forward.context, 0)
        self.plain += wide * cost.logits(1)

    @property
    def speed_up(self) -> float:
        """How many times faster than plain decoding, by the curve; 1.0 before the first forward."""
        return self.plain / self.spent if self.spent else 1.0
