"""The lookahead window of Fu, Bailis, Stoica and Zhang, "Break the Sequential Dependency of LLM Inference Using
Lookahead Decoding" (ICML 2024), sections 3.1 to 3.3: Jacobi iterations run beside verification and fill an n-gram pool.

W columns, n-grams of N tokens, at most G of them verified per step. The window has N-1 levels. Level 0 is the current
token and W-1 guesses behind it; level l, column j stands l + j positions after the current token. A column read
downwards is a piece of a Jacobi trajectory: with the model's answer below its last level it is an n-gram. Each step
every level moves up by one and the answers become the new last level.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lookstruct.decoding.request import Window
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.decoding.tree import Extra

MAX_KEYS = 4096
"""First tokens the pool remembers; the least recently used one goes first."""


class NGramPool:
    """First token -> up to G continuations of N-1 tokens, most recent first.

    >>> pool = NGramPool(G=2)
    >>> for tail in [(1, 2), (3, 4), (1, 2), (5, 6)]: pool.add(7, tail)
    >>> pool.get(7)
    [(5, 6), (1, 2)]
    """

    def __init__(self, G: int, max_keys: int = MAX_KEYS) -> None:
        self._G, self._max_keys = G, max_keys
        self._tails: OrderedDict[int, OrderedDict[tuple[int, ...], None]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._tails)

    def add(self, first: int, tail: tuple[int, ...]) -> None:
        """Remember that `tail` followed `first`."""
        tails = self._tails.setdefault(first, OrderedDict())
        self._tails.move_to_end(first)
        tails[tail] = None
        tails.move_to_end(tail)
        if len(tails) > self._G:
            tails.popitem(last=False)
        if len(self._tails) > self._max_keys:
            self._tails.popitem(last=False)

    def get(self, first: int) -> list[tuple[int, ...]]:
        """What followed `first`, most recent first."""
        return list(reversed(self._tails.get(first, {})))


class LookaheadWindow:
    """A draft source with rows of its own in the forward: `rows()` before it, `learn()` after it."""

    name: ClassVar[str] = "window"

    def __init__(self, request: DraftRequest) -> None:
        size = request.options.window or Window()
        if size.W < 1 or size.N < 2 or size.G < 1:
            raise ValueError(f"window needs W >= 1, N >= 2, G >= 1; got W={size.W}, N={size.N}, G={size.G}")
        self.W, self.N, self.G = size.W, size.N, size.G
        self.pool = NGramPool(self.G)
        prompt = request.prompt_ids or (0,)
        pick = random.Random(len(prompt))
        self._levels: list[list[int]] = [[pick.choice(prompt) for _ in range(self.W - 1)]]
        self._current: int | None = None
        self._seed(prompt)
        n_known = len(request.vocabulary.token_bytes)
        for ids in reversed(request.hints.past):  # the latest last: the pool offers first what it saw last
            if all(0 <= token < n_known for token in ids):
                self._seed(ids)

    def _seed(self, ids: Sequence[int]) -> None:
        """The n-grams of the prompt (section 4.2 of the paper's appendix: "prompt as reference"), or of a past text."""
        for i in range(len(ids) - self.N + 1):
            self.pool.add(ids[i], tuple(ids[i + 1 : i + self.N]))

    @property
    def reach(self) -> int:
        """Positions behind the current token that its rows may take."""
        return self.W + self.N - 3 if self.N > 2 else self.W - 1

    def propose(self, context: DraftContext) -> list[Draft]:
        """The pool's n-grams that begin with the last token."""
        if not context.token_ids:
            return []
        tails = self.pool.get(context.token_ids[-1])
        return [
            Draft(tokens=tail, p=0.5 / (rank + 1), q=0.6, kind=f"rank{min(rank, 3)}") for rank, tail in enumerate(tails)
        ]

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Accepted text is a trajectory too."""
        ids = context.token_ids
        for i in range(max(0, len(ids) - n_new - self.N + 1), len(ids) - self.N + 1):
            self.pool.add(ids[i], ids[i + 1 : i + self.N])

    def rows(self, current: int) -> Extra:
        """The window's rows behind token `current`, all levels that exist yet: level 0 first, then downwards."""
        self._current = current
        W = self.W
        tokens = [token for level in self._levels for token in level]
        offsets = [*range(1, W)] + [depth + j for depth in range(1, len(self._levels)) for j in range(W)]
        visible = np.zeros((len(tokens), len(tokens)), np.bool_)
        visible[: W - 1, : W - 1] = np.tri(W - 1, dtype=np.bool_)
        for depth in range(1, len(self._levels)):
            for j in range(W):
                row = W - 1 + (depth - 1) * W + j
                visible[row, :j] = True  # level 0 up to its own column; column 0 is the current token
                visible[row, [W - 1 + (d - 1) * W + j for d in range(1, depth + 1)]] = True
        return Extra(tokens, np.asarray(offsets, np.int64), visible)

    @property
    def asked(self) -> range:
        """The window's rows whose answers are wanted: its last level (level 0 lacks column 0: the root answers it)."""
        n = self.W - 1 + (len(self._levels) - 1) * self.W
        return range(n - (self.W if len(self._levels) > 1 else self.W - 1), n)

    def learn(self, answers: Sequence[int], root_answer: int) -> None:
        """Plain argmax of the rows `asked`; `root_answer` is that of the current token."""
        assert self._current is not None
        filled = len(self._levels) == self.N - 1
        newest = list(answers) if len(self._levels) > 1 else [root_answer, *answers]
        if filled:
            level0 = [self._current, *self._levels[0]]
            for j in range(self.W):
                tail = (*(level[j] for level in self._levels[1:]), newest[j])
                self.pool.add(level0[j], tail)
            below = [*self._levels[1:], newest]
            self._levels = [below[0][1:], *below[1:]]
        else:
            self._levels.append(newest)
