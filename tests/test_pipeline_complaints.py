"""Complaints of other tools' users that a grammar settles: what is on the page can be written, what is not cannot."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiny

from lookstruct.decoding.constraint import GrammarCompiler
from lookstruct.decoding.vocabulary import Vocabulary
from lookstruct.extractors.clean import clean
from lookstruct.pipeline.profiles.general import REMINDER, TASK
from lookstruct.pipeline.prompt import Prompter
from lookstruct.pipeline.question import Question, ask
from lookstruct.schemas.document import Document, Page
from lookstruct.schemas.loader import load_schema

FOLDER = Path(__file__).parent / "pages"
VOCABULARY = Vocabulary(tiny.tokenizer(), tiny.WIDTH, [2])
COMPILER = GrammarCompiler(VOCABULARY)
IDS = VOCABULARY.ids
LONGEST = max(map(len, IDS))
VALUES = {path.stem: json.loads(path.read_text(encoding="utf-8"))["values"] for path in sorted(FOLDER.glob("*.json"))}


@cache
def read(name: str) -> Document:
    url = f"https://pages.example/{name}"
    return clean(Page(url, url, (FOLDER / f"{name}.html").read_text(encoding="utf-8")))


@cache
def question(name: str, schema: str) -> Question:
    return ask(read(name), load_schema(schema), Prompter(tiny.tokenizer()), budget=100_000, max_page_tokens=100_000)


def refused(name: str, schema: str, data: Any) -> str | None:
    """The text from the first token on that the grammar for this page does not let through; None if it lets all."""
    constraint = COMPILER.start(question(name, schema).grammar)
    rest = json.dumps(data, ensure_ascii=False).encode()
    while rest:
        pieces = (IDS.get(rest[:n]) for n in range(min(len(rest), LONGEST), 0, -1))
        token = next((token for token in pieces if token is not None and constraint.allows(token)), None)
        if token is None:
            return rest.decode("utf-8", "replace")[:40]
        constraint.advance(token)
        rest = rest[len(VOCABULARY.token_bytes[token]) :]
    return None if constraint.accepting else ""


def written(data: Any, schema: dict[str, Any]) -> Any:
    """The data as the model writes it: with every field of the schema, and numbers as short as they go."""
    if isinstance(data, dict):
        return {name: written(data.get(name), {}) for name in schema.get("properties", data)}
    if isinstance(data, list):
        return [written(value, {}) for value in data]
    return int(data) if isinstance(data, float) and data == int(data) else data


WITH_RECORDS = [name for name, values in VALUES.items() if values.get("records")]


@pytest.mark.parametrize("name", WITH_RECORDS)
def test_the_right_record_of_a_complaint_page_can_be_written(name: str) -> None:
    schema = VALUES[name]["schema"]
    for record in VALUES[name]["records"]:
        whole = written(record, dict(load_schema(schema).grammar_schema))
        assert refused(name, schema, whole) is None


def test_no_field_of_a_row_can_hold_the_whole_row() -> None:  # wmux #1345
    schema = "items: [{name: line, detail: line, code: verbatim, price: float}]"
    row = read("whole_row_in_every_field").text.splitlines()[1]
    assert "RYE-08" in row
    assert "4,20" in row
    item = {"name": "Rye loaf", "detail": "bag of six", "code": "RYE-08", "price": 4.2}
    for field in ("detail", "code"):
        assert refused("whole_row_in_every_field", schema, {"items": [{**item, field: row}]}) is not None
    assert refused("whole_row_in_every_field", schema, {"items": [item]}) is None


def test_a_page_that_says_little_cannot_be_filled_with_anything_else() -> None:  # langextract #209, #243
    schema = VALUES["little_to_say_so_examples_leak"]["schema"]
    right = {"item": "kettle", "price": None, "order_number": None, "signed_by": "Ottoline"}
    name = "little_to_say_so_examples_leak"
    assert refused(name, schema, {**right, "item": "Anvil"}) is not None
    assert refused(name, schema, {**right, "order_number": "INV-2024-0017"}) is not None


def test_the_prompt_has_no_example_that_could_leak() -> None:  # crawl4ai #866
    words = TASK.replace("{name}", "").replace("{fields}", "") + REMINDER
    assert not any(char.isdigit() or char in "{}[]\"'" for char in words)


def test_what_is_hidden_can_neither_be_read_nor_written() -> None:  # openclaw #8027
    name = "collapsed_faq_and_hidden_injection"
    facts = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    asked = question(name, "answer: verbatim?")
    for hidden in facts["text_must_not_contain"]:
        assert hidden not in asked.prompt.view.text
        assert refused(name, "answer: verbatim?", {"answer": hidden}) is not None


PRICE = json.dumps({"type": "object", "properties": {"price": {"type": "number", "x-source": "number"}}})


@pytest.mark.parametrize("name", [name for name, values in VALUES.items() if values.get("prices")])
def test_a_price_can_be_written_as_it_is_meant(name: str) -> None:  # price-parser #15, #58, #63, pricebuddy #173, #131
    for price in VALUES[name]["prices"]:
        if price["amount"]:
            assert refused(name, PRICE, written({"price": price["amount"]}, {})) is None


def test_cents_are_never_taken_for_euros() -> None:  # price-parser #58, pricebuddy #92
    amounts = {price["amount"] for price in VALUES["price_formats"]["prices"]}
    for wrong in (89, 6850):
        assert wrong / 100 in amounts
        assert refused("price_formats", PRICE, {"price": wrong}) is not None


DATES = json.dumps({"type": "object", "properties": {"day": {"type": "string", "format": "date", "x-source": "date"}}})


@pytest.mark.parametrize("name", [name for name, values in VALUES.items() if values.get("dates")])
def test_a_date_can_be_written_in_each_of_its_readings(name: str) -> None:  # dateparser #539, #1099
    for shown in VALUES[name]["dates"]:
        for day in shown.get("readings") or [shown["iso"]]:
            assert refused(name, DATES, {"day": day}) is None


def test_an_iso_date_cannot_be_written_the_wrong_way_round() -> None:  # dateparser #1125
    days = {shown["iso"] for shown in VALUES["iso_dates_under_german"]["dates"]}
    for day in days:
        year, month, number = day.split("-")
        if int(number) <= 12 and f"{year}-{number}-{month}" not in days:
            assert refused("iso_dates_under_german", DATES, {"day": f"{year}-{number}-{month}"}) is not None
