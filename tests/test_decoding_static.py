"""Forwards of fixed shape write what forwards of any shape write; on a CPU, the captures replaced by traces."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from drafts import drafted
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.fx.experimental.proxy_tensor import make_fx

from lookstruct.decoding.attention import TreeMask
from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.request import Completion, Options, Window
from lookstruct.decoding.runner import Rows
from lookstruct.decoding.sampler import Sampler
from lookstruct.decoding.static import runner as static_runner
from lookstruct.decoding.static.answers import masked_argmax
from lookstruct.decoding.static.buckets import ROWS, keys_bucket, rows_bucket
from lookstruct.decoding.static.cache import StaticCache
from lookstruct.decoding.static.capture import Work
from lookstruct.decoding.static.inputs import Inputs
from lookstruct.decoding.static.mask import StaticMask
from lookstruct.decoding.static.runner import StaticRunner

PROMPT = tiny.tokenizer()("Invoice number INV-2024-0017, Steel bolt M8, total due: 1,234.56 EUR.\n")["input_ids"]
OBJECT = Grammar.json_schema(
    {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 30}, "price": {"type": "number"}},
        "required": ["name", "price"],
        "additionalProperties": False,
    }
)
CPU = torch.device("cpu")


def engine(family: str = "llama", *, fixed: bool = True, seed: int = 0) -> Engine:
    made = Engine(tiny.model(family, seed), tiny.tokenizer(), eos_ids=(0,), cost=CostModel.free(), fixed_shapes=fixed)
    assert isinstance(made.runner, StaticRunner) == fixed
    return made


def plainly(eng: Engine, prompt: Sequence[int] = PROMPT, n: int = 40, grammar: Grammar | None = None) -> Completion:
    return eng.generate(prompt, grammar=grammar, options=Options(mode="autoregressive", max_new_tokens=n))


class Tracing:
    """Captures as a GPU would: what Python decided while it was captured holds for ever, and addresses do too."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self, work: Work, tensors: Sequence[torch.Tensor]) -> Work:
        self.n += 1
        kept = list(tensors)
        work()
        graph = make_fx(lambda *_: work())(*kept)
        return lambda: graph(*kept)


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Tracing:
    tracing = Tracing()
    monkeypatch.setattr(static_runner, "capture_for", lambda _: tracing)
    return tracing


@pytest.mark.parametrize("grammar", [None, OBJECT], ids=["free", "json"])
@pytest.mark.parametrize("family", tiny.CONFIGS)
def test_fixed_shapes_write_the_same_tokens_for_every_family(
    monkeypatch: pytest.MonkeyPatch, family: str, grammar: Grammar | None
) -> None:
    plain = plainly(engine(family, fixed=False), grammar=grammar)
    eng = engine(family)
    made = drafted(
        monkeypatch, eng, PROMPT, plain.token_ids, right=3, wrong=(5, 70, 71), grammar=grammar, max_new_tokens=40
    )
    assert made.token_ids == plain.token_ids == plainly(eng, grammar=grammar).token_ids
    assert made.logprobs == pytest.approx(plain.logprobs, abs=1e-5)
    assert made.stats.forwards < plain.stats.forwards
    assert not made.stats.notes, "nothing was refused"


SLOW_TO_TRACE = [pytest.param(name, marks=pytest.mark.slow) for name in ("gemma2", "gpt2", "mistral_window", "phi3")]


@pytest.mark.parametrize("family", ["llama", *SLOW_TO_TRACE])
def test_a_capture_holds_nothing_that_changes_from_step_to_step(
    monkeypatch: pytest.MonkeyPatch, traced: Tracing, family: str
) -> None:
    """The traced forward knows no Python number of a later step, so a CUDA graph of it would not either."""
    plain = plainly(engine(family, fixed=False))
    eng = engine(family)
    made = drafted(monkeypatch, eng, PROMPT, plain.token_ids, right=3, wrong=(5, 70), max_new_tokens=40)
    assert made.token_ids == plain.token_ids
    assert not made.stats.notes, "nothing was refused"
    assert traced.n < made.stats.forwards


def test_captures_are_used_again_by_the_next_request(monkeypatch: pytest.MonkeyPatch, traced: Tracing) -> None:
    eng = engine()
    prompts = [PROMPT, PROMPT[::-1], [*PROMPT, 9, 10]]
    outputs = [plainly(engine(fixed=False), prompt).token_ids for prompt in prompts]
    counts = []
    for prompt, tokens in [*zip(prompts, outputs, strict=True)] * 2:
        made = drafted(monkeypatch, eng, prompt, tokens, right=3, wrong=(5, 70), max_new_tokens=40)
        assert made.token_ids == tokens
        counts.append(traced.n)
    assert counts[2:] == [counts[2]] * 4


@pytest.mark.parametrize("start", [500, 505, 511, 760])
def test_a_text_may_grow_past_the_keys_that_a_forward_looks_over(monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    """A bucket of keys ends in the middle of the text: buffers move, captures die, the tokens stay the same."""
    prompt = (PROMPT * 40)[:start]
    plain = plainly(engine("mistral_window", fixed=False), prompt)
    made = drafted(
        monkeypatch, engine("mistral_window"), prompt, plain.token_ids, right=4, wrong=(7, 7, 7), max_new_tokens=40
    )
    assert made.token_ids == plain.token_ids


def test_more_rows_than_any_shape_has_are_evaluated_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    long = Grammar.lark('start: "' + "the quick brown fox 0123456789 " * 20 + '" /[a-z]{3,9}/')
    plain = plainly(engine(fixed=False), n=600, grammar=long)
    eng = engine()
    made = drafted(monkeypatch, eng, PROMPT, plain.token_ids, grammar=long, max_new_tokens=600)
    assert made.token_ids == plain.token_ids
    assert max(step.rows for step in made.steps) > ROWS[-1]


def test_a_prompt_of_one_token_has_no_buffers_yet() -> None:
    assert plainly(engine(), [5]).token_ids == plainly(engine(fixed=False), [5]).token_ids


def test_the_window_reads_its_answers_from_the_same_forward() -> None:
    options = Options(sources=("window",), window=Window(5, 4, 5), max_new_tokens=50)
    static, dynamic = (engine(fixed=fixed).generate(PROMPT, options=options) for fixed in (True, False))
    assert static.token_ids == dynamic.token_ids
    assert static.stats.forwards == dynamic.stats.forwards


def test_draws_and_penalties_are_the_same_with_fixed_shapes() -> None:
    options = Options(temperature=0.8, seed=3, top_k=40, repetition_penalty=1.2, max_new_tokens=40)
    static, dynamic = (engine(fixed=fixed).generate(PROMPT, options=options) for fixed in (True, False))
    assert static.token_ids == dynamic.token_ids


def test_the_host_waits_once_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Greedy steps ask the device once, however many tokens they accept."""
    eng = engine()
    plain = plainly(engine(fixed=False))
    runner: Any = eng.runner
    asked = [0]
    answers = runner.answers

    def counted(inputs: Inputs) -> Any:
        asked[0] += 1
        return answers(inputs)

    monkeypatch.setattr(runner, "answers", counted)
    monkeypatch.setattr(runner, "logits", lambda _: pytest.fail("a second look at the device"))
    made = drafted(monkeypatch, eng, PROMPT, plain.token_ids, right=7, wrong=(5,), max_new_tokens=40)
    assert made.token_ids == plain.token_ids
    assert asked[0] == made.stats.forwards


def test_a_model_that_cannot_be_captured_runs_as_ever_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(work: Work, tensors: Sequence[torch.Tensor]) -> Work:  # noqa: ARG001
        raise RuntimeError("operation not permitted when stream is capturing\nmore lines")

    monkeypatch.setattr(static_runner, "capture_for", lambda _: refuse)
    plain = plainly(engine(fixed=False))
    made = drafted(monkeypatch, engine(), PROMPT, plain.token_ids, right=3, wrong=(5,), max_new_tokens=40)
    assert made.token_ids == plain.token_ids
    assert any("not permitted when stream is capturing)" in note for note in made.stats.notes)


def test_a_capture_that_freezes_what_changes_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeating the first step's result would pass the first comparison; the second one is at another length."""

    def frozen(work: Work, tensors: Sequence[torch.Tensor]) -> Work:
        work()
        saved = [tensor.clone() for tensor in tensors]

        def replay() -> None:
            for tensor, old in zip(tensors, saved, strict=True):
                tensor.copy_(old)

        return replay

    monkeypatch.setattr(static_runner, "capture_for", lambda _: frozen)
    eng = engine()
    assert isinstance(eng.runner, StaticRunner)
    assert eng.runner.refused is not None
    assert plainly(eng).token_ids == plainly(engine(fixed=False)).token_ids


def random_rows(n: int, past: int, seed: int) -> Rows:
    """A random forest of `n` rows behind `past` tokens."""
    pick = random.Random(seed)
    visible, depth = np.eye(n, dtype=np.bool_), [0] * n
    for i in range(1, n):
        parent = pick.randrange(-1, i)
        if parent >= 0:
            visible[i] |= visible[parent]
            depth[i] = depth[parent] + 1
    return Rows([pick.randrange(500) for _ in range(n)], past + np.array(depth), visible)


@given(
    n=st.integers(1, 40), past=st.integers(0, 300), seed=st.integers(0, 99), window=st.sampled_from([None, 1, 5, 64])
)
@settings(max_examples=60, deadline=None)
def test_the_mask_made_on_the_device_is_the_tree_mask_and_filling_rows_see_themselves(
    n: int, past: int, seed: int, window: int | None
) -> None:
    rows = random_rows(n, past, seed)
    size = rows_bucket(n)
    assert size is not None
    inputs = Inputs(size, 4, torch.float64, CPU)
    inputs.fill(random_rows(size, 7, seed + 1), 7)  # what an earlier step left
    inputs.fill(rows, past)
    n_keys = keys_bucket(past + size)
    mask = StaticMask(inputs, n_keys, torch.float64).additive(window, 2)
    expected = TreeMask(past, rows.positions, rows.visible, torch.float64, CPU).additive(window, 2)
    assert mask.shape == (1, 1, 2 * size, n_keys)
    for group in range(2):
        mine = mask[0, 0, group * size : (group + 1) * size]
        assert torch.equal(mine[:n, : past + n], expected[0, 0, group * n : (group + 1) * n])
        assert bool((mine[:n, past + n :] == -torch.inf).all())
        for row in range(n, size):
            seen = (mine[row] == 0).nonzero()[:, 0].tolist()
            assert past + row in seen
            assert not set(range(past, past + size)) - {past + row} & set(seen)


@given(seed=st.integers(0, 999), n=st.integers(1, 5), width=st.integers(33, 200), ties=st.booleans())
@settings(max_examples=60, deadline=None)
def test_answers_of_the_device_are_those_of_the_sampler(seed: int, n: int, width: int, ties: bool) -> None:
    made = torch.Generator().manual_seed(seed)
    logits = torch.randn(n, width, generator=made, dtype=torch.float64)
    if ties:
        logits = logits.round()
    allowed = torch.rand(n, width, generator=made) < 0.4
    allowed[:, seed % width] = True
    padded = np.zeros((n, (width + 31) // 32 * 32), np.uint8)
    padded[:, :width] = allowed.numpy()
    bits = np.packbits(padded, axis=1, bitorder="little").view(np.int32)
    told = masked_argmax(logits, torch.from_numpy(bits))
    sampler = Sampler(Options())
    for row in range(n):
        choice = sampler.choose(logits[row], bits[row], 0, [])
        assert int(told[0, row]) == choice.token
        assert float(told[1, row]) == pytest.approx(choice.logprob, abs=1e-9)
        assert float(told[2, row]) == pytest.approx(choice.margin, abs=1e-9)
        assert int(told[3, row]) == sampler.choose(logits[row], None, 0, []).token


@given(past=st.integers(1, 60), kept=st.sets(st.integers(0, 23), max_size=24))
@settings(max_examples=40, deadline=None)
def test_accepted_rows_are_gathered_and_nothing_before_them_moves(past: int, kept: set[int]) -> None:
    cache = StaticCache()
    some = torch.arange(past + 24, dtype=torch.float64).reshape(1, 1, -1, 1).expand(1, 2, -1, 3)
    for layer in range(2):
        cache.update(some[:, :, :past] + layer, -some[:, :, :past], layer)
    cache.commit(list(range(past)), range(past))
    for layer in range(2):
        cache.update(some[:, :, past:] + layer, -some[:, :, past:], layer)
    rows = sorted(kept)
    cache.commit([past + row for row in rows], rows)
    assert cache.length == past + len(rows)
    truth = torch.tensor([*range(past), *(past + row for row in rows)], dtype=torch.float64)
    for index, layer in enumerate(cache.buffers):
        assert torch.equal(layer.keys[0, 0, : cache.length, 0], truth + index)
        assert torch.equal(layer.values[0, 1, : cache.length, 2], -truth)


def test_buckets_hold_what_they_are_asked_for() -> None:
    for n in range(1, ROWS[-1] + 1):
        size = rows_bucket(n)
        assert size is not None
        assert size >= n
    assert rows_bucket(ROWS[-1] + 1) is None
    sizes = sorted({keys_bucket(n) for n in range(1, 9000)})
    assert sizes[:6] == [512, 768, 1024, 1536, 2048, 3072]
    assert all(keys_bucket(n) >= n and (n < 512 or keys_bucket(n) < 1.51 * n) for n in range(1, 9000, 7))
