"""The model's answers for all rows of a step at once, worked out on the device: one wait a step."""

from __future__ import annotations

from collections.abc import Sequence as Seq

import numpy as np

from lookstruct.decoding.constraint import Bitmask, single_bit
from lookstruct.decoding.judges import ModelJudge
from lookstruct.decoding.runner import Rows
from lookstruct.decoding.sampler import Choice
from lookstruct.decoding.sequence import Sequence
from lookstruct.decoding.static.answers import Told
from lookstruct.decoding.static.runner import StaticRunner
from lookstruct.decoding.tree import ROOT, DraftTree
from lookstruct.decoding.verify import Verdicts


class DeviceJudge(ModelJudge):
    """`ModelJudge` for greedy decoding without a wait for every accepted token; it does the rest as its base does."""

    def __init__(self, runner: StaticRunner) -> None:
        super().__init__(runner)
        self._static = runner

    def evaluate(self, sequence: Sequence, rows: Rows, tree: DraftTree) -> Verdicts:
        """Launch the forward, collect the grammar's masks while it runs, then ask for the answers."""
        inputs = self._static.inputs(sequence.cache, rows) if sequence.sampler.is_argmax else None
        verdicts = super().evaluate(sequence, rows, tree)
        if inputs is None:
            return verdicts
        first = len(sequence.pending) - 1
        masks = _masks(sequence, tree)
        told = self._static.answers(inputs).ask([None] * first + masks)
        return DeviceVerdicts(verdicts, told, masks, first)


class DeviceVerdicts:
    """What was told for every row; where another mask than the one asked with now holds, `again` has the answer."""

    def __init__(self, again: Verdicts, told: Told, masks: Seq[Bitmask | None], first: int) -> None:
        self._again = again
        self._told = told
        self._masks = masks
        self._first = first

    def choose(self, sequence: Sequence, node: int, path: list[int]) -> Choice:
        """See `Verdicts.choose`."""
        mask, asked = sequence.mask(), self._masks[node - ROOT]
        if not _same(mask, asked):
            return self._again.choose(sequence, node, path)  # closing near the limit, or a list that repeats itself
        row = self._first + node - ROOT
        told = self._told
        return Choice(int(told.tokens[row]), min(0.0, float(told.logprobs[row])), float(told.margins[row]))

    @property
    def n_logit_rows(self) -> int:
        """See `Verdicts.n_logit_rows`: all rows."""
        return len(self._told.tokens)

    def extra_argmax(self, rows: range) -> tuple[list[int], int]:
        """See `Verdicts.extra_argmax`."""
        plain = self._told.plain.tolist()
        behind = self._first + len(self._masks)
        return [plain[behind + row] for row in rows], plain[self._first]


def _masks(sequence: Sequence, tree: DraftTree) -> list[Bitmask | None]:
    """What the root and every node may say next, as far as grammar and tree know; None: anything, or no matter."""
    masks = [sequence.mask()]
    for node in tree.nodes:
        state = node.constraint
        mask = None if state is None or state.finished else state.mask()
        masks.append(None if mask is None or single_bit(mask) is not None else mask)
    return masks


def _same(left: Bitmask | None, right: Bitmask | None) -> bool:
    if left is None or right is None:
        return left is right
    return left is right or bool(np.array_equal(left, right))
