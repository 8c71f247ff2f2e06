"""`--think N`: the model thinks first, and the record is held to schema and page all the same."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import tiny
from pipeline_fakes import LAMP, LAMP_SCHEMA

from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.request import Options
from lookstruct.extractors.clean import clean
from lookstruct.pipeline.prompt import Prompter
from lookstruct.pipeline.reader import Reader
from lookstruct.pipeline.settings import DecodeSettings
from lookstruct.schemas.document import Page
from lookstruct.schemas.loader import load_schema

URL = "https://shop.example/lamp"
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}<|im_start|>"
    "{% if enable_thinking %}<think>\n{% else %}<think>\n\n</think>\n\n{% endif %}"
)
TOKENIZER = copy.deepcopy(tiny.tokenizer())
TOKENIZER.add_tokens(["<think>", "</think>"])
TOKENIZER.chat_template = CHAT
CLOSE = TOKENIZER.convert_tokens_to_ids("</think>")


def reading(**options: Any) -> Any:
    engine = Engine(tiny.model("llama"), TOKENIZER, eos_ids=(2,), cost=CostModel.free())
    reader = Reader(engine, TOKENIZER, options=Options(max_new_tokens=300, **options))
    return reader.read(clean(Page(URL, URL, LAMP)), load_schema(LAMP_SCHEMA))


@pytest.mark.parametrize("think", [0, 12])
def test_the_record_fits_the_schema_and_its_confidence_is_that_of_its_own_tokens(think: int) -> None:
    record = reading(think=think)
    assert set(record.data) == {"name", "price"}
    assert (CLOSE in record.stats.token_ids) is (think > 0)
    assert record.evidence["/price"].confidence is not None
    assert record.raw.startswith("{"), "what was thought is no part of the record"


def test_the_record_after_a_thought_is_the_same_with_and_without_drafts() -> None:
    plain, drafted = reading(think=9, mode="autoregressive"), reading(think=9)
    assert plain.stats.token_ids == drafted.stats.token_ids


def test_a_thought_that_the_template_opens_stays_open() -> None:
    opening = TOKENIZER.decode(Prompter(TOKENIZER, thinks=True).frame.after)
    assert opening.endswith("<think>\n")
    assert "</think>" in TOKENIZER.decode(Prompter(TOKENIZER).frame.after)


def test_the_flag_reaches_the_decoder() -> None:
    assert DecodeSettings(think=40).options().think == 40
