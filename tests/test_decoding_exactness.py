"""The promise: lookahead output equals masked autoregressive output, token for token, whatever is drafted."""

from __future__ import annotations

import random
from typing import Any

import pytest
import tiny
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lookstruct.decoding import sources
from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.planner import Planner
from lookstruct.decoding.request import Completion, Options
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.schemas.errors import SchemaError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "price": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "tags": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 8}},
        "kind": {"enum": ["a", 'b"c', "d"]},
        "ok": {"type": "boolean"},
    },
    "required": ["name", "price", "tags", "kind", "ok"],
    "additionalProperties": False,
}
PROMPT = "Invoice number INV-2024-0017, Steel bolt M8, total due: 1,234.56 EUR.\n"
GRAMMARS = {
    "free": None,
    "json": Grammar.json_schema(SCHEMA),
    "regex": Grammar.regex(r"(Invoice|Total)[ a-z]{5,40}[0-9]{3,8}"),
}


class Oracle:
    """Drafts the truth, and lies as it is told: wrong tails, wrong heads, control tokens, far too much, nonsense."""

    name = "oracle"
    truth: tuple[int, ...] = ()
    lies = random.Random(0)

    def __init__(self, request: DraftRequest) -> None:
        self._vocabulary = request.vocabulary

    def propose(self, context: DraftContext) -> list[Draft]:
        done = len(context.token_ids)
        rest = self.truth[done : done + self.lies.randrange(1, 24)]
        noise = tuple(self.lies.randrange(tiny.WIDTH) for _ in range(self.lies.randrange(1, 9)))
        text = self._vocabulary.decode(rest)
        cut = self.lies.randrange(0, len(rest) + 1)
        return [
            Draft(tokens=rest, p=0.6),
            Draft(tokens=rest[:cut] + noise, p=0.5),
            Draft(tokens=noise, p=0.3),
            Draft(tokens=(2, *rest), p=0.2),
            Draft(text=text, p=0.5),
            Draft(text=text[:3] + b'"}], "x": \xff\xfe<|im_end|>' * 20, p=0.4),
            Draft(text=b'", "name": "' + text, p=0.4),
        ]

    def observe(self, context: DraftContext, n_new: int) -> None:
        assert n_new >= 1
        assert context.token_ids[-n_new:] == self.truth[len(context.token_ids) - n_new : len(context.token_ids)]


def engine(family: str, dtype: torch.dtype = torch.float64, seed: int = 0) -> Engine:
    return Engine(tiny.model(family, seed, dtype), tiny.tokenizer(), cost=CostModel.free())


def both(
    eng: Engine, grammar: Grammar | None, options: dict[str, Any], lies: int, prompt_text: str = PROMPT
) -> tuple[Completion, Completion]:
    prompt = tiny.tokenizer()(prompt_text)["input_ids"]
    plain = eng.generate(prompt, grammar=grammar, options=Options(mode="autoregressive", **options))
    Oracle.truth, Oracle.lies = tuple(plain.token_ids), random.Random(lies)
    drafted = eng.generate(prompt, grammar=grammar, options=Options(mode="lookahead", sources=("oracle",), **options))
    return plain, drafted


@pytest.fixture(autouse=True)
def _register_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sources.SOURCES, "oracle", Oracle)


@pytest.mark.parametrize("family", tiny.CONFIGS)
@pytest.mark.parametrize("grammar", GRAMMARS)
def test_lookahead_equals_autoregressive_in_fp64_for_every_family(family: str, grammar: str) -> None:
    plain, drafted = both(engine(family), GRAMMARS[grammar], {"max_new_tokens": 60}, lies=1)
    assert drafted.token_ids == plain.token_ids
    assert drafted.text == plain.text
    assert drafted.finish_reason == plain.finish_reason
    assert drafted.logprobs == pytest.approx(plain.logprobs, abs=1e-5)
    assert drafted.stats.forwards < plain.stats.forwards


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    family=st.sampled_from(sorted(tiny.CONFIGS)),
    grammar=st.sampled_from(sorted(GRAMMARS)),
    seed=st.integers(0, 3),
    lies=st.integers(0, 10_000),
    limit=st.integers(1, 70),
    nodes=st.sampled_from([None, 1, 3, 16, 64]),
)
def test_hostile_drafts_never_change_a_token(
    family: str, grammar: str, seed: int, lies: int, limit: int, nodes: int | None
) -> None:
    eng = engine(family, seed=seed)
    plain, drafted = both(eng, GRAMMARS[grammar], {"max_new_tokens": limit, "nodes": nodes}, lies)
    assert (drafted.token_ids, drafted.text) == (plain.token_ids, plain.text)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    grammar=st.sampled_from(sorted(GRAMMARS)),
    lies=st.integers(0, 1000),
    seed=st.integers(0, 1000),
    temperature=st.floats(0.2, 2.0),
    top_k=st.sampled_from([0, 5, 40]),
    top_p=st.sampled_from([1.0, 0.8]),
    min_p=st.sampled_from([0.0, 0.05]),
    penalty=st.sampled_from([1.0, 1.3]),
)
def test_a_seed_gives_the_same_tokens_with_and_without_lookahead(
    grammar: str, lies: int, seed: int, temperature: float, top_k: int, top_p: float, min_p: float, penalty: float
) -> None:
    options = {
        "max_new_tokens": 40,
        "temperature": temperature,
        "seed": seed,
        "top_k": top_k,
        "top_p": top_p,
        "min_p": min_p,
        "repetition_penalty": penalty,
    }
    plain, drafted = both(engine("qwen2"), GRAMMARS[grammar], options, lies)
    assert drafted.token_ids == plain.token_ids
    assert drafted.logprobs == pytest.approx(plain.logprobs, abs=1e-5)


def test_fp32_diverges_at_most_where_the_masked_margin_is_tiny() -> None:
    for seed in range(4):
        eng = engine("llama", torch.float32, seed)
        prompt = tiny.tokenizer()(PROMPT)["input_ids"]
        job = eng.begin(prompt, grammar=GRAMMARS["json"], options=Options(mode="autoregressive", max_new_tokens=60))
        eng.prefill(job[0])
        while job[0].finish is None:
            eng.step([job])
        Oracle.truth, Oracle.lies = tuple(job[0].generated), random.Random(seed)
        drafted = eng.generate(
            prompt, grammar=GRAMMARS["json"], options=Options(sources=("oracle",), max_new_tokens=60)
        )
        pairs = zip(drafted.token_ids, job[0].generated, job[0].margins, strict=False)
        first = next((margin for ours, theirs, margin in pairs if ours != theirs), None)
        assert first is None or first < 1e-4


def test_the_second_call_equals_the_first_and_reuses_the_prompt() -> None:
    eng = engine("gemma3")
    first, again = both(eng, GRAMMARS["json"], {"max_new_tokens": 60}, lies=3, prompt_text=PROMPT * 2)
    assert again.token_ids == first.token_ids
    assert again.stats.cached_prompt_tokens == again.stats.prompt_tokens - 1
    other = tiny.tokenizer()(PROMPT * 2 + "something else entirely")["input_ids"]
    shared = eng.generate(other, options=Options(max_new_tokens=20, mode="autoregressive"))
    fresh = engine("gemma3").generate(other, options=Options(max_new_tokens=20, mode="autoregressive"))
    assert shared.token_ids == fresh.token_ids


def test_plain_decoding_equals_generate_of_transformers() -> None:
    prompt = tiny.tokenizer()(PROMPT)["input_ids"]
    for family in tiny.CONFIGS:
        net = tiny.model(family)
        ours = engine(family).generate(prompt, options=Options(mode="autoregressive", max_new_tokens=30))
        theirs = net.generate(
            torch.tensor([prompt]), max_new_tokens=30, do_sample=False, eos_token_id=[2], pad_token_id=0
        )[0, len(prompt) :].tolist()
        assert list(ours.token_ids) == theirs, family


@pytest.mark.parametrize("family", tiny.CANNOT_DRAFT)
def test_a_model_that_cannot_verify_drafts_is_decoded_plainly_and_says_so(family: str) -> None:
    eng = engine(family, torch.float32)
    prompt = tiny.tokenizer()(PROMPT)["input_ids"]
    assert not eng.can_draft
    made = eng.generate(prompt, options=Options(max_new_tokens=20, mode="lookahead"))
    theirs = tiny.model(family, 0, torch.float32).generate(
        torch.tensor([prompt]), max_new_tokens=20, do_sample=False, eos_token_id=[2], pad_token_id=0
    )
    assert list(made.token_ids) == theirs[0, len(prompt) :].tolist()
    assert "cannot verify drafts" in made.stats.notes[0]
    held = eng.generate(prompt, grammar=GRAMMARS["json"], options=Options(max_new_tokens=80))
    assert held.finish_reason in ("grammar", "closed", "eos")
    assert eng.generate(prompt, grammar=GRAMMARS["json"], options=Options(max_new_tokens=80)).text == held.text


def test_every_other_family_can_draft() -> None:
    assert all(engine(family).can_draft for family in tiny.CONFIGS)


def test_a_draft_that_asks_too_much_of_the_grammar_engine_is_dropped_and_the_text_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, of_drafts = Planner.plan, 0

    def giving_up(self: Planner, *args: Any) -> Any:
        nonlocal of_drafts
        of_drafts += 1
        if of_drafts % 2:
            raise SchemaError("The grammar engine gave up.")
        return whole(self, *args)

    monkeypatch.setattr(Planner, "plan", giving_up)
    plain, drafted = both(engine("llama"), GRAMMARS["json"], {"max_new_tokens": 60}, lies=1)
    assert of_drafts > 2
    assert drafted.token_ids == plain.token_ids
    assert drafted.stats.forwards < plain.stats.forwards
