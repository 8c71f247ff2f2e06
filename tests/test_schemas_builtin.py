"""The schemas that come with the package."""

from __future__ import annotations

import json
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from lookstruct.schemas.builtin import BUILTIN
from lookstruct.schemas.builtin.schema_org import SCHEMA_ORG
from lookstruct.schemas.keywords import SOURCES
from lookstruct.schemas.loader import load_schema

ISSUE = [
    "Invoice",
    "Receipt",
    "Product",
    "Recipe",
    "JobPosting",
    "Article",
    "Event",
    "RealEstateListing",
    "Book",
    "Contact",
]


def models(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The model and those inside its lists."""
    nested = [
        found
        for field in model.model_fields.values()
        if get_origin(field.annotation) is list
        for found in get_args(field.annotation)
        if isinstance(found, type) and issubclass(found, BaseModel)
    ]
    return [model, *nested]


def values(node: Any) -> list[Any]:
    """The nodes of a JSON Schema that describe strings, numbers and enums."""
    if isinstance(node, list):
        return [found for sub in node for found in values(sub)]
    if not isinstance(node, dict):
        return []
    if node.get("type") in ("string", "number", "integer") or "enum" in node:
        return [node]
    return [found for key, sub in node.items() if key not in ("required", "description") for found in values(sub)]


def test_all_promised_schemas_are_there() -> None:
    assert list(BUILTIN) == ISSUE


@pytest.mark.parametrize("name", ISSUE)
def test_every_field_says_what_it_is_in_one_short_sentence(name: str) -> None:
    for model in models(BUILTIN[name]):
        assert model.__doc__
        for field_name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{field_name}"
            assert 4 <= len(field.description) <= 80
            assert field.description[0].isupper()
            assert not field.description.endswith(".")


@pytest.mark.parametrize("name", ISSUE)
def test_schemas_are_small_enough_for_a_small_model(name: str) -> None:
    main, *nested = models(BUILTIN[name])
    assert 8 <= len(main.model_fields) <= 14
    assert all(len(model.model_fields) <= 4 for model in nested)


@pytest.mark.parametrize("name", ISSUE)
def test_fields_keep_their_order_in_the_grammar(name: str) -> None:
    grammar = load_schema(name).grammar_schema
    assert list(grammar["properties"]) == list(BUILTIN[name].model_fields)
    assert grammar["required"] == list(BUILTIN[name].model_fields)


@pytest.mark.parametrize("name", ISSUE)
def test_every_value_says_where_it_comes_from(name: str) -> None:
    grammar = load_schema(name).grammar_schema
    assert {node.get("x-source") for node in values(dict(grammar))} <= set(SOURCES)


@pytest.mark.parametrize("name", ISSUE)
def test_lists_are_never_null_since_they_can_be_empty(name: str) -> None:
    for node in load_schema(name).grammar_schema["properties"].values():
        assert not any(branch.get("type") == "array" for branch in node.get("anyOf", []))


def test_an_invoice_comes_back_as_a_model() -> None:
    data = {
        "invoice_number": "2024-17",
        "issue_date": "2024-02-29",
        "due_date": None,
        "seller_name": "Acme",
        "buyer_name": None,
        "lines": [{"description": "Screws", "quantity": 2, "unit_price": 0.5, "total": 1.0}],
        "subtotal": None,
        "tax": None,
        "total": 1.0,
        "currency": "EUR",
    }
    schema = load_schema("Invoice")
    invoice = schema.validate(data)
    assert invoice.issue_date.isoformat() == "2024-02-29"
    assert schema.dump(invoice) == data
    assert json.loads(json.dumps(schema.json_schema)) == schema.json_schema


def test_totals_come_after_the_lines_they_sum_up() -> None:
    fields = list(BUILTIN["Invoice"].model_fields)
    assert fields.index("lines") < fields.index("subtotal") < fields.index("tax") < fields.index("total")


def test_every_schema_has_its_schema_org_counterpart() -> None:
    assert list(SCHEMA_ORG) == ISSUE


@pytest.mark.parametrize("name", ISSUE)
def test_the_mapping_names_only_fields_that_exist(name: str) -> None:
    main, *nested = models(BUILTIN[name])
    known = set(main.model_fields)
    for list_name, field in main.model_fields.items():
        for model in nested:
            if model in get_args(field.annotation):
                known |= {f"{list_name}.{inner}" for inner in model.model_fields}
    assert set(SCHEMA_ORG[name].paths) <= known
    assert len(set(SCHEMA_ORG[name].paths) & set(main.model_fields)) >= 0.7 * len(main.model_fields)
