"""The ways to decode that are compared, each as one function of a question: ours, and what people use today."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from bench.questions import Case
from lookstruct.decoding.constraint import Grammar, GrammarCompiler, allowed_ids
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.loading import LoadedModel
from lookstruct.decoding.request import Options, Window
from lookstruct.decoding.sources.draft_model import LENGTH

LIMIT = 1500
"""New tokens per page, for every arm."""


@dataclass(frozen=True, slots=True)
class Run:
    """One page decoded by one arm; times are wall-clock seconds, decode without prefill."""

    arm: str
    page: str
    token_ids: tuple[int, ...]
    forwards: int
    nodes: int
    prefill_s: float
    decode_s: float
    overhead_s: float = 0.0
    forced: int = 0
    margins: tuple[float, ...] = ()
    peak_bytes: int = 0

    @property
    def tokens_per_forward(self) -> float:
        """New tokens divided by decode forwards."""
        return len(self.token_ids) / max(1, self.forwards)


Arm = Callable[[Case], Run]
CLASSICAL = "classical speculation"
CLASSICAL_OPTIONS = Options(mode="lookahead", sources=("draft_model",), nodes=LENGTH, max_new_tokens=LIMIT)
"""A small model drafts a chain; its own prefill is part of the decode time, as it has no other clock."""


def our_arms() -> dict[str, Options]:
    """Our own arms by name, all exact against the first."""
    plain = Options(max_new_tokens=LIMIT)
    return {
        "autoregressive": replace(plain, mode="autoregressive", skip_forced=False),
        "autoregressive + forced": replace(plain, mode="autoregressive"),
        "window alone (W,N,G = 5,4,5)": replace(plain, mode="lookahead", sources=("window",), window=Window(5, 4, 5)),
        "+ schema": replace(plain, sources=("schema",)),
        "+ page": replace(plain, sources=("schema", "page")),
        "+ values": replace(plain, sources=("schema", "page", "values")),
        "+ arrays": replace(plain, sources=("schema", "page", "values", "arrays")),
        "all (automatic)": plain,
        "all, 128 nodes": replace(plain, nodes=128),
    }


def ours(name: str, engine: Engine, options: Options) -> Arm:
    """One of our arms; the prompt's KV is never reused, so that prefill is paid by all."""

    def run(case: Case) -> Run:
        engine.forget_prefixes()
        question = case.question
        made = engine.generate(question.prompt.ids, grammar=question.grammar, hints=question.hints, options=options)
        stats = made.stats
        return Run(
            name,
            case.page.name,
            tuple(made.token_ids),
            stats.forwards,
            stats.nodes,
            stats.prefill_s,
            stats.decode_s,
            stats.draft_s + stats.grammar_s + stats.cache_s,
            stats.forced_tokens,
            tuple(made.margins),
        )

    return run


def outlines_arm(loaded: LoadedModel) -> Arm:
    """Outlines with its llguidance backend over transformers' generate, on the same prompt and user schema.

    Its whitespace rule is its own, so its text may differ from ours; it has no fields held to the page.
    """
    import outlines
    from outlines.types import JsonSchema

    wrapped = outlines.from_transformers(loaded.model, loaded.tokenizer)  # type: ignore[arg-type]

    def run(case: Case) -> Run:
        generator = outlines.Generator(wrapped, JsonSchema(case.schema.json_schema), backend="llguidance")
        ids = torch.tensor([list(case.question.prompt.ids)])
        processor = generator.logits_processor  # type: ignore[union-attr]
        processor.reset()
        return _generated("outlines + transformers", case, loaded, ids, logits_processor=[processor])

    return run


def prompt_lookup_arm(loaded: LoadedModel, engine: Engine) -> Arm:
    """transformers' prompt lookup under our grammar, by a processor that follows the prefix it is given."""

    def run(case: Case) -> Run:
        ids = torch.tensor([list(case.question.prompt.ids)])
        mask = PrefixMask(engine, case.question.grammar, ids.shape[1])
        return _generated(
            "transformers prompt lookup", case, loaded, ids, logits_processor=[mask], prompt_lookup_num_tokens=10
        )

    return run


class PrefixMask:
    """A logits processor whose state is a function of the prefix alone: it forks from the longest one it knows."""

    def __init__(self, engine: Engine, grammar: Grammar, n_prompt: int) -> None:
        self._start = GrammarCompiler(engine.vocabulary).start(grammar)
        self._known = {(): self._start}
        self._n_prompt = n_prompt
        self._eos = list(engine.vocabulary.eos_ids)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Mask one row of scores."""
        prefix = tuple(input_ids[0, self._n_prompt :].tolist())
        allowed = self._allowed(prefix, scores.shape[-1])
        masked = torch.full_like(scores, -torch.inf)
        masked[:, allowed] = scores[:, allowed]
        return masked

    def _allowed(self, prefix: tuple[int, ...], width: int) -> Any:
        n = max(n for n in range(len(prefix) + 1) if prefix[:n] in self._known)
        state = self._known[prefix[:n]]
        for i in range(n, len(prefix)):
            if state.finished or not state.allows(prefix[i]):
                return self._eos
            state = state.after(prefix[i])
            self._known[prefix[: i + 1]] = state
        return self._eos if state.finished else allowed_ids(state.mask(), width)


def _generated(name: str, case: Case, loaded: LoadedModel, ids: torch.Tensor, **options: Any) -> Run:
    with counting(loaded.model) as calls:
        start = time.perf_counter()
        out = loaded.model.generate(  # type: ignore[operator]
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=LIMIT,
            do_sample=False,
            eos_token_id=list(loaded.eos_ids),
            pad_token_id=loaded.eos_ids[0],
            **options,
        )
        whole = time.perf_counter() - start
    new = [t for t in out[0, ids.shape[1] :].tolist() if t not in loaded.eos_ids]
    prefill = calls[0]
    return Run(name, case.page.name, tuple(new), len(calls) - 1, 0, prefill, whole - prefill)


@contextmanager
def counting(model: Any) -> Iterator[list[float]]:
    """The seconds of every forward of `model` while it is open; the first is the prefill."""
    seconds: list[float] = []
    forward = model.forward

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        result = forward(*args, **kwargs)
        seconds.append(time.perf_counter() - start)
        return result

    model.forward = timed
    try:
        yield seconds
    finally:
        del model.forward
