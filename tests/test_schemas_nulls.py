"""Nulls that stand for absence are taken back; nulls that the user allows stay."""

from __future__ import annotations

from typing import Any

import pytest

from lookstruct.schemas.nulls import prune_nulls

INT = {"type": "integer"}
NULLABLE = {"anyOf": [INT, {"type": "null"}]}
OBJECT = {"type": "object", "properties": {"optional": INT, "nullable": NULLABLE}}
HAD = {"optional": None, "nullable": None}
KEPT = {"nullable": None}


@pytest.mark.parametrize(
    ("schema", "data", "pruned"),
    [
        (OBJECT, HAD, KEPT),
        ({"type": "array", "items": OBJECT}, [HAD, HAD], [KEPT, KEPT]),
        ({"prefixItems": [INT, OBJECT]}, [1, HAD], [1, KEPT]),
        ({"properties": {"o": OBJECT}}, {"o": HAD}, {"o": KEPT}),
        ({"additionalProperties": OBJECT}, {"any": HAD}, {"any": KEPT}),
        ({"patternProperties": {"^x": OBJECT}}, {"xy": HAD}, {"xy": KEPT}),
        ({"$ref": "#/$defs/O", "$defs": {"O": OBJECT}}, HAD, KEPT),
        ({"allOf": [OBJECT, {"properties": {"more": INT}}]}, {**HAD, "more": None}, KEPT),
        ({"anyOf": [{"type": "null"}, OBJECT]}, HAD, KEPT),
        ({"anyOf": [{"type": "null"}, OBJECT]}, None, None),
        ({"oneOf": [{"type": "array", "items": OBJECT}, INT]}, [HAD], [KEPT]),
    ],
)
def test_optional_nulls_go_and_nullable_ones_stay(schema: Any, data: Any, pruned: Any) -> None:
    assert prune_nulls(data, schema) == pruned


def test_recursion_is_followed() -> None:
    node = {"type": "object", "properties": {"v": INT, "next": {"$ref": "#/$defs/N"}}, "required": ["v"]}
    schema = {"$ref": "#/$defs/N", "$defs": {"N": node}}
    data = {"v": 1, "next": {"v": 2, "next": None}}
    assert prune_nulls(data, schema) == {"v": 1, "next": {"v": 2}}


def test_the_branch_that_fits_decides_what_absence_is() -> None:
    a = {"type": "object", "properties": {"k": {"const": "a"}, "x": INT}, "required": ["k"]}
    b = {"type": "object", "properties": {"k": {"const": "b"}, "x": NULLABLE}, "required": ["k"]}
    assert prune_nulls({"k": "a", "x": None}, {"anyOf": [a, b]}) == {"k": "a"}
    assert prune_nulls({"k": "b", "x": None}, {"anyOf": [a, b]}) == {"k": "b", "x": None}


def test_a_null_that_a_required_property_must_not_have_stays_for_validation_to_find() -> None:
    schema = {"properties": {"a": INT}, "required": ["a"]}
    assert prune_nulls({"a": None}, schema) == {"a": None}


def test_the_data_given_is_not_changed() -> None:
    data = {"optional": None, "nullable": None}
    prune_nulls(data, OBJECT)
    assert data == HAD
