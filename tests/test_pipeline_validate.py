from decimal import Decimal

import pytest
from pydantic import BaseModel, field_validator

from lookstruct.pipeline.validate import validate
from lookstruct.schemas.errors import InvalidRecord
from lookstruct.schemas.loader import load_schema


class Price(BaseModel):
    amount: Decimal
    currency: str

    @field_validator("currency")
    @classmethod
    def upper(cls, value: str) -> str:
        if len(value) != 3:
            raise ValueError("three letters")
        return value.upper()


def test_text_becomes_the_users_own_object_and_its_plain_form() -> None:
    result = validate('{"amount": 12.5, "currency": "eur"}', load_schema(Price))
    assert result.value == Price(amount=Decimal("12.5"), currency="EUR")
    assert result.data == {"amount": 12.5, "currency": "EUR"}


def test_a_null_that_the_schema_does_not_allow_is_left_out() -> None:
    schema = load_schema(
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]}
    )
    assert validate('{"a": "x", "b": null}', schema).data == {"a": "x"}


@pytest.mark.parametrize(
    ("raw", "finish", "message"),
    [
        ('{"amount": 12', "length", "cut off at the token limit; allow more with --max-new-tokens"),
        ('{"amount": 12', "cancelled", "cancelled"),
        ("Sure! Here", "eos", "no JSON"),
        ('{"amount": 12.5, "currency": "euro"}', "eos", "/currency.*three letters"),
        ('{"amount": "much", "currency": "EUR"}', "eos", "/amount"),
    ],
)
def test_what_is_no_record_is_an_error_that_keeps_the_raw_text(raw: str, finish: str, message: str) -> None:
    with pytest.raises(InvalidRecord, match=message) as caught:
        validate(raw, load_schema(Price), finish_reason=finish)
    assert caught.value.raw == raw
    assert caught.value.exit_code == 1
