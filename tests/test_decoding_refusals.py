"""What cannot be decoded exactly, or at all, is refused before the work, in one clear sentence."""

from __future__ import annotations

from typing import Any

import pytest
import tiny
import torch
import transformers
from drafts import drafted

from lookstruct.decoding import memory
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.footprint import kv_bytes_per_token, request_bytes
from lookstruct.decoding.request import Options, Window
from lookstruct.decoding.vocabulary import Vocabulary
from lookstruct.schemas.errors import ContextOverflow, ModelUnsupported, OutOfMemory

PROMPT = tiny.tokenizer()("Invoice number INV-2024-0017, Steel bolt M8, total due: 1,234.56 EUR.\n")["input_ids"]
NO_END = (0,)


def rotating(make: Any, rope: dict[str, Any], **more: Any) -> Any:
    """A tiny model of 128 positions with rotary parameters of its own."""
    torch.manual_seed(0)
    config = make(
        **{**tiny.COMMON, "max_position_embeddings": 128}, rope_parameters={"rope_theta": 10000.0, **rope}, **more
    )
    model = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(4.0)
    return model.double().eval()


def switching() -> Any:
    """A tiny Phi-3 that rotates otherwise from its 65th position on."""
    rope = {"rope_type": "longrope", "short_factor": [1.0] * 6, "long_factor": [4.0] * 6}
    return rotating(transformers.Phi3Config, rope, original_max_position_embeddings=64)


def test_longrope_is_exact_up_to_its_switch_and_stops_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """No forward stands across the switch, not even with its drafts; the reference is transformers' own."""
    model = switching()
    theirs = model.generate(
        torch.tensor([PROMPT]), max_new_tokens=64 - len(PROMPT), do_sample=False, eos_token_id=0, pad_token_id=0
    )[0, len(PROMPT) :].tolist()
    eng = Engine(model, tiny.tokenizer(), eos_ids=NO_END, cost=CostModel.free())
    made = drafted(monkeypatch, eng, PROMPT, [*theirs, *theirs], max_new_tokens=200)
    assert list(made.token_ids) == theirs
    assert made.finish_reason == "length"
    window = eng.generate(PROMPT, options=Options(sources=("window",), window=Window(8, 5, 8), max_new_tokens=200))
    assert window.token_ids == made.token_ids


def test_a_prompt_behind_the_switch_of_longrope_is_refused() -> None:
    eng = Engine(switching(), tiny.tokenizer(), eos_ids=NO_END, cost=CostModel.free())
    with pytest.raises(ContextOverflow, match="64 tokens and the model takes 1 to 63"):
        eng.generate([5] * 64)


def test_dynamic_rotary_positions_are_exact_to_the_end_of_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    model = rotating(transformers.LlamaConfig, {"rope_type": "dynamic", "factor": 4.0})
    theirs = model.generate(
        torch.tensor([PROMPT]), max_new_tokens=128 - len(PROMPT), do_sample=False, eos_token_id=0, pad_token_id=0
    )[0, len(PROMPT) :].tolist()
    eng = Engine(model, tiny.tokenizer(), eos_ids=NO_END, cost=CostModel.free())
    made = drafted(monkeypatch, eng, PROMPT, theirs, right=5, wrong=(9, 9), max_new_tokens=300)
    assert list(made.token_ids) == theirs


@pytest.mark.parametrize("ids", [[512], [2, 515], [9999], [-1]])
def test_an_end_token_that_the_tokenizer_lacks_is_refused(ids: list[int]) -> None:
    with pytest.raises(ModelUnsupported, match=rf"ends its texts with token {ids[-1]}, .* last one is 511"):
        Vocabulary(tiny.tokenizer(), tiny.WIDTH, ids)


def test_a_request_that_cannot_fit_is_refused_before_anything_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    eng = Engine(tiny.model("llama"), tiny.tokenizer(), cost=CostModel.free())
    monkeypatch.setattr(eng.runner, "hidden", lambda *_: pytest.fail("computed all the same"))
    eng.__dict__["can_draft"] = True  # tried on a model by computing
    monkeypatch.setattr(memory, "free_bytes", lambda _: 100_000)
    with pytest.raises(OutOfMemory, match=r"prompt of \d+ tokens and writing up to 50 .* shorten the page"):
        eng.generate(PROMPT, options=Options(max_new_tokens=50))


def test_buffers_at_hand_count_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    eng = Engine(tiny.model("llama"), tiny.tokenizer(), cost=CostModel.free())
    options = Options(mode="autoregressive", max_new_tokens=4)
    first = eng.generate(PROMPT, options=options)
    config = tiny.model("llama").config
    needed = request_bytes(config, torch.float64, len(PROMPT) + 4, 512)
    monkeypatch.setattr(memory, "free_bytes", lambda _: needed - 1000)
    assert eng.generate(PROMPT, options=options).token_ids == first.token_ids
    eng.forget_prefixes()
    with pytest.raises(OutOfMemory):
        eng.generate(PROMPT, options=options)


@pytest.mark.parametrize("family", tiny.CONFIGS)
def test_the_estimate_of_a_tokens_keys_and_values_is_what_a_cache_holds(family: str) -> None:
    eng = Engine(tiny.model(family), tiny.tokenizer(), cost=CostModel.free())
    cache = eng.runner.new_cache(256)
    eng.runner.prefill(cache, PROMPT)
    assert cache.nbytes() == 256 * kv_bytes_per_token(tiny.model(family).config, torch.float64)
