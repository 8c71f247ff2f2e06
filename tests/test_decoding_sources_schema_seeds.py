"""Drafts from the schema alone."""

from __future__ import annotations

import pytest
from source_bench import DATE, NUMBER, STRING, array, ask, begins, optional, record, request, texts

from lookstruct.decoding.sources.schema_seeds import SchemaSeeds

SCHEMA = record(
    name=STRING,
    price=NUMBER,
    stock={"enum": ["In stock", 'Sold "out"'], "type": "string"},
    ok={"type": "boolean"},
    tags=array(STRING),
    seller=optional(record(name=STRING, day=DATE)),
)


def seeds(text: str) -> list[str]:
    return texts(ask(SchemaSeeds, text, request(SCHEMA, sources=("schema",))))


def test_an_open_string_may_close_and_lead_into_the_next_value():
    assert seeds('{"name": "Lamp') == ['", "price": ']


def test_a_number_may_end_and_lead_into_the_next_value():
    assert seeds('{"name": "Lamp", "price": 12') == [', "stock": ']


def test_a_number_that_ends_in_its_point_does_not_end():
    assert seeds('{"name": "Lamp", "price": 12.') == []


def test_enum_members_are_offered_whole_and_escaped():
    found = seeds('{"name": "Lamp", "price": 12, "stock": ')
    assert found == ['"In stock", "ok": ', '"Sold \\"out\\"", "ok": ']


def test_a_begun_enum_member_is_completed():
    assert seeds('{"name": "Lamp", "price": 12, "stock": "S') == ['old \\"out\\"", "ok": ']


def test_booleans_lead_into_the_next_opening():
    assert seeds('{"name": "x", "price": 1, "stock": "In stock", "ok":') == [' true, "tags": ["', ' false, "tags": ["']


def test_an_array_may_be_empty_or_open_its_first_item():
    found = seeds('{"name": "x", "price": 1, "stock": "In stock", "ok": true, "tags": ')
    assert found == ['[], "seller": {"name": "', '["']


def test_after_an_item_the_array_goes_on_or_ends():
    found = seeds('{"name": "x", "price": 1, "stock": "In stock", "ok": true, "tags": ["a"')
    assert found == [', "', '], "seller": {"name": "']


def test_a_string_in_an_array_closes_both_ways():
    found = seeds('{"name": "x", "price": 1, "stock": "In stock", "ok": true, "tags": ["a')
    assert found == ['", "', '"], "seller": {"name": "']


def test_an_optional_value_may_be_null_and_end_the_record():
    found = seeds('{"name": "x", "price": 1, "stock": "In stock", "ok": true, "tags": [], "seller": ')
    assert found == ["null}", '{"name": "']


def test_the_end_of_nested_objects_is_one_draft():
    done = '{"name": "x", "price": 1, "stock": "In stock", "ok": true, "tags": [], "seller": {"name": "y", "day": '
    assert seeds(done + '"2024-08-21') == ['"}}']


def test_a_complete_date_is_believed_to_close_and_a_short_one_is_not():
    done = '{"name": "x", "price": 1, "stock": "In stock", "ok": true, "tags": [], "seller": {"name": "y", "day": "'
    full, short = (
        ask(SchemaSeeds, done + day, request(SCHEMA, sources=("schema",)))[0] for day in ("2024-08-21", "2024-0")
    )
    assert full.p > 0.9 > 0.1 > short.p
    assert (full.kind, short.kind) == ("close:full", "close:short")


@pytest.mark.parametrize(
    ("text", "rest"),
    [("{", '"name": "'), ('{"na', 'me": "'), ('{"name"', ': "'), ('{"name":', ' "'), ('{"name": "x",', ' "price": ')],
)
def test_a_cut_inside_forced_text_is_picked_up(text, rest):
    assert seeds(text) == [rest]


def test_nothing_closes_behind_a_backslash():
    assert seeds('{"name": "a\\') == []
    assert seeds('{"name": "a\\\\') == ['", "price": ']


def test_kinds_tell_situations_apart():
    kinds = {
        draft.kind
        for text in ("{", '{"name": "L')
        for draft in ask(SchemaSeeds, text, request(SCHEMA, sources=("schema",)))
    }
    assert kinds == {"open", "close:start"}


def test_without_a_schema_or_a_json_cursor_there_is_nothing_to_say():
    assert ask(SchemaSeeds, "{", request(None)) == []
    assert ask(SchemaSeeds, "free text", request(SCHEMA), json=False) == []


def test_references_and_recursion_are_followed():
    schema = {
        "$ref": "#/$defs/Node",
        "$defs": {"Node": record(label=STRING, children=array({"$ref": "#/$defs/Node"}))},
    }
    drafts = ask(SchemaSeeds, '{"label": "a', request(schema, sources=("schema",)))
    assert begins(drafts, '", "children": [{"label": "')


def test_where_other_sources_guess_too_an_opening_leaves_them_room():
    alone, among = (ask(SchemaSeeds, "{", request(SCHEMA, sources=sources))[0] for sources in (("schema",), None))
    assert alone.text == among.text == b'"name": "'
    assert among.p < alone.p


def test_where_other_sources_are_on_an_ending_runs_on_into_their_guesses():
    page = "Lamp\nPrice: 12.50"
    assert texts(ask(SchemaSeeds, '{"name": "Lamp', request(SCHEMA, page)))[0].startswith(
        '", "price": 12.50, "stock": '
    )
