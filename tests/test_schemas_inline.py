"""Fields in one line become a JSON Schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lookstruct.schemas.errors import SchemaError
from lookstruct.schemas.inline import INLINE_TYPES, parse_inline
from lookstruct.schemas.loader import load_schema


def fields(text: str) -> Any:
    return parse_inline(text)["properties"]


def test_the_example_of_the_documentation() -> None:
    assert fields("title, price: float, tags: [str]") == {
        "title": {"type": "string"},
        "price": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
    }


@pytest.mark.parametrize("word", INLINE_TYPES)
def test_every_type_word_makes_a_schema_that_loads(word: str) -> None:
    assert load_schema(f"a: {word}").notes == ()


@pytest.mark.parametrize("text", ["a: int?", "a?: int", "a ? : int ?"])
def test_a_question_mark_makes_a_field_nullable(text: str) -> None:
    assert fields(text) == {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}


def test_an_absent_field_stays_in_the_record_as_null() -> None:
    assert load_schema("a, b?").validate({"a": "x", "b": None}) == {"a": "x", "b": None}


def test_a_text_after_the_type_is_the_description() -> None:
    assert fields('a "the \\"first\\"", b: int "the, second"') == {
        "a": {"type": "string", "description": 'the "first"'},
        "b": {"type": "integer", "description": "the, second"},
    }


def test_choices_are_an_enum() -> None:
    found = fields('status: "open" | "closed" "whether one can apply", b')
    assert found["status"] == {"enum": ["open", "closed"], "description": "whether one can apply"}
    assert found["b"] == {"type": "string"}


def test_braces_nest_fields() -> None:
    found = fields("items: [{name, sizes: [int]}], address: {city, zip?}?")
    assert found["items"]["items"]["properties"]["sizes"] == {"type": "array", "items": {"type": "integer"}}
    assert found["address"]["anyOf"][0]["required"] == ["city", "zip"]


def test_lines_separate_fields_like_commas() -> None:
    assert list(fields("\n  a\n  b: int,\n\n  c: {\n    d\n    e\n  }\n")) == ["a", "b", "c"]


def test_names_may_have_any_letters() -> None:
    assert list(fields("größe: int, 名前, unit-price: float")) == ["größe", "名前", "unit-price"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: flot", "column 8: 'flot' is not a type; did you mean float"),
        ("a: q9", "'q9' is not a type; the types are str"),
        ("a, b: [str", r"column 11: expected '\]'"),
        ("a: {b", "column 6: expected '}'|expected a comma"),
        ("a b", "column 3: expected a comma"),
        ("a, a: int", "the field 'a' comes twice"),
        ("a: ", "column 4: expected a type"),
        (",", "expected a field name"),
        ("a: {}", "expected a field name"),
        ("3a: int", "column 1: expected a field name"),
        ('a: "x" |', "expected a choice"),
        ("a: str 'x'", "column 8: expected a comma"),
    ],
)
def test_a_mistake_is_told_by_its_column(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        parse_inline(text)


def test_a_description_may_run_over_lines() -> None:
    assert parse_inline('a "one\ntwo"')["properties"]["a"]["description"] == "one\ntwo"


@pytest.mark.parametrize("text", [r'a "C:\x"', r'a: "\q" | "b"'])
def test_a_backslash_that_escapes_nothing_is_a_mistake(text: str) -> None:
    with pytest.raises(SchemaError, match="has a backslash that escapes nothing"):
        parse_inline(text)


@given(st.text(alphabet='ab:,?[]{}"| \\\nint', max_size=20))
@example('a"\n"')
def test_any_text_is_a_schema_or_a_schema_error(text: str) -> None:
    try:
        found = parse_inline(text)
    except SchemaError:
        return
    assert found["properties"]
