"""Every Outlines output type gives valid output on a random model; streams add up; Outlines sees a black box."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import Enum
from typing import Any, Literal

import outlines
import pytest
import tiny
from outlines.generator import BlackBoxGenerator
from outlines.inputs import Chat
from outlines.types import CFG, Choice, JsonSchema, Regex
from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

from lookstruct.decoding.adapters.outlines import LookaheadModel, from_transformers
from lookstruct.schemas.errors import SchemaError, UsageError

ARITHMETIC = """
start: sum
sum: product (("+" | "-") product)*
product: NUMBER ("*" NUMBER)*
NUMBER: /[0-9]{1,3}/
"""


class Colour(Enum):
    RED = "red"
    BLUE = "dark blue"


class Item(BaseModel):
    name: str
    quantity: int = 1
    colour: Colour | None = None


@dataclass
class Place:
    city: str
    floor: int


class Pair(TypedDict):
    left: int
    right: bool


def weigh(grams: float, unit: Literal["g", "kg"]) -> None: ...


def is_pair(text: str) -> bool:
    return json.loads(text).keys() == {"left", "right"}


CASES: dict[str, tuple[Any, Callable[[str], Any]]] = {
    "pydantic": (Item, Item.model_validate_json),
    "dataclass": (Place, TypeAdapter(Place).validate_json),
    "typed dict": (Pair, is_pair),
    "function": (weigh, lambda text: json.loads(text).keys() == {"grams", "unit"}),
    "json schema": (JsonSchema({"type": "object", "properties": {"a": {"type": "integer"}}}), json.loads),
    "list of models": (list[Item], lambda text: TypeAdapter(list[Item]).validate_json(text) or True),
    "int": (int, lambda text: int(text) is not None),
    "float": (float, lambda text: float(text) is not None),
    "bool": (bool, lambda text: text in ("True", "False")),
    "date": (date, lambda text: re.fullmatch(r"\d{4}-\d\d-\d\d", text)),
    "time": (time, lambda text: re.fullmatch(r"\d\d:\d\d:\d\d", text)),
    "datetime": (datetime, lambda text: re.fullmatch(r"\d{4}-\d\d-\d\d\s\d\d:\d\d:\d\d", text)),
    "literal": (Literal["a.b", "c d"], lambda text: text in ("a.b", "c d")),
    "enum": (Colour, lambda text: text in ("red", "dark blue")),
    "choice": (Choice(["yes (really)", "no"]), lambda text: text in ("yes (really)", "no")),
    "regex": (Regex("[0-9]{3}-[a-z]{2}"), lambda text: re.fullmatch("[0-9]{3}-[a-z]{2}", text)),
    "composed": ("Total: " + Regex("[0-9]{1,4}"), lambda text: re.fullmatch("Total: [0-9]{1,4}", text)),
    "list": (list[int], lambda text: isinstance(ast.literal_eval(text), list)),
    "union": (int | Literal["none"], lambda text: text == "none" or int(text) is not None),
    "context-free": (CFG(ARITHMETIC), lambda text: re.fullmatch(r"\d+([-+*]\d+)*", text)),
}


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOKSTRUCT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def model() -> LookaheadModel:
    return from_transformers(tiny.model("llama"), tiny.tokenizer())


@pytest.mark.parametrize("name", CASES)
def test_each_output_type_gives_valid_text_whose_stream_adds_up_twice(name: str, model: LookaheadModel) -> None:
    output_type, is_valid = CASES[name]
    generator = outlines.Generator(model, output_type)
    text = generator("Steel bolt M8, 12 pieces:", max_new_tokens=90)
    assert is_valid(text), text
    assert "".join(generator.stream("Steel bolt M8, 12 pieces:", max_new_tokens=90)) == text
    assert generator("Steel bolt M8, 12 pieces:", max_new_tokens=90, mode="autoregressive") == text


def test_outlines_takes_the_model_for_a_black_box_that_is_given_the_type_itself(model: LookaheadModel) -> None:
    generator = outlines.Generator(model, Item)
    assert type(generator) is BlackBoxGenerator
    assert generator.output_type is Item


def test_the_model_can_be_called_streamed_and_batched_directly(model: LookaheadModel) -> None:
    asked = {"max_new_tokens": 20}
    text = model("Invoice", int, **asked)
    assert "".join(model.stream("Invoice", int, **asked)) == text
    assert model.batch(["Invoice", "Invoice"], int, **asked) == [text, text]


def test_a_stream_comes_in_pieces(model: LookaheadModel) -> None:
    pieces = list(model.stream("Invoice", Regex("[a-z ]{40}"), max_new_tokens=60))
    assert len(pieces) > 3


def test_a_stream_left_early_does_no_harm(model: LookaheadModel) -> None:
    text = model("Invoice", Regex("[a-z ]{40}"), max_new_tokens=60)
    stream = model.stream("Invoice", Regex("[a-z ]{40}"), max_new_tokens=60)
    next(stream)
    stream.close()
    assert model("Invoice", Regex("[a-z ]{40}"), max_new_tokens=60) == text


def test_free_text_needs_no_type(model: LookaheadModel) -> None:
    assert model("Invoice", max_new_tokens=10)
    assert model.completion is not None
    assert model.completion.stats.new_tokens == 10


def test_the_same_seed_gives_the_same_text(model: LookaheadModel) -> None:
    texts = [model("Invoice", temperature=1.0, seed=seed, max_new_tokens=12) for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]


def test_a_chat_goes_through_the_template() -> None:
    tokenizer = tiny.tokenizer().__class__(tokenizer_object=tiny.tokenizer().backend_tokenizer, eos_token="<|im_end|>")
    model = from_transformers(tiny.model("llama"), tokenizer)
    with pytest.raises(UsageError, match="no chat template"):
        model(Chat([{"role": "user", "content": "Hi"}]), int)
    tokenizer.chat_template = "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}<|im_start|>"
    chat = Chat([{"role": "user", "content": "Hi"}])
    expected = tokenizer("<|im_start|>Hi<|im_end|><|im_start|>")["input_ids"]
    assert model.type_adapter.format_input(chat) == expected
    assert model.type_adapter.format_input("Hi") == expected


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (lambda m: m("x", int, do_sample=True), UsageError, "do_sample"),
        (lambda m: m("x", object()), SchemaError, "no output type"),
        (lambda m: m(["x"], int), UsageError, "list"),
        (lambda m: m("x", JsonSchema({"type": "object"}, whitespace_pattern=" *")), SchemaError, "whitespace_pattern"),
        (lambda m: m("x", Regex("(?=a)b")), SchemaError, "regex grammar"),
    ],
)
def test_what_cannot_be_done_is_named(
    call: Callable[[Any], Any], error: type[Exception], named: str, model: LookaheadModel
) -> None:
    with pytest.raises(error, match=named):
        call(model)
