"""A model that thinks first: the grammar holds from the end mark on, wherever a draft has it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import tiny
from drafts import Wish, drafted
from hypothesis import given, settings
from hypothesis import strategies as st

from lookstruct.decoding.certificate import certify
from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Decoder, Engine
from lookstruct.decoding.request import Completion, Options
from lookstruct.decoding.thinking import marks_of
from lookstruct.decoding.vocabulary import Vocabulary
from lookstruct.schemas.errors import UsageError

OBJECT = Grammar.json_schema(
    {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 12}, "ok": {"type": "boolean"}},
        "required": ["name", "ok"],
        "additionalProperties": False,
    }
)
TOKENIZER = copy.deepcopy(tiny.tokenizer())
TOKENIZER.add_tokens(["<think>", "</think>"])
CLOSE = TOKENIZER.convert_tokens_to_ids("</think>")
VOCABULARY = Vocabulary(TOKENIZER, tiny.WIDTH, [2])
PROMPT = TOKENIZER("Invoice number INV-2024-0017, Steel bolt M8.\n")["input_ids"]
ENGINE = Engine(tiny.model("llama"), TOKENIZER, eos_ids=(2,), cost=CostModel.free())


def plainly(**options: Any) -> Completion:
    return ENGINE.generate(PROMPT, grammar=OBJECT, options=Options(mode="autoregressive", **options))


def thinker(thought: str, answer: str) -> Decoder:
    """A model that wants to think `thought`, close, and write `answer`; control tokens stand for themselves."""
    ids = [*VOCABULARY.encode(thought), CLOSE, *VOCABULARY.encode("\n\n" + answer), 2]

    def wanted(done: bytes) -> dict[int, float]:
        return {ids[len(done)]: 20.0} if len(done) < len(ids) else {2: 20.0}

    class Counting(Wish):
        def choose(self, sequence: Any, node: int, path: list[int]) -> Any:
            self.wanted = lambda _: wanted(bytes(sequence.n_generated))
            return super().choose(sequence, node, path)

    return Decoder(VOCABULARY, Counting(wanted), CostModel.free(), 4096)


def test_what_is_thought_is_free_and_what_follows_is_held_to_the_schema() -> None:
    made = thinker('the {name} is "Nut", so', '{"name": "Nut", "ok": true}').generate(
        PROMPT, grammar=OBJECT, options=Options(think=60)
    )
    assert made.thought == 'the {name} is "Nut", so\n\n', "control tokens have no text"
    assert made.text == '{"name": "Nut", "ok": true}'
    assert made.finish_reason == "grammar"


@pytest.mark.parametrize("extra", [0, 1, 3, 9])
def test_the_grammar_is_armed_inside_an_accepted_run(monkeypatch: pytest.MonkeyPatch, extra: int) -> None:
    """10: one draft thinks, closes and goes on: right for `extra` tokens of the answer, then against the grammar."""
    plain = plainly(think=9, max_new_tokens=60)
    close = list(plain.token_ids).index(CLOSE)
    assert close == 9, "a random model thinks as long as it may"
    junk = tuple(VOCABULARY.encode('nonsense, {"name": 5}'))
    made = drafted(
        monkeypatch,
        ENGINE,
        PROMPT,
        plain.token_ids[: close + 2 + extra],
        wrong=junk,
        grammar=OBJECT,
        max_new_tokens=60,
        think=9,
    )
    assert made.token_ids == plain.token_ids
    assert (made.text, made.thought) == (plain.text, plain.thought)
    assert made.steps[0].accepted >= close + 1, "the first step went across the end of the thinking"
    assert set(json.loads(made.text)) == {"name", "ok"}


@settings(max_examples=15, deadline=None)
@given(think=st.integers(1, 30), limit=st.integers(24, 70))
def test_thinking_ends_in_time_for_a_whole_answer(think: int, limit: int) -> None:
    made = plainly(think=think, max_new_tokens=limit)
    assert len(made.token_ids) <= limit
    assert list(made.token_ids).count(CLOSE) == 1
    assert list(made.token_ids).index(CLOSE) <= think
    assert set(json.loads(made.text)) == {"name", "ok"}
    assert not {0, 1, 2} & set(made.token_ids[: list(made.token_ids).index(CLOSE)]), "no end within the thinking"


def test_only_the_answer_is_streamed_and_it_is_certified_whole() -> None:
    pieces: list[str] = []
    options = Options(think=12, max_new_tokens=60)
    made = ENGINE.generate(PROMPT, grammar=OBJECT, options=options, on_text=pieces.append)
    assert "".join(pieces) == made.text
    assert made.thought.endswith("\n\n")
    assert made.text.startswith("{")
    assert certify(ENGINE, PROMPT, made, grammar=OBJECT, options=options).holds


def test_the_state_of_a_fork_is_its_own() -> None:
    job = ENGINE.begin(PROMPT, grammar=OBJECT, options=Options(think=5))
    state = job[0].constraint
    assert state is not None
    armed = state.after(CLOSE)
    for token in marks_of(VOCABULARY).then:
        assert armed.forced() == token
        armed = armed.after(token)
    assert not armed.is_thinking
    first = armed.forced()
    assert first is not None
    assert VOCABULARY.token_bytes[first].startswith(b"{")
    assert not armed.allows(CLOSE)
    assert state.is_thinking
    assert state.allows(CLOSE)


def test_a_tokenizer_without_the_marks_is_refused() -> None:
    eng = Engine(tiny.model("llama"), tiny.tokenizer(), cost=CostModel.free())
    with pytest.raises(UsageError, match="'</think>' token"):
        eng.generate(PROMPT, grammar=OBJECT, options=Options(think=5))
