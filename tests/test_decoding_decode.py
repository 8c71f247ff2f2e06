"""`decode`: every way to say prompt and grammar; what is streamed is what is returned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import tiny
from pydantic import BaseModel

import lookstruct
from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.grammars import all_required, as_grammar
from lookstruct.schemas.errors import SchemaError, UsageError

PROMPT = "Invoice number INV-2024-0017, Steel bolt M8, total due: 1,234.56 EUR.\n"
DIGITS = Grammar.lark("start: /[0-9]{3}/")


class Item(BaseModel):
    name: str
    quantity: int = 1
    parts: list[Item] | None = None


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOKSTRUCT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def decode(prompt: Any = PROMPT, grammar: Any = None, **options: Any) -> lookstruct.Completion:
    return lookstruct.decode(tiny.model("llama"), tiny.tokenizer(), prompt, grammar, **options)


def test_a_grammar_may_be_a_regular_expression_a_lark_grammar_or_any_schema() -> None:
    assert re.fullmatch("[a-z]{3}", decode(grammar=re.compile("[a-z]{3}")).text)
    assert re.fullmatch("[0-9]{3}", decode(grammar=DIGITS).text)
    assert json.loads(decode(grammar="ok: bool").text)["ok"] in (True, False)
    for schema in (Item, {"type": "object", "properties": {"name": {"type": "string"}}}):
        assert "name" in json.loads(decode(grammar=schema, max_new_tokens=90).text)


def test_json_is_valid_in_the_type_as_it_stands() -> None:
    made = Item.model_validate_json(decode(grammar=Item, max_new_tokens=90).text)
    assert made.model_fields_set == {"name", "quantity", "parts"}


def test_text_and_its_token_ids_are_the_same_prompt() -> None:
    ids = tiny.tokenizer()(PROMPT)["input_ids"]
    assert decode(ids, max_new_tokens=8).token_ids == decode(PROMPT, max_new_tokens=8).token_ids


@pytest.mark.parametrize("grammar", [None, Item, DIGITS])
def test_streamed_text_is_the_returned_text_and_the_pieces_of_its_tokens(grammar: Any) -> None:
    heard: list[str] = []
    made = decode(grammar=grammar, max_new_tokens=60, on_text=heard.append)
    assert "".join(heard) == made.text
    assert b"".join(made.pieces).decode("utf-8", "replace") == made.text


def test_steps_account_for_every_token() -> None:
    made = decode(grammar=Item, max_new_tokens=60)
    ends = [step.start + step.accepted for step in made.steps]
    starts = [step.start for step in made.steps]
    between = [i for a, b in zip([0, *ends], [*starts, len(made.token_ids)], strict=True) for i in range(a, b)]
    assert len(made.steps) == made.stats.forwards
    assert {made.sources[i] for i in between} <= {"forced"}
    assert sum(step.accepted for step in made.steps) + len(between) == len(made.token_ids)


def test_a_stop_string_is_no_part_of_the_text_and_never_streamed() -> None:
    word = re.findall("[A-Za-z]{2}", decode(max_new_tokens=40).text)[1]
    heard: list[str] = []
    made = decode(max_new_tokens=40, stop=word, on_text=heard.append)
    assert made.finish_reason == "stop"
    assert word not in made.text
    assert "".join(heard) == made.text


def test_cancelling_ends_the_text_with_what_there_is() -> None:
    heard: list[str] = []
    made = decode(on_text=heard.append, cancel=lambda: len(heard) >= 3, max_new_tokens=200)
    assert made.finish_reason == "cancelled"
    assert 3 <= made.stats.new_tokens < 200


def test_a_lookahead_window_may_be_given_as_three_numbers() -> None:
    asked = {"max_new_tokens": 30, "sources": "window"}
    assert decode(window=(4, 3, 4), **asked).token_ids == decode(mode="autoregressive", max_new_tokens=30).token_ids


def test_what_cannot_be_done_is_named() -> None:
    with pytest.raises(UsageError, match="maximum"):
        decode(maximum=3)
    with pytest.raises(UsageError, match="no chat template"):
        decode([{"role": "user", "content": "Hi"}])
    with pytest.raises(SchemaError, match="flags"):
        as_grammar(re.compile("a", re.IGNORECASE))


def test_every_property_becomes_required_at_any_depth() -> None:
    inner = {"type": "object", "properties": {"properties": {"type": "string"}, "never": False}}
    schema = {"properties": {"a": {"items": inner}, "b": {"anyOf": [inner]}}, "$defs": {"d": inner}}
    made = all_required(schema)
    assert made["required"] == ["a", "b"]
    for found in (made["properties"]["a"]["items"], made["properties"]["b"]["anyOf"][0], made["$defs"]["d"]):
        assert found["required"] == ["properties"]
    assert "required" not in schema
