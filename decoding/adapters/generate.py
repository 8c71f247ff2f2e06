"""`model.generate(..., custom_generate=Lookahead(tokenizer))`: generate's own call, decoded by this engine.

    model.generate(**inputs, max_new_tokens=200, custom_generate=Lookahead(tokenizer))

What generate was asked arrives as a configuration, logits processors and stopping criteria. What this engine decodes
exactly is translated; everything else is refused by name. generate drops `streamer`, `tokenizer`, `stop_strings` and
`assistant_model` before it calls: give streamer, tokenizer and stop strings to `Lookahead` itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from lookstruct.decoding.adapters.translate import (
    limits_of,
    options_of,
    refuse_inputs,
    refuse_modes,
    refuse_outputs,
    unpadded,
)
from lookstruct.decoding.decode import as_options, hints_from
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.engines import engine_for
from lookstruct.decoding.grammars import as_grammar
from lookstruct.decoding.request import Completion, Hints, Options
from lookstruct.decoding.sequence import Sequence as Decoded

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase
    from transformers.generation.streamers import BaseStreamer


class Lookahead:
    """A decoding method for `generate`, with what generate does not hand on.

    `grammar` is whatever `lookstruct.decode` takes; `streamer` any of transformers' streamers; `stop` strings end the
    text and are, as with generate, part of the returned ids. `seed` fixes the draws of `do_sample=True`; without it
    they follow `torch.manual_seed`. `mode`, `sources`, `nodes` and `window` choose how to draft, never what comes
    out. After a call `completion` tells how it went. For one sequence at a time.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        *,
        streamer: BaseStreamer | None = None,
        stop: str | Iterable[str] = (),
        grammar: Any = None,
        hints: Hints | None = None,
        seed: int | None = None,
        **drafting: Any,
    ) -> None:
        self.completion: Completion | None = None
        self._tokenizer = tokenizer
        self._streamer = streamer
        self._grammar = as_grammar(grammar)
        self._hints = hints
        self._seed = seed
        self._options = as_options({"stop": stop, **drafting})

    def __call__(
        self,
        model: PreTrainedModel,
        input_ids: torch.Tensor,
        logits_processor: Sequence[Any],
        stopping_criteria: Sequence[Any],
        generation_config: GenerationConfig,
        **model_kwargs: Any,
    ) -> Any:
        """Called by generate; ids [1, prompt + new] as it returns them, or its output class where it was asked for."""
        refuse_modes(generation_config, input_ids)
        refuse_outputs(generation_config)
        refuse_inputs(model_kwargs, input_ids)
        prompt = unpadded(input_ids, model_kwargs.get("attention_mask"))
        n_padding = input_ids.shape[1] - len(prompt)
        limits = limits_of(stopping_criteria, input_ids.shape[1])
        options = options_of(
            logits_processor,
            self._options,
            limits,
            n_padding,
            sample=generation_config.do_sample,
            seed=self._drawn_seed,
        )
        engine = engine_for(model, self._tokenizer, limits.eos_ids)
        try:
            if self._streamer is not None:
                self._streamer.put(input_ids.cpu())
            self.completion = self._run(engine, prompt, options, limits.cancel)
        finally:
            if self._streamer is not None:
                self._streamer.end()
        new = torch.tensor([self.completion.token_ids], dtype=input_ids.dtype, device=input_ids.device)
        ids = torch.cat([input_ids, new], dim=1)
        return _output(ids) if generation_config.return_dict_in_generate else ids

    def _drawn_seed(self) -> int:
        return int(torch.randint(1 << 62, ())) if self._seed is None else self._seed

    def _run(self, engine: Engine, prompt: list[int], options: Options, cancel: Any) -> Completion:
        hints = self._hints or hints_from(engine, prompt, self._grammar)
        job = engine.begin(prompt, grammar=self._grammar, hints=hints, options=options)
        shown = 0
        for _ in engine.steps(job, cancel):
            shown = self._show(job[0], shown)
        return engine.completion(job[0])

    def _show(self, sequence: Decoded, shown: int) -> int:
        """Hand the streamer the tokens it has not had, one at a time as generate does; how many it has then."""
        if self._streamer is not None:
            for token in sequence.generated[shown:]:
                self._streamer.put(torch.tensor([token]))
        return sequence.n_generated


def _output(ids: Any) -> Any:
    from transformers.generation.utils import GenerateDecoderOnlyOutput

    return GenerateDecoderOnlyOutput(sequences=ids)
