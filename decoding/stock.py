"""Plain decoding with a model's own cache and attention, for models that cannot verify a tree.

Recurrent states (Mamba, Qwen3-Next and kin) cannot be rolled back, and alibi (Bloom) ignores positions: for them every
token costs a forward, as it would anywhere else. The grammar, forced tokens and sampling are the same as ever.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from lookstruct.decoding.runner import Rows
from lookstruct.decoding.sampler import Choice
from lookstruct.decoding.sequence import Sequence
from lookstruct.decoding.tree import DraftTree

if TYPE_CHECKING:
    from transformers import PreTrainedModel

CACHE_NAMES = ("cache", "past_key_values", "cache_params")
"""What models call their cache, in arguments and outputs."""


class StockJudge:
    """Feeds one sequence at a time through the model as it is; never asked about drafts."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        names = inspect.signature(model.forward).parameters
        self._cache_name = next((name for name in CACHE_NAMES if name in names), "past_key_values")
        self._state: Any = None
        self._logits = torch.empty(0)

    def prefill(self, sequence: Sequence, cancel: Callable[[], bool]) -> None:
        """The state after the prompt but for its last token."""
        self._state = None
        prompt = sequence.ids[:-1]
        if prompt and not cancel():
            self._run(prompt)
        sequence.cache.token_ids = prompt

    def release(self, sequence: Sequence) -> None:  # noqa: ARG002
        """Nothing is kept: such a state cannot be cut back to a shared prefix."""
        self._state = None

    def forget(self) -> None:
        """Nothing was kept."""

    def evaluate(self, sequence: Sequence, rows: Rows, tree: DraftTree) -> StockJudge:  # noqa: ARG002
        """Run the pending tokens, one by one: some models take several only at the start of a text."""
        assert not len(tree), "this model cannot verify drafts"
        for token in rows.token_ids:
            self._run([token])
        return self

    def commit(self, sequence: Sequence, token_ids: list[int], rows: list[int]) -> None:  # noqa: ARG002
        """Count what the state holds."""
        sequence.cache.token_ids.extend(token_ids)

    def choose(self, sequence: Sequence, node: int, path: list[int]) -> Choice:  # noqa: ARG002
        """The token after the pending ones."""
        return sequence.sampler.choose(self._logits, sequence.mask(), sequence.n_generated, sequence.ids)

    def extra_argmax(self, rows: range) -> tuple[list[int], int]:
        """Always an error: there are no rows but the pending ones."""
        raise ValueError(f"a model that cannot verify drafts has no answers for {len(rows)} extra rows")

    @property
    def n_logit_rows(self) -> int:
        """One: the last pending token's."""
        return 1

    @torch.no_grad()
    def _run(self, token_ids: list[int]) -> None:
        given = {} if self._state is None else {self._cache_name: self._state}
        out = self._model(input_ids=torch.tensor([token_ids], device=self._model.device), use_cache=True, **given)
        self._state = next(state for name in CACHE_NAMES if (state := getattr(out, name, None)) is not None)
        self._logits = out.logits[0, -1]
