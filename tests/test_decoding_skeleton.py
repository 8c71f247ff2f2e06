"""The fixed text between values."""

from __future__ import annotations

from source_bench import INVOICE, NUMBER, STRING, array, context, record

from lookstruct.decoding.guessing.skeleton import Skeleton, Slot, Stage

NESTED = record(a=record(b=STRING, tags=array(STRING)), c=array(array(NUMBER)))


def ways(path: tuple, schema: dict = NESTED) -> list[tuple[bytes, tuple | None, int]]:
    return [(way.text, way.path, way.closes) for way in Skeleton(schema).after(path)]


def slot(text: str, schema: dict = NESTED) -> Slot | None:
    now = context(text)
    return Skeleton(schema).slot(now.text, now.cursor)


def test_after_a_member_comes_the_next_key():
    assert ways(("a", "b")) == [(b', "tags": ', ("a", "tags"), 0)]


def test_after_an_item_the_array_goes_on_or_closes_outward():
    assert ways(("a", "tags", 1)) == [(b", ", ("a", "tags", 2), 0), (b"}".join([b"]", b', "c": ']), ("c",), 1)]


def test_after_the_last_value_the_record_ends():
    assert ways(("c", 0, 0)) == [(b", ", ("c", 0, 1), 0), (b"], ", ("c", 1), 1), (b"]]}", None, 2)]
    assert ways(()) == [(b"", None, 0)]


def test_objects_are_entered_on_the_way():
    assert ways(("seller_name",), INVOICE) == [(b', "lines": ', ("lines",), 0)]
    assert Skeleton(INVOICE).after(("lines", 0))[0].text == b', {"description": '


def test_the_opening_goes_through_containers():
    assert Skeleton(NESTED).opening(()) == b'{"a": {"b": "'
    assert Skeleton(INVOICE).opening(("lines",)) == b'[{"description": "'
    assert Skeleton(NESTED).opening(("c",)) == b"[["


def test_the_slot_tells_what_must_be_written_before_the_value():
    assert slot('{"a": {"b":') == Slot(Stage.AHEAD, ("a", "b"), b" ")
    assert slot('{"a": {"b"') == Slot(Stage.AHEAD, ("a", "b"), b": ")
    assert slot('{"a": {"b": "x", "ta') == Slot(Stage.AHEAD, ("a", "tags"), b'gs": ')
    assert slot('{"a": {"b": "x", "tags": ["y",') == Slot(Stage.AHEAD, ("a", "tags", 1), b" ")


def test_the_slot_of_an_unfinished_value_holds_what_is_written():
    assert slot('{"a": {"b": "x\\"') == Slot(Stage.INSIDE, ("a", "b"), written=b'"x\\"')


def test_a_finished_value_is_an_ended_slot():
    assert slot('{"a": {"b": "x"') == Slot(Stage.ENDED, ("a", "b"))
    assert slot('{"a": {"b": "x", "tags": []') == Slot(Stage.ENDED, ("a", "tags"))


def test_the_first_key_after_a_nested_brace_is_not_taken_for_a_later_one():
    schema = record(x=NUMBER, a=record(x=NUMBER, y=NUMBER))
    assert slot('{"x": 1, "a": {', schema) == Slot(Stage.AHEAD, ("a", "x"), b'"x": ')
    assert slot('{"x": 1, "a": {"', schema) == Slot(Stage.AHEAD, ("a", "x"), b'x": ')


def test_the_end_and_unknown_keys_have_no_slot():
    assert slot('{"a": {"b": "x", "tags": []}, "c": []}') is None
    assert slot('{"zzz') is None
