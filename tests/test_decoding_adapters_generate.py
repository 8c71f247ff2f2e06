"""generate with `custom_generate=Lookahead(...)` returns what generate returns, or names what it cannot do."""

from __future__ import annotations

import copy
import gc
import queue
import re
import weakref
from pathlib import Path
from typing import Any

import pytest
import tiny
import torch
import transformers
from transformers import TextIteratorStreamer, TextStreamer

from lookstruct.decoding.adapters.generate import Lookahead
from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.engines import engine_for
from lookstruct.decoding.request import Options
from lookstruct.schemas.errors import SchemaError, UsageError

PROMPT = "Invoice number INV-2024-0017, Steel bolt M8, total due: 1,234.56 EUR.\n"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKSTRUCT_CACHE", str(_cache_folder(tmp_path_factory)))


def _cache_folder(factory: pytest.TempPathFactory) -> Path:
    folder = factory.getbasetemp() / "lookstruct-cache"
    folder.mkdir(exist_ok=True)
    return folder


def ids(text: str = PROMPT) -> torch.Tensor:
    return torch.tensor([tiny.tokenizer()(text)["input_ids"]])


def generate(lookahead: Lookahead | None = None, family: str = "llama", **asked: Any) -> Any:
    asked = {"max_new_tokens": 30, "do_sample": False, "pad_token_id": 0, **asked}
    given = asked.pop("input_ids", ids())
    return tiny.model(family).generate(given, custom_generate=lookahead, **asked)


class Recorder(transformers.generation.streamers.BaseStreamer):
    """Keeps what it is put, and whether it was ended."""

    def __init__(self) -> None:
        self.prompt: torch.Tensor | None = None
        self.tokens: list[int] = []
        self.ended = 0

    def put(self, value: torch.Tensor) -> None:
        if self.prompt is None:
            self.prompt = value
        else:
            assert value.shape == (1,)
            self.tokens += value.tolist()

    def end(self) -> None:
        self.ended += 1


@pytest.mark.parametrize("family", ["llama", "gpt2", "gemma3"])
def test_greedy_ids_are_those_of_generate(family: str) -> None:
    theirs = generate(family=family)
    for drafting in ({}, {"sources": ("window",)}, {"nodes": 16}, {"mode": "autoregressive"}):
        ours = generate(Lookahead(tiny.tokenizer(), **drafting), family=family)
        assert torch.equal(ours, theirs)


def test_the_second_call_equals_the_first_and_shares_its_engine() -> None:
    first, second = Lookahead(tiny.tokenizer()), Lookahead(tiny.tokenizer())
    assert torch.equal(generate(first, input_ids=ids(PROMPT * 2)), generate(second, input_ids=ids(PROMPT * 2)))
    assert second.completion is not None
    assert second.completion.stats.cached_prompt_tokens == second.completion.stats.prompt_tokens - 1


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_max_new_tokens_is_never_overshot(limit: int) -> None:
    ours = generate(Lookahead(tiny.tokenizer()), max_new_tokens=limit)
    assert ours.shape[1] == ids().shape[1] + limit
    assert torch.equal(ours, generate(max_new_tokens=limit))


def test_max_length_counts_the_prompt() -> None:
    n = ids().shape[1]
    assert generate(Lookahead(tiny.tokenizer()), max_new_tokens=None, max_length=n + 5).shape[1] == n + 5


def test_any_of_several_eos_ids_ends_the_text() -> None:
    written = generate(eos_token_id=None)[0, ids().shape[1] :].tolist()
    ends = [written[12], 2]
    theirs = generate(eos_token_id=ends)
    assert torch.equal(generate(Lookahead(tiny.tokenizer()), eos_token_id=ends), theirs)
    assert theirs[0, -1] == written[12]


def test_repetition_penalty_is_that_of_generate() -> None:
    theirs = generate(repetition_penalty=1.4)
    assert torch.equal(generate(Lookahead(tiny.tokenizer()), repetition_penalty=1.4), theirs)
    assert not torch.equal(theirs, generate())


def test_padding_on_the_left_changes_nothing_but_the_returned_prompt() -> None:
    padded = torch.cat([torch.zeros(1, 3, dtype=torch.long), ids()], dim=1)
    mask = torch.ones_like(padded)
    mask[:, :3] = 0
    asked = {"input_ids": padded, "attention_mask": mask, "repetition_penalty": 1.3}
    assert torch.equal(generate(Lookahead(tiny.tokenizer()), **asked), generate(**asked))


def test_a_seed_gives_the_same_draws_however_they_are_drafted() -> None:
    asked = {"do_sample": True, "temperature": 0.8, "top_k": 40, "top_p": 0.9, "min_p": 0.01}
    first = generate(Lookahead(tiny.tokenizer(), seed=5), **asked)
    assert torch.equal(generate(Lookahead(tiny.tokenizer(), seed=5, mode="autoregressive"), **asked), first)
    assert not torch.equal(generate(Lookahead(tiny.tokenizer(), seed=6), **asked), first)
    engine = engine_for(tiny.model("llama"), tiny.tokenizer(), (2,))
    options = Options(
        max_new_tokens=30, temperature=0.8, top_k=40, top_p=0.9, min_p=0.01, seed=5, mode="autoregressive"
    )
    plain = engine.generate(ids()[0].tolist(), options=options)
    assert first[0, ids().shape[1] :].tolist() == list(plain.token_ids)


def test_without_a_seed_the_draws_follow_torch() -> None:
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(generate(Lookahead(tiny.tokenizer()), do_sample=True).tolist())
    assert drawn[0] == drawn[1] != drawn[2]


def test_streamer_gets_the_prompt_then_each_token_then_the_end() -> None:
    recorder = Recorder()
    out = generate(Lookahead(tiny.tokenizer(), streamer=recorder))
    assert torch.equal(recorder.prompt, ids())
    assert recorder.tokens == out[0, ids().shape[1] :].tolist()
    assert recorder.ended == 1


def test_streamed_text_is_the_returned_text() -> None:
    streamer = TextIteratorStreamer(tiny.tokenizer(), skip_prompt=True, timeout=1, skip_special_tokens=True)
    out = generate(Lookahead(tiny.tokenizer(), streamer=streamer))
    decoded = tiny.tokenizer().decode(out[0, ids().shape[1] :], skip_special_tokens=True)
    assert "".join(streamer) == decoded
    with pytest.raises(queue.Empty):
        next(streamer)


def test_the_streamer_is_ended_when_decoding_fails() -> None:
    recorder = Recorder()
    lookahead = Lookahead(tiny.tokenizer(), streamer=recorder, grammar=Grammar.regex("(?=a)b"))
    with pytest.raises(SchemaError):
        generate(lookahead)
    assert recorder.ended == 1


def test_transformers_own_text_streamer_is_served(capsys: pytest.CaptureFixture[str]) -> None:
    out = generate(Lookahead(tiny.tokenizer(), streamer=TextStreamer(tiny.tokenizer(), skip_prompt=True)))
    assert capsys.readouterr().out.rstrip("\n") == tiny.tokenizer().decode(out[0, ids().shape[1] :]).rstrip("\n")


def test_a_stop_string_ends_the_text_where_it_does_in_generate() -> None:
    text = tiny.tokenizer().decode(generate()[0, ids().shape[1] :])
    stop = re.findall("[A-Za-z]{2}", text)[1]
    theirs = generate(stop_strings=[stop], tokenizer=tiny.tokenizer())
    assert torch.equal(generate(Lookahead(tiny.tokenizer(), stop=stop)), theirs)


def test_a_grammar_holds_the_text() -> None:
    out = generate(Lookahead(tiny.tokenizer(), grammar=Grammar.regex("Total: [0-9]{3}")))
    text = tiny.tokenizer().decode(out[0, ids().shape[1] :], skip_special_tokens=True)
    assert text.startswith("Total: ")
    assert text[7:].isdigit()


def test_a_dict_is_returned_where_one_is_asked_for() -> None:
    out = generate(Lookahead(tiny.tokenizer()), return_dict_in_generate=True)
    assert torch.equal(out.sequences, generate())


def test_max_time_ends_the_text() -> None:
    assert generate(Lookahead(tiny.tokenizer()), max_time=0.0).shape[1] == ids().shape[1]


class _Halt(transformers.StoppingCriteria):
    def __call__(self, *_: Any, **__: Any) -> torch.Tensor:
        return torch.ones(1, dtype=torch.bool)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"input_ids": ids().repeat(2, 1)}, "batch of 2"),
        ({"num_beams": 3}, "num_beams=3"),
        ({"num_return_sequences": 2, "do_sample": True}, "num_return_sequences=2"),
        ({"no_repeat_ngram_size": 2}, "NoRepeatNGramLogitsProcessor"),
        ({"min_new_tokens": 4, "eos_token_id": 2}, "MinLengthLogitsProcessor"),
        ({"bad_words_ids": [[5]]}, "NoBadWordsLogitsProcessor"),
        ({"do_sample": True, "typical_p": 0.5}, "TypicalLogitsWarper"),
        ({"prefix_allowed_tokens_fn": lambda _, __: [5]}, "PrefixConstrainedLogitsProcessor"),
        ({"stopping_criteria": [_Halt()]}, "_Halt"),
        ({"return_dict_in_generate": True, "output_scores": True}, "output_scores"),
        ({"inputs_embeds": torch.zeros(1, 4, 48, dtype=torch.float64), "input_ids": None}, "inputs_embeds"),
        ({"attention_mask": torch.tensor([[1, 0] + [1] * (ids().shape[1] - 2)])}, "attention mask"),
        ({"do_sample": True, "logits_processor": [transformers.TopPLogitsWarper(0.5)], "temperature": 0.5}, "order"),
    ],
)
def test_what_cannot_be_decoded_exactly_is_refused_by_name(asked: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        generate(Lookahead(tiny.tokenizer()), **asked)


@pytest.mark.filterwarnings("ignore:`past_key_values` is deprecated")
def test_a_filled_cache_is_refused() -> None:
    net = tiny.model("llama")
    cache = net(input_ids=ids()[:, :4], use_cache=True).past_key_values
    with pytest.raises(UsageError, match="filled"):
        generate(Lookahead(tiny.tokenizer()), past_key_values=cache)


def test_an_unknown_option_is_named_when_the_object_is_made() -> None:
    with pytest.raises(UsageError, match="widnow"):
        Lookahead(tiny.tokenizer(), widnow=3)


def test_the_engine_dies_with_its_model_and_a_copy_of_the_model_starts_without() -> None:
    net = copy.deepcopy(tiny.model("llama"))
    gone = weakref.ref(engine_for(net, tiny.tokenizer()))
    assert engine_for(net, tiny.tokenizer()) is gone()
    twin = copy.deepcopy(net)
    assert engine_for(twin, tiny.tokenizer()) is not gone()
    assert engine_for(twin, tiny.tokenizer()).runner.model is twin
    del net
    gc.collect()
    assert gone() is None
