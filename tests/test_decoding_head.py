"""Logits of few legal tokens are those of the whole vocabulary, restricted; choices come out the same."""

from __future__ import annotations

import numpy as np
import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.decoding import head
from lookstruct.decoding.cache import KVCache
from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.head import NARROW, is_narrow, narrow_ids
from lookstruct.decoding.request import Options
from lookstruct.decoding.runner import Rows, Runner
from lookstruct.decoding.sampler import Sampler


def bits(ids: set[int], width: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    flags = np.zeros((width + 31) // 32 * 32, np.uint8)
    flags[list(ids)] = 1
    return np.packbits(flags, bitorder="little").view(np.int32)


@pytest.mark.parametrize("family", sorted(tiny.CONFIGS))
def test_every_family_gives_the_same_logits_for_a_few_tokens(family: str) -> None:
    """Softcaps and scales included."""
    runner = Runner(tiny.model(family))
    hidden = runner.hidden(KVCache(), Rows.chain([5, 6, 7], 0))
    ids = np.array([3, 77, 300])
    among = runner.logits_among(hidden[2], ids)
    assert among is not None
    torch.testing.assert_close(among, runner.logits(hidden)[2, ids], rtol=1e-10, atol=1e-10)


@given(st.sets(st.integers(0, tiny.WIDTH - 1), min_size=1, max_size=80), st.integers(0, 5), st.sampled_from([0.0, 0.9]))
def test_the_choice_is_that_of_the_whole_row(allowed: set[int], seed: int, temperature: float) -> None:
    row = torch.randn(tiny.WIDTH, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    sampler = Sampler(Options(temperature=temperature, seed=seed, repetition_penalty=1.2))
    ids = np.array(sorted(allowed))
    among = sampler.choose_among(row[ids], ids, 4, [1, 2, 3])
    assert among == sampler.choose(row, bits(allowed, tiny.WIDTH), 4, [1, 2, 3])


def test_narrow_means_few_tokens() -> None:
    width = NARROW + 100
    assert is_narrow(bits(set(range(NARROW)), width))
    assert not is_narrow(bits(set(range(NARROW + 1)), width))
    assert not is_narrow(None)
    assert narrow_ids(bits(set(range(NARROW + 1)), width), width) is None
    assert narrow_ids(bits({3, 9}, width), width) is not None


@pytest.mark.parametrize("mode", ["auto", "autoregressive"])
@pytest.mark.parametrize("family", ["llama", "gemma2", "cohere"])
def test_a_text_is_the_same_whether_few_or_all_logits_are_read(
    family: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["bolt", "nut", "washer"]}, "note": {"type": "string", "maxLength": 20}},
        "required": ["kind", "note"],
        "additionalProperties": False,
    }
    texts = []
    for narrow in (0, 40, 10_000):
        monkeypatch.setattr(head, "NARROW", narrow)
        engine = Engine(tiny.model(family), tiny.tokenizer(), cost=CostModel.free())
        options = Options(mode=mode, max_new_tokens=60)  # type: ignore[arg-type]
        texts.append(engine.generate([9, 8, 7], grammar=Grammar.json_schema(schema), options=options).token_ids)
    assert texts[0] == texts[1] == texts[2]
