"""The walk: from the last committed token down the draft tree, as far as the model agrees.

At each node the token is chosen exactly as plain decoding would choose it after that prefix; if it was drafted, the
walk goes on there, and its logits are already computed. The first token that was not drafted is the bonus token.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from lookstruct.decoding.head import is_narrow
from lookstruct.decoding.runner import Rows
from lookstruct.decoding.sampler import Choice
from lookstruct.decoding.sequence import Sequence
from lookstruct.decoding.tree import ROOT, DraftTree


class Verdicts(Protocol):
    """The model's answers for the rows of one forward."""

    def choose(self, sequence: Sequence, node: int, path: list[int]) -> Choice:
        """The token after `node` of the tree (ROOT: after the pending tokens), reached by the nodes `path`."""
        ...

    def extra_argmax(self, rows: range) -> tuple[list[int], int]:
        """Plain argmax of some rows behind the tree, and of the root."""
        ...

    @property
    def n_logit_rows(self) -> int:
        """Rows whose logits `choose` had to compute so far."""
        ...


class Judge(Protocol):
    """Who decides: the model, or a recorded run of it."""

    def prefill(self, sequence: Sequence, cancel: Callable[[], bool]) -> None:
        """Make the sequence's cache hold its prompt but for the last token."""
        ...

    def release(self, sequence: Sequence) -> None:
        """The sequence has ended: its cache may serve another."""
        ...

    def forget(self) -> None:
        """Let go of what was kept for later sequences."""
        ...

    def evaluate(self, sequence: Sequence, rows: Rows, tree: DraftTree) -> Verdicts:
        """One forward over `rows`."""
        ...

    def commit(self, sequence: Sequence, token_ids: list[int], rows: list[int]) -> None:
        """Rows `rows` of the last forward hold `token_ids` of the text; the others are forgotten."""
        ...


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk committed: the accepted `nodes`, how many `tokens` came (bonus included).

    `choices` of them were not forced, `wide` of these took the logits of the whole vocabulary.
    """

    nodes: list[int]
    tokens: int
    choices: int
    wide: int


def walk(sequence: Sequence, tree: DraftTree, verdicts: Verdicts) -> Walked:
    """Commit tokens along the tree until the model leaves it or the sequence ends."""
    node, accepted, tokens, choices, wide = ROOT, list[int](), 0, 0, 0
    while True:
        forced = sequence.forced()
        if forced is None:
            choices += 1
            wide += not is_narrow(sequence.mask())
            chosen = verdicts.choose(sequence, node, accepted)
            choice = sequence.affordable(chosen)
            forced = None if choice is chosen else choice.token
        else:
            choice = Choice(forced, 0.0, float("inf"))
            sequence.stats.forced_tokens += 1
        child = tree.child(node, choice.token)
        origin = "forced" if forced is not None else "model" if child is None else tree.nodes[child].origin
        ended = sequence.commit(choice, origin)
        tokens += 1
        if child is not None:
            accepted.append(child)
            node = child
        if ended or child is None:
            return Walked(accepted, tokens, choices, wide)
