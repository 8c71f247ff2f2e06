"""Types that say where on the page a value stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from lookstruct.schemas import typed
from lookstruct.schemas.keywords import SOURCES
from lookstruct.schemas.loader import load_schema


class Everything(BaseModel):
    name: typed.Verbatim
    line: typed.VerbatimLine | None = None
    lines: list[typed.VerbatimLine]
    items: list[typed.VerbatimItem]
    place: typed.PostalAddress
    by: typed.Byline
    title: typed.PageTitle
    shop: typed.OrganizationName
    link: typed.PageUrl
    day: typed.PageDate
    moment: typed.PageDateTime
    number: typed.PageNumber
    count: typed.PageInteger
    length: typed.Duration
    words: typed.Computed[int] = Field(description="Number of words")
    price: typed.Money


def sources() -> dict[str, Any]:
    properties = load_schema(Everything).grammar_schema["properties"]
    plain = {name: node.get("anyOf", [node])[0] for name, node in properties.items()}
    return {name: (node.get("items") or node).get("x-source") for name, node in plain.items()}


def test_every_type_carries_its_source_into_the_grammar() -> None:
    assert sources() == {
        "name": "span",
        "line": "line",
        "lines": "line",
        "items": "item",
        "place": "address",
        "by": "byline",
        "title": "title",
        "shop": "organization",
        "link": "link",
        "day": "date",
        "moment": "datetime",
        "number": "number",
        "count": "number",
        "length": "duration",
        "words": "computed",
        "price": None,
    }
    assert set(SOURCES) == {source for source in sources().values() if source} | {"currency"}


def test_money_is_an_amount_from_the_page_and_a_currency_code() -> None:
    money = load_schema(typed.Money).grammar_schema["properties"]
    assert money["amount"]["x-source"] == "number"
    assert money["currency"] == {"type": "string", "pattern": "^[A-Z]{3}$", "x-source": "currency"}
    assert typed.Money(amount=1, currency="EUR").amount == 1.0
    with pytest.raises(ValidationError):
        typed.Money(amount=1, currency="€")


def test_the_values_are_ordinary_python_values() -> None:
    found = load_schema(Everything).validate(
        {
            "name": "Acme",
            "line": None,
            "lines": ["200 g flour"],
            "items": ["200 g flour"],
            "place": "12 High St, York, YO1 7HH",
            "by": "Ann Lee",
            "title": "Leek soup",
            "shop": "Acme Ltd",
            "link": "https://example.org/a b",
            "day": "2024-02-29",
            "moment": "2024-02-29T19:30",
            "number": 1234.56,
            "count": 3,
            "length": "PT1H30M",
            "words": 2,
            "price": {"amount": 9.99, "currency": "GBP"},
        }
    )
    assert (found.day, found.moment) == (date(2024, 2, 29), datetime(2024, 2, 29, 19, 30))
    assert type(found.name) is str
    assert type(found.number) is float


@pytest.mark.parametrize("text", ["PT15M", "P1D", "P1DT2H", "PT1H30M", "P2W", "P1Y2M3D", "PT45S", "P12M"])
def test_durations_are_iso_8601(text: str) -> None:
    assert TypeAdapter(typed.Duration).validate_python(text) == text


@pytest.mark.parametrize("text", ["", "P", "PT", "1 hour", "P1H", "PT1D", "P99999999D", "P1W2D", "PT1H\n"])
def test_other_lengths_of_time_are_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(typed.Duration).validate_python(text)


@pytest.mark.parametrize("text", ["", "x" * 301])
def test_a_verbatim_text_is_short_and_not_empty(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(typed.Verbatim).validate_python(text)


def test_they_work_in_dataclasses_and_with_further_constraints() -> None:
    @dataclass
    class Code:
        value: Annotated[typed.Verbatim, Field(max_length=5)]

    node = load_schema(Code).grammar_schema["properties"]["value"]
    assert node == {"type": "string", "minLength": 1, "maxLength": 5, "x-source": "span"}


def test_a_quantity_may_lack_its_unit() -> None:
    assert load_schema(typed.Quantity).validate({"value": 3, "unit": None}) == typed.Quantity(value=3)


def test_an_unknown_source_is_an_error_where_it_is_written() -> None:
    with pytest.raises(ValueError, match="x-source is 'spam'; expected one of span"):
        typed.Source("spam")
