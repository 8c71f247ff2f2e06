"""A user's JSON Schema becomes the grammar's, or a clear error."""

from __future__ import annotations

from typing import Any

import pytest

from lookstruct.schemas.errors import SchemaError
from lookstruct.schemas.flat import ImpossibleSchema
from lookstruct.schemas.keywords import KEYWORDS, Support
from lookstruct.schemas.prepare import prepare

INT = {"type": "integer", "minimum": 0, "maximum": 9}
STR = {"type": "string", "maxLength": 9}
NULL = {"type": "null"}


def grammar(schema: Any) -> Any:
    return prepare(schema).schema


def objects(properties: Any, required: Any = (), **more: Any) -> Any:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def closed(**properties: Any) -> Any:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def nullable(node: Any) -> Any:
    return {"anyOf": [node, NULL]}


def test_every_property_is_required_in_the_order_of_properties() -> None:
    assert grammar(objects({"b": INT, "a": STR}, ["a", "b"])) == closed(b=INT, a=STR)


def test_an_optional_property_becomes_nullable() -> None:
    assert grammar(objects({"a": INT, "b": INT}, ["b"])) == closed(a=nullable(INT), b=INT)


def test_a_nullable_property_is_not_made_nullable_twice() -> None:
    schema = objects(
        {"a": nullable(INT), "b": {"enum": ["x", None]}, "c": {"type": ["string", "null"], "maxLength": 9}}
    )
    assert grammar(schema) == closed(a=nullable(INT), b={"enum": ["x", None]}, c=nullable(STR))


def test_a_nullable_union_keeps_its_constraints() -> None:
    schema = objects({"a": {"type": ["string", "null"], "minLength": 2, "maxLength": 3, "pattern": "^x"}}, ["a"])
    node = grammar(schema)["properties"]["a"]
    assert node == nullable({"type": "string", "pattern": "^x", "minLength": 2, "maxLength": 3})


def test_open_objects_are_closed_unless_they_describe_their_extra_keys() -> None:
    assert grammar(objects({"a": INT}, ["a"], additionalProperties=True)) == closed(a=INT)
    extra = grammar(objects({"a": INT}, ["a"], additionalProperties=STR))
    assert extra == {**closed(a=INT), "additionalProperties": STR}


def test_a_map_stays_a_map() -> None:
    assert grammar({"type": "object", "additionalProperties": INT}) == {"type": "object", "additionalProperties": INT}


def test_titles_and_descriptions_are_left_out_but_properties_of_that_name_stay() -> None:
    schema = objects({"title": {**STR, "title": "T", "description": "D"}}, ["title"], description="all")
    assert grammar(schema) == closed(title=STR)


def test_x_source_stays_on_the_value_and_off_its_null() -> None:
    schema = objects({"a": {"anyOf": [STR, NULL], "x-source": "span"}})
    assert grammar(schema) == closed(a=nullable({**STR, "x-source": "span"}))


def test_an_unknown_x_source_is_an_error() -> None:
    with pytest.raises(SchemaError, match=r"'x-source' at /properties/a is 'spam'; expected one of span, line"):
        grammar(objects({"a": {"type": "string", "x-source": "spam"}}))


def test_x_source_on_an_array_is_an_error() -> None:
    with pytest.raises(SchemaError, match="put it on the values inside"):
        grammar({"type": "array", "x-source": "line"})


def test_const_is_an_enum_of_one() -> None:
    assert grammar({"const": 'say "x"'}) == {"enum": ['say "x"']}


def test_true_and_one_are_different_members() -> None:
    assert grammar({"anyOf": [{"const": True}, {"const": 1}]}) == {"anyOf": [{"enum": [True]}, {"enum": [1]}]}


def test_enum_members_that_break_their_siblings_are_dropped() -> None:
    assert grammar({"enum": ["a", "bb", 3], "type": "string", "maxLength": 1}) == {"enum": ["a"]}


def test_references_point_into_one_flat_defs() -> None:
    schema = {
        "definitions": {"a/b": {"inner": INT}},
        **objects({"x": {"$ref": "#/definitions/a~1b/inner"}, "y": {"$ref": "#/properties/x"}}, ["x", "y"]),
    }
    found = grammar(schema)
    assert found["properties"] == {"x": {"$ref": "#/$defs/inner"}, "y": {"$ref": "#/$defs/x"}}
    assert found["$defs"] == {"inner": INT, "x": {"$ref": "#/$defs/inner"}}


def test_an_anchor_and_the_schemas_own_id_are_references_too() -> None:
    schema = {
        "$id": "https://example.org/s",
        "$defs": {"n": {"$anchor": "number", **INT}},
        **objects({"a": {"$ref": "#number"}, "b": {"$ref": "https://example.org/s#/$defs/n"}}, ["a", "b"]),
    }
    assert grammar(schema)["properties"] == {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/$defs/n"}}


def test_recursion_is_kept() -> None:
    node = objects({"v": INT, "next": {"$ref": "#/$defs/Node"}}, ["v"])
    found = grammar({"$ref": "#/$defs/Node", "$defs": {"Node": node}})
    assert found == {
        "$ref": "#/$defs/Node",
        "$defs": {"Node": closed(v=INT, next=nullable({"$ref": "#/$defs/Node"}))},
    }


def test_a_schema_may_refer_to_itself_as_a_whole() -> None:
    found = grammar(objects({"next": {"$ref": "#"}}))
    assert found["$defs"] == {"root": closed(next=nullable({"$ref": "#/$defs/root"}))}


def test_recursion_through_a_conjunction_ends() -> None:
    more = {"allOf": [{"$ref": "#/$defs/N"}, objects({"x": INT})]}
    found = grammar({"$ref": "#/$defs/N", "$defs": {"N": objects({"child": more})}})
    assert found["$defs"]["N"]["properties"]["child"] == nullable({"$ref": "#/$defs/child"})
    assert found["$defs"]["child"] == closed(child=nullable({"$ref": "#/$defs/child"}), x=nullable(INT))


def test_all_of_merges_objects_in_order() -> None:
    schema = {"allOf": [objects({"a": INT}, ["a"]), objects({"b": STR}, ["b"])]}
    assert grammar(schema) == closed(a=INT, b=STR)


def test_all_of_takes_the_tighter_bounds() -> None:
    schema = {"type": "integer", "minimum": 0, "maximum": 9, "allOf": [{"minimum": 3}, {"maximum": 20}]}
    assert grammar(schema) == {"type": "integer", "minimum": 3, "maximum": 9}


def test_a_closed_part_of_all_of_excludes_the_others_properties() -> None:
    closed_part = objects({"a": INT}, ["a"], additionalProperties=False)
    assert grammar({"allOf": [closed_part, objects({"b": STR})]}) == closed(a=INT)
    with pytest.raises(ImpossibleSchema, match="/properties/b is required, but its schema is false"):
        grammar({"allOf": [closed_part, objects({"b": STR}, ["b"])]})


def test_keywords_beside_a_reference_hold_too() -> None:
    schema = {"$defs": {"s": {"type": "string"}}, "$ref": "#/$defs/s", "maxLength": 4}
    assert grammar(schema) == {"type": "string", "maxLength": 4}


def test_alternatives_of_required_keys_are_multiplied_out() -> None:
    schema = objects({"a": INT, "b": STR}, anyOf=[{"required": ["a"]}, {"required": ["b"]}])
    assert grammar(schema) == {"anyOf": [closed(a=INT, b=nullable(STR)), closed(a=nullable(INT), b=STR)]}


def test_unions_that_multiply_without_end_are_an_error() -> None:
    two = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    with pytest.raises(SchemaError, match="multiply to over 256 cases"):
        grammar(objects({"a": INT, "b": INT}, allOf=[two] * 9))


def test_one_of_with_a_telling_constant_is_a_union() -> None:
    cat = objects({"kind": {"const": "cat"}, "lives": INT}, ["kind", "lives"])
    dog = objects({"kind": {"const": "dog"}}, ["kind"])
    schema = {"oneOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}], "$defs": {"cat": cat, "dog": dog}}
    assert grammar(schema)["anyOf"] == [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}]


@pytest.mark.parametrize(
    "branches",
    [
        [{"type": "string"}, {"type": "integer"}],
        [{"enum": ["a"]}, {"enum": ["b", 1]}],
        [objects({"a": INT}, ["a"]), objects({"b": INT}, ["b"])],
    ],
)
def test_one_of_is_a_union_where_the_branches_exclude_each_other(branches: Any) -> None:
    assert len(grammar({"oneOf": branches})["anyOf"]) == 2


@pytest.mark.parametrize(
    "branches",
    [
        [{"type": "number"}, {"type": "integer"}],
        [{"enum": ["a", "b"]}, {"enum": ["b"]}],
        [objects({"a": INT}, ["a"]), objects({"a": INT, "b": INT}, ["a"])],
    ],
)
def test_overlapping_one_of_is_an_error_or_leniently_a_union(branches: Any) -> None:
    with pytest.raises(SchemaError, match=r"'oneOf' at /properties/x .* \(its branches overlap\); use anyOf"):
        grammar(objects({"x": {"oneOf": branches}}))
    lenient = prepare({"oneOf": branches}, lenient=True)
    assert len(lenient.schema["anyOf"]) == 2
    assert "'oneOf' at the top level is not enforced" in lenient.notes[0]


def test_a_discriminator_makes_its_property_required() -> None:
    cat = objects({"kind": {"const": "cat", "default": "cat"}})
    dog = objects({"kind": {"const": "dog", "default": "dog"}})
    schema = {"oneOf": [cat, dog], "discriminator": {"propertyName": "kind"}}
    assert grammar(schema) == {"anyOf": [closed(kind={"enum": ["cat"]}), closed(kind={"enum": ["dog"]})]}


def test_tuples_are_closed() -> None:
    schema = {"type": "array", "prefixItems": [INT, STR], "minItems": 2}
    assert grammar(schema) == {"type": "array", "prefixItems": [INT, STR], "items": False, "minItems": 2, "maxItems": 2}


def test_an_old_drafts_list_of_items_is_a_tuple() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "array",
        "items": [INT],
        "additionalItems": STR,
    }
    assert grammar(schema) == {"type": "array", "prefixItems": [INT], "items": STR, "maxItems": 1000}


def test_an_old_drafts_exclusive_flag_is_a_limit() -> None:
    found = grammar({"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 9})
    assert found == {"type": "integer", "exclusiveMinimum": 0, "maximum": 9}


def test_names_of_a_map_are_held_by_patterns() -> None:
    schema = {"type": "object", "additionalProperties": INT, "propertyNames": {"enum": ["a.b", "c"]}}
    assert grammar(schema) == {
        "type": "object",
        "patternProperties": {r"^(?:a\.b|c)$": INT},
        "additionalProperties": False,
    }


def test_two_patterns_both_hold() -> None:
    found = grammar({"type": "string", "pattern": "a", "maxLength": 9, "allOf": [{"pattern": "b"}]})
    assert found == {"type": "string", "pattern": "a", "allOf": [{"pattern": "b"}], "maxLength": 9}


def test_a_keyword_implies_its_type() -> None:
    assert grammar({"maxLength": 9}) == STR
    assert grammar({"properties": {"a": INT}, "required": ["a"]}) == closed(a=INT)


REFUSED = [name for name, support in KEYWORDS.items() if support is Support.REFUSED]


@pytest.mark.parametrize("keyword", REFUSED)
def test_a_keyword_that_cannot_be_enforced_is_named_with_its_place(keyword: str) -> None:
    schema = objects({"a": {"type": "array", "items": INT, keyword: {"x": 1}}})
    with pytest.raises(SchemaError) as caught:
        grammar(schema)
    assert f"'{keyword}' at /properties/a cannot be enforced while decoding" in str(caught.value)
    assert "leniently" in str(caught.value)


@pytest.mark.parametrize("keyword", REFUSED)
def test_leniently_it_is_dropped_with_a_note(keyword: str) -> None:
    plain = objects({"a": {"type": "array", "items": INT}})
    schema = objects({"a": {"type": "array", "items": INT, keyword: {"x": 1}}})
    found = prepare(schema, lenient=True)
    assert found.schema == grammar(plain)
    assert found.notes == (
        f"The keyword '{keyword}' at /properties/a is not enforced while decoding, only checked after.",
    )


@pytest.mark.parametrize(
    ("keyword", "value"),
    [("uniqueItems", False), ("dependentRequired", {}), ("unevaluatedItems", True), ("minContains", 0)],
)
def test_a_keyword_that_says_nothing_is_no_error(keyword: str, value: Any) -> None:
    assert prepare({"type": "array", "items": INT, keyword: value}).notes == ()


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "string", "format": "isbn"}, "'format' at the top level .*the engine does not know 'isbn'"),
        ({"type": "string", "pattern": "^(?!x)"}, r"'pattern' at the top level .*it uses '\(\?!'"),
        (objects({"a": INT, "b": INT}, minProperties=1), "'minProperties' at the top level .*absent properties"),
        ({"type": "object", "additionalProperties": INT, "minProperties": 2}, "'minProperties' at the top level"),
        (
            objects({"a": INT, "b": INT}, maxProperties=1),
            "'maxProperties' at the top level .*every property is written",
        ),
    ],
)
def test_a_value_that_cannot_be_enforced_is_named_with_its_reason(schema: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        grammar(schema)
    assert len(prepare(schema, lenient=True).notes) == 1


def test_limits_on_the_number_of_properties_that_hold_anyway_are_no_error() -> None:
    assert grammar(objects({"a": INT}, ["a"], minProperties=1, maxProperties=1)) == closed(a=INT)


def test_a_misspelt_keyword_is_an_error() -> None:
    with pytest.raises(SchemaError, match="'maxlength' at /properties/a is not known; did you mean 'maxLength'"):
        grammar(objects({"a": {"type": "string", "maxlength": 3}}))


def test_a_foreign_keyword_is_a_note() -> None:
    assert prepare({**INT, "tsType": "number"}).notes == (
        "The keyword 'tsType' at the top level is not known and was left out.",
    )


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "string", "minLength": 3, "maxLength": 2}, "minLength 3 is above maxLength 2 at /properties/a"),
        ({"type": "array", "minItems": 3, "maxItems": 2}, "minItems 3 is above maxItems 2 at /properties/a"),
        ({"type": "array", "prefixItems": [INT], "items": False, "minItems": 2}, "minItems 2 is above maxItems 1"),
        ({"type": "number", "minimum": 3, "maximum": 2}, "minimum 3 is above maximum 2"),
        ({"type": "number", "exclusiveMinimum": 2, "maximum": 2}, "No number lies between the limits 2 and 2"),
        ({"type": "integer", "minimum": 2.2, "maximum": 2.7}, "No integer lies between the limits 2.2 and 2.7"),
        ({"type": "integer", "multipleOf": 5, "minimum": 6, "maximum": 9}, "No integer lies between"),
        ({"enum": []}, "The enum at /properties/a is empty"),
        ({"enum": ["aa"], "maxLength": 1, "type": "string"}, "No member of the enum at /properties/a"),
        ({"enum": ["a"], "type": "integer"}, "No member of the enum at /properties/a"),
        ({"anyOf": [False]}, "'anyOf' at /properties/a has no branch"),
        ({"type": "string", "allOf": [{"type": "integer"}]}, "ask for string and integer at once"),
        ({"allOf": [{"enum": ["a"]}, {"enum": ["b"]}]}, "have no value in common"),
        (False, "/properties/a is required, but its schema is false"),
    ],
)
def test_an_impossible_schema_is_found_before_decoding(schema: Any, message: str) -> None:
    with pytest.raises(ImpossibleSchema, match=message):
        grammar(objects({"a": schema}, ["a"]))


def test_a_property_that_can_only_be_absent_is_left_out() -> None:
    assert grammar(objects({"a": False, "b": INT}, ["b"])) == closed(b=INT)


@pytest.mark.parametrize(
    "defs",
    [
        {"N": objects({"next": {"$ref": "#/$defs/N"}}, ["next"])},
        {"N": {"$ref": "#/$defs/N"}},
        {"N": {"type": "array", "items": {"$ref": "#/$defs/N"}, "minItems": 1}},
        {"N": objects({"m": {"$ref": "#/$defs/M"}}, ["m"]), "M": {"anyOf": [{"$ref": "#/$defs/N"}]}},
    ],
)
def test_recursion_without_an_end_is_found_before_decoding(defs: Any) -> None:
    with pytest.raises(ImpossibleSchema, match=r"refers to itself without end: every value of .*'N'"):
        grammar({"$ref": "#/$defs/N", "$defs": defs})


def test_a_conjunction_that_contains_itself_is_found_before_decoding() -> None:
    with pytest.raises(ImpossibleSchema, match="leads back to itself"):
        grammar({"$ref": "#/$defs/N", "$defs": {"N": {"type": "object", "allOf": [{"$ref": "#/$defs/N"}]}}})


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("#/$defs/Nope", "points to #/\\$defs/Nope, which is not in the schema"),
        ("other.json#/a", "points outside of the schema"),
        ("https://example.org/x", "points outside of the schema"),
    ],
)
def test_a_reference_that_leads_nowhere_is_an_error(ref: str, message: str) -> None:
    with pytest.raises(SchemaError, match=f"'\\$ref' at /properties/a {message}"):
        grammar(objects({"a": {"$ref": ref}}))


def test_a_number_inside_tight_limits_keeps_the_users_step() -> None:
    assert grammar({"type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.25})["multipleOf"] == 0.25
    assert "multipleOf" not in grammar({"type": "number", "minimum": 1e-12, "maximum": 2e-12})


def test_a_pattern_of_the_user_gets_no_bound_beside_it() -> None:
    assert grammar({"type": "string", "pattern": "^[A-Z]+$"}) == {"type": "string", "pattern": "^[A-Z]+$"}
