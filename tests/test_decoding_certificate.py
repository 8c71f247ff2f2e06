"""A certificate holds for what the engine wrote, and names the first token that plain decoding would not write."""

from __future__ import annotations

from dataclasses import replace

import pytest
import tiny

from lookstruct.decoding.certificate import certify
from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.request import Options

GRAMMAR = Grammar.regex("[a-z ]{1,60}[0-9]{4}")


@pytest.mark.parametrize("family", ["llama", "gemma3", "mistral_window"])
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_certificate_holds_for_lookahead_output_and_not_for_a_changed_token(family: str, temperature: float) -> None:
    engine = Engine(tiny.model(family), tiny.tokenizer(), cost=CostModel.free())
    prompt = tiny.tokenizer()("Invoice number INV-2024-0017, total due:")["input_ids"]
    options = Options(max_new_tokens=50, sources=("window",), temperature=temperature, seed=7)
    made = engine.generate(prompt, grammar=GRAMMAR, options=options)
    good = certify(engine, prompt, made, grammar=GRAMMAR, options=options)
    assert good.holds
    assert good.tokens == len(made.token_ids)
    free = [i for i, origin in enumerate(made.sources) if origin != "forced"]
    changed = list(made.token_ids)
    changed[free[3]] = changed[free[3]] % 100 + 10
    bad = certify(engine, prompt, replace(made, token_ids=changed), grammar=GRAMMAR, options=options)
    assert not bad.holds
    assert bad.first_difference == free[3]
