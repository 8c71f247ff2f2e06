"""A small model of the same vocabulary drafts for the large one: classical speculative decoding, for comparison.

Leviathan, Kalman, Matias, "Fast Inference from Transformers via Speculative Decoding", ICML 2023; greedy, so that a
draft is right where the small model's likeliest token is the large one's choice. It is asked without the grammar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from lookstruct.decoding.prefix import shared_length
from lookstruct.decoding.runner import Rows, Runner
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.schemas.errors import ModelUnsupported, UsageError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

LENGTH = 6
"""Tokens drafted a step."""


class Assistant:
    """A model that drafts, checked to speak the tokens of the model it drafts for."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, target: PreTrainedTokenizerBase
    ) -> None:
        if tokenizer.get_vocab() != target.get_vocab():
            raise ModelUnsupported(
                f"The draft model's vocabulary has {len(tokenizer)} tokens and differs from the model's {len(target)}: "
                "choose a draft model of the same family."
            )
        self.runner = Runner(model)
        self.n_tokens = len(target)
        if not self.runner.obeys_tree_mask:
            raise ModelUnsupported(f"{type(model).__name__} cannot draft: its state cannot be taken back.")


class DraftModel:
    """Its likeliest continuation, token by token."""

    name: ClassVar[str] = "draft_model"

    def __init__(self, request: DraftRequest) -> None:
        if not isinstance(request.assistant, Assistant):
            raise UsageError("The source draft_model needs a model that drafts: name one with --draft-model.")
        self._assistant = request.assistant
        self._prompt = request.prompt_ids
        self._cache = request.assistant.runner.new_cache()

    def propose(self, context: DraftContext) -> list[Draft]:
        """One draft; none where the small model's context is full."""
        ids = [*self._prompt, *context.token_ids]
        runner = self._assistant.runner
        if len(ids) + LENGTH > runner.max_context:
            return []
        self._cache.truncate(min(shared_length(self._cache.token_ids, ids), len(ids) - 1))
        runner.prefill(self._cache, ids[self._cache.length : -1])
        tokens, first = list[int](), 0.5
        last = ids[-1]
        for _ in range(LENGTH):
            last, p = self._next(last)
            first = first if tokens else p
            tokens.append(last)
        return [Draft(tokens=tuple(tokens), p=min(0.95, max(0.05, first)), q=0.8)]

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Nothing: what came true is seen when it is asked again."""

    def _next(self, token: int) -> tuple[int, float]:
        """The likeliest token after `token`, and its probability; `token` is in the cache then."""
        runner = self._assistant.runner
        hidden = runner.hidden(self._cache, Rows.chain([token], self._cache.length))
        self._cache.commit([token], [0])
        logits = runner.logits(hidden)[0, : self._assistant.n_tokens].float()
        best = int(logits.argmax())
        return best, float(logits.softmax(-1)[best])
