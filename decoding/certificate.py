"""A finished output + the model -> proof that plain decoding would have written it.

One teacher-forced pass evaluates every position at once; each token must be the one that masked decoding chooses
there. This shares nothing with drafting: neither trees, nor the walk, nor the cache that decoding used.
"""

from __future__ import annotations

from collections.abc import Sequence as Seq
from dataclasses import dataclass

import torch

from lookstruct.decoding.cache import KVCache
from lookstruct.decoding.constraint import Grammar, single_bit
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.request import Completion, Options
from lookstruct.decoding.runner import PREFILL_CHUNK, Rows
from lookstruct.decoding.sampler import Choice
from lookstruct.decoding.sequence import Sequence


@dataclass(frozen=True, slots=True)
class Certificate:
    """`holds` if every token is the choice of plain decoding.

    `first_difference` is the generated position where it is not (None if there is none), `margin` the difference of
    the two largest masked logits there; `least_margin` the smallest margin over all positions: how close the closest
    call was. In fp32 a difference with a margin under 1e-4 is rounding, not a fault.
    """

    holds: bool
    tokens: int
    first_difference: int | None = None
    margin: float | None = None
    least_margin: float = float("inf")


def certify(
    engine: Engine, prompt_ids: Seq[int], completion: Completion, *, grammar: Grammar | None, options: Options
) -> Certificate:
    """Check `completion`, made from the same prompt, grammar and options, in one pass over prompt and output."""
    sequence, _ = engine.begin(prompt_ids, grammar=grammar, options=options)
    tokens = list(completion.token_ids)
    cache = KVCache(len(prompt_ids) + len(tokens))
    engine.runner.prefill(cache, list(prompt_ids[:-1]))
    inputs = [prompt_ids[-1], *tokens[:-1]]
    least = float("inf")
    for start in range(0, len(inputs), PREFILL_CHUNK):
        chunk = inputs[start : start + PREFILL_CHUNK]
        hidden = engine.runner.hidden(cache, Rows.chain(chunk, cache.length))
        cache.commit(chunk, range(len(chunk)))
        for i, token in enumerate(tokens[start : start + PREFILL_CHUNK]):
            choice = _choice(engine, sequence, hidden[i : i + 1])
            least = min(least, choice.margin)
            if choice.token != token:
                return Certificate(False, len(tokens), start + i, choice.margin, least)
            sequence.commit(choice, "model")
    return Certificate(True, len(tokens), least_margin=least)


def _choice(engine: Engine, sequence: Sequence, hidden: torch.Tensor) -> Choice:
    mask = sequence.mask()
    forced = None if mask is None else single_bit(mask)
    if forced is not None:
        return Choice(forced, 0.0, float("inf"))
    logits = engine.runner.logits(hidden)[0]
    return sequence.affordable(sequence.sampler.choose(logits, mask, sequence.n_generated, sequence.ids))
