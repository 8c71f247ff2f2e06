from typing import Literal

import pytest
from pydantic import BaseModel, Field

from lookstruct.pipeline.describe import describe
from lookstruct.schemas.builtin import BUILTIN
from lookstruct.schemas.loader import load_schema
from lookstruct.schemas.typed import PageDate


class Line(BaseModel):
    """A row."""

    text: str = Field(description="What was sold")
    price: float | None = None


class Bill(BaseModel):
    number: str = Field(description="The bill's\n  number")
    day: PageDate | None = None
    kind: Literal["paper", "e-mail"]
    lines: list[Line] = Field(description="Every row")
    grid: list[list[int]] = []
    main: Line


def test_fields_are_listed_with_type_nullability_and_meaning() -> None:
    assert describe(load_schema(Bill).json_schema).splitlines() == [
        "- number: string. The bill's number",
        "- day: date YYYY-MM-DD, or null",
        "- kind: one of 'paper', 'e-mail'",
        "- lines: list of object. Every row",
        "  - text: string. What was sold",
        "  - price: number, or null",
        "- grid: list of list of integer, or null",
        "- main: object",
        "  - text: string. What was sold",
        "  - price: number, or null",
    ]


def test_a_recursive_schema_is_described_once() -> None:
    tree = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["name", "parts"],
    }
    assert describe(tree) == "- name: string\n- parts: list of object"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "- string"),
        ({"type": ["string", "null"]}, "- string"),
        ({"type": "array", "items": {"type": "integer"}}, "- list of integer"),
        ({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]}, "- string or number"),
        ({"enum": ["a", None]}, "- one of 'a'"),
        ({"const": 3}, "- one of 3"),
        ({"$ref": "#/$defs/Gone"}, "- any"),
        ({}, "- any"),
    ],
)
def test_a_schema_without_fields_is_described_by_its_type(schema: dict[str, object], expected: str) -> None:
    assert describe(schema) == expected


def test_a_reference_loop_that_leads_nowhere_ends() -> None:
    assert describe({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}) == "- any"


@pytest.mark.parametrize("name", list(BUILTIN))
def test_a_built_in_schema_is_described_in_under_two_kilobytes_with_every_field(name: str) -> None:
    text = describe(load_schema(name).json_schema)
    assert len(text) < 2000
    for field in BUILTIN[name].model_fields:
        assert f"- {field}: " in text
