"""What a schema says about a place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookstruct.decoding.guessing.schema_walk import SchemaWalk

ADDRESS = {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}}}


def test_a_union_with_null_is_nullable_and_keeps_its_type():
    node = SchemaWalk({"properties": {"a": {"anyOf": [{"type": "number"}, {"type": "null"}]}}}).at(("a",))
    assert (node.sole, node.nullable) == ("number", True)


def test_a_list_of_types_may_hold_null():
    node = SchemaWalk({"properties": {"a": {"type": ["string", "null"]}}}).at(("a",))
    assert (node.sole, node.nullable) == ("string", True)


def test_references_are_followed_with_what_stands_beside_them():
    schema = {"properties": {"a": {"$ref": "#/$defs/A", "description": "Home"}}, "$defs": {"A": ADDRESS}}
    node = SchemaWalk(schema).at(("a",))
    assert (node.keys, node.words) == (("city", "zip"), "Home")
    assert SchemaWalk(schema).at(("a", "zip")).sole == "integer"


def test_a_reference_with_escapes_is_resolved():
    schema = {"properties": {"a": {"$ref": "#/$defs/x~1y~0z"}}, "$defs": {"x/y~z": {"type": "boolean"}}}
    assert SchemaWalk(schema).at(("a",)).sole == "boolean"


def test_recursion_ends_where_the_path_ends():
    schema = {
        "$ref": "#/$defs/N",
        "$defs": {"N": {"properties": {"n": {"$ref": "#/$defs/N"}, "v": {"type": "number"}}}},
    }
    assert SchemaWalk(schema).at(("n",) * 50 + ("v",)).sole == "number"


def test_a_reference_to_itself_does_not_hang():
    schema = {"properties": {"a": {"$ref": "#/properties/a"}}}
    assert SchemaWalk(schema).at(("a",)).types == frozenset()


def test_all_of_is_merged():
    node = SchemaWalk({"allOf": [{"properties": {"a": {"type": "string"}}}, {"description": "x"}]}).at(())
    assert (node.keys, node.words) == (("a",), "x")


def test_each_alternative_is_asked_for_a_key():
    schema = {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "number"}}}]}
    assert SchemaWalk(schema).at(("b",)).sole == "number"


def test_items_of_an_array_are_alike_and_tuples_are_not():
    walk = SchemaWalk({"prefixItems": [{"type": "string"}, {"type": "number"}], "items": {"type": "boolean"}})
    assert [walk.at((i,)).sole for i in (0, 1, 2, 99)] == ["string", "number", "boolean", "boolean"]


@pytest.mark.parametrize(
    ("schema", "sole"),
    [
        ({"enum": ["a", "b"]}, "string"),
        ({"const": 3}, "integer"),
        ({"items": {}}, "array"),
        ({"properties": {}}, "object"),
    ],
)
def test_a_missing_type_is_read_off_what_there_is(schema, sole):
    assert SchemaWalk(schema).at(()).sole == sole


def test_an_enum_leaves_null_to_nullable():
    node = SchemaWalk({"enum": ["a", None, 3]}).at(())
    assert (node.enum, node.nullable) == (("a", 3), True)


def test_what_the_schema_does_not_name_is_none_unless_anything_goes():
    closed = SchemaWalk({"properties": {"a": True}, "additionalProperties": False})
    assert closed.at(("b",)) is None
    assert closed.at(("a",)).types == frozenset()
    assert SchemaWalk({"additionalProperties": {"type": "number"}}).at(("b",)).sole == "number"


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "#/x", "#"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "$ref", "properties", "anyOf", "items", "enum", "a"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(schema=odd, path=st.lists(st.sampled_from(["a", "type", 0, 3]), max_size=4))
@settings(max_examples=150, deadline=None)
def test_odd_schemas_never_raise(schema: Any, path: list[str | int]):
    SchemaWalk(schema).at(tuple(path))
