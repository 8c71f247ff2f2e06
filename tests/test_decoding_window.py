"""The lookahead window on its own is the paper's method: right rows, right masks, and never another token."""

from __future__ import annotations

import pytest
import tiny
import torch

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.request import Hints, Options, Window
from lookstruct.decoding.sources.base import DraftContext, DraftRequest
from lookstruct.decoding.sources.window import LookaheadWindow, NGramPool

PROMPT = "Invoice number INV-2024-0017, Steel bolt M8, total due: 1,234.56 EUR.\n"


def engine(family: str) -> Engine:
    return Engine(tiny.model(family), tiny.tokenizer(), cost=CostModel.free())


@pytest.mark.parametrize("family", ["llama", "gemma3", "gpt2", "mistral_window"])
@pytest.mark.parametrize("size", [Window(1, 2, 1), Window(4, 2, 3), Window(3, 4, 2), Window(8, 5, 8)])
@pytest.mark.parametrize("grammar", [None, Grammar.regex("[a-z ]{1,60}[0-9]{4}")])
def test_window_alone_gives_the_same_tokens(family: str, size: Window, grammar: Grammar | None) -> None:
    eng = engine(family)
    prompt = tiny.tokenizer()(PROMPT)["input_ids"]
    plain = eng.generate(prompt, grammar=grammar, options=Options(mode="autoregressive", max_new_tokens=64))
    drafted = eng.generate(
        prompt, grammar=grammar, options=Options(sources=("window",), window=size, max_new_tokens=64)
    )
    assert drafted.token_ids == plain.token_ids


def test_window_saves_forwards_on_text_that_repeats_itself() -> None:
    eng = engine("llama")
    prompt = tiny.tokenizer()(PROMPT)["input_ids"]
    options = Options(sources=("window",), window=Window(8, 4, 8), max_new_tokens=128)
    drafted = eng.generate(prompt, options=options)
    assert drafted.stats.new_tokens == 128
    assert drafted.stats.forwards < 100
    assert drafted.stats.accepted["window"] == 128 - drafted.stats.forwards


def test_each_window_row_sees_level_0_up_to_its_column_and_its_own_column_above() -> None:
    """Checked against the model itself: the answer under a column equals that of the plain text the row stands for."""
    eng = engine("qwen2")
    prompt = tiny.tokenizer()(PROMPT)["input_ids"]
    job = eng.begin(prompt, options=Options(sources=("window",), window=Window(4, 4, 4), max_new_tokens=40))
    sequence, drafter = job
    eng.prefill(sequence)
    window = drafter.window
    assert window is not None
    for _ in range(4):
        levels, text = [list(level) for level in window._levels], list(sequence.ids)
        eng.step([job])
        newest = window._levels[-1]
        level0 = [text[-1], *levels[0]]
        for j in range(4):
            column = [level[j] for level in levels[1:]]
            plain = text + level0[1 : j + 1] + column
            with torch.no_grad():
                answer = int(tiny.model("qwen2")(torch.tensor([plain])).logits[0, -1].argmax())
            assert newest[j] == answer


def test_pool_holds_at_most_g_tails_a_token_and_forgets_the_least_recent() -> None:
    pool = NGramPool(G=2, max_keys=3)
    for first in range(5):
        for tail in range(4):
            pool.add(first, (tail,))
    assert len(pool) == 3
    assert pool.get(0) == []
    assert pool.get(4) == [(3,), (2,)]


def test_window_of_impossible_size_is_refused() -> None:
    request = DraftRequest(engine("llama").vocabulary, Hints(), Options(window=Window(4, 1, 1)), (1,))
    with pytest.raises(ValueError, match="N >= 2"):
        LookaheadWindow(request)


def test_window_proposes_nothing_before_the_first_token() -> None:
    request = DraftRequest(engine("llama").vocabulary, Hints(), Options(), (1, 2, 3))
    assert LookaheadWindow(request).propose(DraftContext(b"", (), None)) == []


def test_tokens_of_earlier_pages_are_in_the_pool_and_unknown_ones_are_not() -> None:
    vocabulary = engine("llama").vocabulary
    for past, expected in ((((5, 6, 7, 8),), [(6, 7, 8)]), (((5, 6, 7, 10**9),), [])):
        window = LookaheadWindow(DraftRequest(vocabulary, Hints(past=past), Options(), (1, 2, 3)))
        assert [draft.tokens for draft in window.propose(DraftContext(b"", (5,), None))] == expected
