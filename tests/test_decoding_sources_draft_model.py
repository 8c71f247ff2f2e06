"""A small model drafts for a large one of the same vocabulary: fewer forwards, the same tokens."""

from __future__ import annotations

import copy

import pytest
import tiny

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.request import Options
from lookstruct.decoding.sources import DEFAULT
from lookstruct.schemas.errors import ModelUnsupported, UsageError

PROMPT = tiny.tokenizer()("Invoice number INV-2024-0017, Steel bolt M8, total due: 1,234.56 EUR.\n")["input_ids"]
OBJECT = Grammar.json_schema(
    {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 30}, "price": {"type": "number"}},
        "required": ["name", "price"],
        "additionalProperties": False,
    }
)
DRAFTED = Options(sources=("draft_model",), max_new_tokens=40)
PLAIN = Options(mode="autoregressive", max_new_tokens=40)


def engine(drafter: tuple[str, int] | None) -> Engine:
    """A Llama that is drafted for by a random model of this family and seed."""
    made = Engine(tiny.model("llama"), tiny.tokenizer(), eos_ids=(0,), cost=CostModel.free())
    if drafter is not None:
        made.assist(tiny.model(*drafter), tiny.tokenizer())
    return made


@pytest.mark.parametrize("grammar", [None, OBJECT], ids=["free", "json"])
@pytest.mark.parametrize("drafter", [("llama", 0), ("gpt2", 0)])
def test_tokens_are_those_of_the_large_model_alone(drafter: tuple[str, int], grammar: Grammar | None) -> None:
    eng = engine(drafter)
    for prompt in (PROMPT, PROMPT[5:]):
        alone = eng.generate(prompt, grammar=grammar, options=PLAIN)
        made = eng.generate(prompt, grammar=grammar, options=DRAFTED)
        assert made.token_ids == alone.token_ids
        assert made.stats.offered["draft_model"] >= 1


def test_a_drafter_that_thinks_alike_saves_most_forwards() -> None:
    made = engine(("llama", 0)).generate(PROMPT, options=DRAFTED)
    assert made.stats.forwards < 14, "as many drafted tokens as a random model is sure of, and one more a forward"
    assert made.stats.accepted["draft_model"] == 40 - made.stats.forwards


def test_a_drafter_of_another_vocabulary_is_refused() -> None:
    other = copy.deepcopy(tiny.tokenizer())
    other.add_tokens(["<think>"])
    with pytest.raises(ModelUnsupported, match="has 513 tokens and differs from the model's 512"):
        engine(None).assist(tiny.model("gpt2"), other)


def test_a_drafter_whose_state_cannot_be_taken_back_is_refused() -> None:
    with pytest.raises(ModelUnsupported, match="MambaForCausalLM cannot draft"):
        engine(("mamba", 0))


def test_it_is_off_unless_it_is_named_and_then_it_needs_a_model() -> None:
    assert "draft_model" not in DEFAULT
    with pytest.raises(UsageError, match="--draft-model"):
        engine(None).generate(PROMPT, options=DRAFTED)


def test_a_full_context_of_the_drafter_ends_its_drafts_and_not_the_text() -> None:
    prompt = (PROMPT * 80)[:2030]
    assert engine(None).max_context == 2048
    made = engine(("gpt2", 0)).generate(prompt, options=DRAFTED)
    assert made.token_ids == engine(None).generate(prompt, options=PLAIN).token_ids
    assert len(made.token_ids) == 18
