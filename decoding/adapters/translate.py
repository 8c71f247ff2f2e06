"""What `generate` was asked -> `Options` and limits; what this engine cannot decode exactly -> UsageError by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from transformers.generation import logits_process as processors
from transformers.generation import stopping_criteria as criteria

from lookstruct.decoding.request import Options
from lookstruct.schemas.errors import UsageError

if TYPE_CHECKING:
    from transformers import GenerationConfig

HOW = "leave it out, or call generate without custom_generate"
IN_ORDER = (
    processors.RepetitionPenaltyLogitsProcessor,
    processors.TemperatureLogitsWarper,
    processors.TopKLogitsWarper,
    processors.TopPLogitsWarper,
    processors.MinPLogitsWarper,
    processors.LogitNormalization,
)
"""The processors that the options cover, in the order in which the sampler applies them."""
KNOWN_INPUTS = frozenset({"attention_mask", "position_ids", "cache_position", "use_cache", "logits_to_keep"})
CACHES = ("cache", "past_key_values")
"""The KV cache's keyword: renamed within the range of supported transformers versions."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When to end: after `max_new_tokens`, at any of `eos_ids`, after a `stop` string, when `cancel()` says so."""

    max_new_tokens: int
    eos_ids: tuple[int, ...] = ()
    stop: tuple[str, ...] = ()
    cancel: Callable[[], bool] = lambda: False


def refuse_modes(config: GenerationConfig, input_ids: torch.Tensor) -> None:
    """Beams, several sequences, and other decoding methods."""
    for name in ("num_beams", "num_return_sequences"):
        if (getattr(config, name, None) or 1) > 1:
            raise UsageError(
                f"{name}={getattr(config, name)} was asked of lookahead decoding, which follows one; {HOW}."
            )
    if input_ids.shape[0] != 1:
        raise UsageError(f"A batch of {input_ids.shape[0]} came; lookahead decoding takes one sequence at a time.")
    mode = config.get_generation_mode().value
    if mode not in ("greedy_search", "sample", "assisted_generation"):
        raise UsageError(f"The generation mode {mode} was asked of lookahead decoding; {HOW}.")


def refuse_outputs(config: GenerationConfig) -> None:
    """Outputs of which only some rows are ever computed here."""
    for name in ("output_scores", "output_logits", "output_attentions", "output_hidden_states"):
        if getattr(config, name, None):
            raise UsageError(f"{name} was asked of lookahead decoding, which computes only what it looks at; {HOW}.")


def refuse_inputs(given: Mapping[str, Any], input_ids: torch.Tensor) -> None:
    """Whatever would reach the model's forward beside the tokens: images, embeddings, a cache that is already full."""
    for name, value in given.items():
        if name in CACHES:
            if value is not None and int(value.get_seq_length()) > 0:
                raise UsageError(
                    f"A filled {name} came; lookahead decoding keeps its own and finds prompts again itself."
                )
        elif name not in KNOWN_INPUTS and value is not None:
            raise UsageError(
                f"The model input {name} was given to lookahead decoding, which passes on tokens only; {HOW}."
            )
    if input_ids.shape[1] == 0:
        raise UsageError("The prompt is empty; give at least one token.")


def unpadded(input_ids: torch.Tensor, mask: torch.Tensor | None) -> list[int]:
    """The prompt without padding on its left; UsageError for a mask that leaves out anything else."""
    ids: list[int] = input_ids[0].tolist()
    if mask is None:
        return ids
    seen = mask[0].tolist()
    n = sum(1 for bit in seen if bit)
    if len(seen) != len(ids) or n == 0 or not all(seen[len(seen) - n :]):
        raise UsageError(
            "The attention mask hides more than padding on the left; lookahead decoding sees whole prompts."
        )
    return ids[len(ids) - n :]


def limits_of(given: Sequence[Any], n_ids: int) -> Limits:
    """When generate would stop; `n_ids` counts the prompt with its padding, as generate's limit does."""
    limits = Limits(max_new_tokens=1 << 30)
    for one in given:
        if type(one) is criteria.MaxLengthCriteria:
            limits = replace(limits, max_new_tokens=min(limits.max_new_tokens, one.max_length - n_ids))
        elif type(one) is criteria.EosTokenCriteria:
            limits = replace(limits, eos_ids=(*limits.eos_ids, *one.eos_token_id.reshape(-1).tolist()))
        elif type(one) is criteria.StopStringCriteria:
            limits = replace(limits, stop=(*limits.stop, *one.stop_strings))
        elif type(one) is criteria.MaxTimeCriteria:
            limits = replace(limits, cancel=_deadline(one.initial_timestamp + one.max_time))
        else:
            raise UsageError(f"The stopping criterion {type(one).__name__} is not known to lookahead decoding; {HOW}.")
    return limits


def _deadline(end: float) -> Callable[[], bool]:
    return lambda: time.time() > end


def options_of(
    given: Sequence[Any], base: Options, limits: Limits, n_padding: int, *, sample: bool, seed: Callable[[], int]
) -> Options:
    """`base` with what generate's processors ask for; `seed` is called only where a token is drawn."""
    kinds = [_rank(one) for one in given]
    if sample and kinds != sorted(set(kinds)):
        names = ", ".join(type(one).__name__ for one in given)
        raise UsageError(
            f"The logits processors come as {names}; lookahead decoding applies each once and in its order."
        )
    options = replace(base, max_new_tokens=limits.max_new_tokens, stop=(*base.stop, *limits.stop))
    if sample:
        options = replace(options, temperature=1.0, seed=seed())
    for one in given:
        options = _with(options, one, n_padding, sample=sample)
    return options


def _rank(processor: Any) -> int:
    if type(processor) not in IN_ORDER:
        raise UsageError(
            f"The logits processor {type(processor).__name__} is not known to lookahead decoding, which must "
            f"apply it behind any draft; {HOW}, or say what the text must look like with Lookahead(grammar=...)."
        )
    return IN_ORDER.index(type(processor))


def _with(options: Options, processor: Any, n_padding: int, *, sample: bool) -> Options:
    """One processor more. Greedily, the filters that keep the best token change nothing."""
    if isinstance(processor, processors.RepetitionPenaltyLogitsProcessor):
        if _ignored(processor) not in (0, n_padding):
            raise UsageError(
                "A repetition penalty that ignores the prompt is not known to lookahead decoding; leave it out."
            )
        return replace(options, repetition_penalty=options.repetition_penalty * processor.penalty)
    if not sample or isinstance(processor, processors.LogitNormalization):
        return options
    name = {
        processors.TemperatureLogitsWarper: "temperature",
        processors.TopKLogitsWarper: "top_k",
        processors.TopPLogitsWarper: "top_p",
        processors.MinPLogitsWarper: "min_p",
    }[type(processor)]
    return replace(options, **{name: getattr(processor, name)})


def _ignored(processor: Any) -> int:
    """How many tokens of the prompt a repetition penalty does not count."""
    ignored = getattr(processor, "prompt_ignore_length", None)
    return 0 if ignored is None else int(torch.as_tensor(ignored).reshape(-1)[0])
