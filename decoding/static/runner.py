"""Rows of tokens -> hidden states in forwards of fixed shape, captured where the device can repeat a capture.

What a model does is tried, not looked up: a forward that waits for the device, that decides by values (a mixture of
experts), or whose result depends on Python numbers that a capture would freeze is found by comparing two steps with
the ordinary forward. Such a model runs as ever, and `refused` says so.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from lookstruct.decoding.cache import GROWTH, KVCache
from lookstruct.decoding.linear import LinearMode
from lookstruct.decoding.runner import Rows, Runner
from lookstruct.decoding.static.answers import Answers
from lookstruct.decoding.static.buckets import ROWS, rows_bucket
from lookstruct.decoding.static.cache import StaticCache
from lookstruct.decoding.static.capture import Capture, capture_for
from lookstruct.decoding.static.inputs import Inputs
from lookstruct.decoding.static.mask import StaticMask

if TYPE_CHECKING:
    from transformers import PreTrainedModel

REFUSED = "Forwards of this model could not be captured ({}): each one is launched operation by operation."


def is_on_one_device(model: PreTrainedModel) -> bool:
    """Whether all weights are on the same device; a capture cannot span several."""
    return len({parameter.device for parameter in model.parameters()}) == 1


class StaticRunner(Runner):
    """A `Runner` whose small forwards have one of a few fixed shapes."""

    def __init__(
        self, model: PreTrainedModel, *, linear: LinearMode | None = None, capture: Capture | None = None
    ) -> None:
        super().__init__(model, linear=linear)
        self._capture = capture or capture_for(self.device)
        self._inputs: dict[int, Inputs] = {}
        self._answers: dict[int, Answers] = {}

    def new_cache(self, capacity: int = GROWTH) -> StaticCache:
        """See `Runner.new_cache`."""
        return StaticCache(capacity, self._capture)

    @property
    def row_sizes(self) -> tuple[int, ...]:
        """See `Runner.row_sizes`: those with a captured forward."""
        return ROWS

    @torch.no_grad()
    def hidden(self, cache: KVCache, rows: Rows) -> torch.Tensor:
        """See `Runner.hidden`; of a fixed shape where it can be, and then good until the next forward."""
        inputs = self.inputs(cache, rows)
        if inputs is None:
            return super().hidden(cache, rows)
        assert isinstance(cache, StaticCache)
        self._run(cache, inputs, rows)
        return inputs.hidden[: len(rows.token_ids)]

    def inputs(self, cache: KVCache, rows: Rows) -> Inputs | None:
        """The tensors through which a forward of `rows` goes; None if it has no fixed shape."""
        n = rows_bucket(len(rows.token_ids))
        if n is None or not isinstance(cache, StaticCache) or not cache.is_ready or self.refused is not None:
            return None
        return self._inputs_of(n)

    def answers(self, inputs: Inputs) -> Answers:
        """What reads the hidden states of `inputs` and tells which tokens they call for."""
        if inputs.n not in self._answers:
            self._answers[inputs.n] = Answers(inputs, self.width, self._head, self._capture)
        return self._answers[inputs.n]

    @cached_property
    def refused(self) -> str | None:
        """Why forwards have no fixed shape after all; None if they have. Tried once."""
        try:
            why = None if self._agrees() else "it does not repeat what it did"
        except Exception as exc:  # any failure means the same: this model runs without
            why = f"{exc}".strip().partition("\n")[0] or type(exc).__name__
        return None if why is None else REFUSED.format(why)

    def _inputs_of(self, n: int) -> Inputs:
        if n not in self._inputs:
            self._inputs[n] = Inputs(n, self.hidden_size, self.dtype, self.device)
        return self._inputs[n]

    def _run(self, cache: StaticCache, inputs: Inputs, rows: Rows) -> None:
        n_keys = cache.reserve(inputs.n)
        inputs.fill(rows, cache.length)

        def work() -> None:
            mask = StaticMask(inputs, n_keys, self.dtype)
            with cache.writing(inputs.slots, n_keys):
                inputs.hidden.copy_(self._forward(cache, inputs.token_ids, inputs.positions, mask))

        cache.captured(inputs.n, n_keys, work, inputs.tensors)()

    @torch.no_grad()
    def _agrees(self) -> bool:
        """Whether two steps of one captured forward, at different lengths, come out as the ordinary forward's."""
        static, plain = self.new_cache(), KVCache()
        start = Rows.chain([1, 2, 3], 0)
        for cache in (static, plain):
            super().hidden(cache, start)
            cache.commit(start.token_ids, range(3))
        visible = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]], np.bool_)
        for kept in ([0, 2, 3], [0, 1]):
            past = static.length
            rows = Rows([4, 5, 6, 7], past + np.array([0, 1, 1, 2]), visible)
            inputs = self._inputs_of(8)
            self._run(static, inputs, rows)
            mine, other = inputs.hidden[:4].float(), super().hidden(plain, rows).float()
            loose = 2e-2 if self.dtype in (torch.bfloat16, torch.float16) else 1e-4
            if not float((mine - other).abs().max()) <= loose * max(1e-6, float(other.abs().max())):
                return False
            for cache in (static, plain):
                cache.commit([rows.token_ids[i] for i in kept], kept)
        return True
