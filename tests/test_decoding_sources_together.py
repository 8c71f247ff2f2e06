"""What holds for every text-speaking source, and what they reach together."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_bench import (
    INVOICE,
    INVOICE_PAGE,
    INVOICE_RECORD,
    STRING,
    TEXT_SOURCES,
    array,
    ask,
    context,
    optional,
    record,
    request,
    steps,
)

from lookstruct.decoding.sources.base import DraftSource
from lookstruct.decoding.sources.outlook import Outlook
from lookstruct.decoding.sources.schema_seeds import SchemaSeeds

GUESS = {"invoice_number": "X", "lines": [{"description": "y"}], "total": "12,5"}
PIECES = st.sampled_from(
    [
        *['{"', '"invoice_number"', ": ", ", ", "[", "]", "{", "}"],
        *['"', "\\", "12.", "-", "null", "tru", "é", '"lines": [{'],
    ]
)


@pytest.mark.parametrize("source", TEXT_SOURCES)
@given(text=st.one_of(st.binary(max_size=60), st.lists(PIECES, max_size=14).map(lambda parts: "".join(parts).encode())))
@settings(max_examples=30, deadline=None)
def test_odd_text_never_raises(source: type[DraftSource], text: bytes):
    asked = request(INVOICE, INVOICE_PAGE, guesses=(GUESS,))
    for draft in [*ask(source, text, asked), *ask(source, text, asked, json=False)]:
        assert isinstance(draft.text, bytes)
        assert 0 < draft.p < 1
        assert 0 < draft.q < 1


@pytest.mark.parametrize("source", TEXT_SOURCES)
@given(page=st.text(max_size=200), cut=st.integers(0, len(INVOICE_RECORD.encode())))
@settings(max_examples=15, deadline=None)
def test_odd_pages_never_raise(source: type[DraftSource], page: str, cut: int):
    for schema in (INVOICE, None, {}, {"type": "array"}, {"properties": {"lines": True}}):
        asked = request(schema, page, guesses=(GUESS,))
        for draft in ask(source, INVOICE_RECORD.encode()[:cut], asked):
            draft.text.decode()


@pytest.mark.parametrize("source", TEXT_SOURCES)
@pytest.mark.parametrize("cut", [0, 1, 20, 57, 100, 180, 250, 300, 420, 600])
def test_the_same_question_gets_the_same_drafts(source: type[DraftSource], cut: int):
    now = INVOICE_RECORD.encode()[:cut]
    first, second = (ask(source, now, request(INVOICE, INVOICE_PAGE, guesses=(GUESS,))) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("source", TEXT_SOURCES)
def test_what_was_asked_before_does_not_change_the_answer(source: type[DraftSource]):
    data = INVOICE_RECORD.encode()
    walked, asked = source(request(INVOICE, INVOICE_PAGE)), data[:420]
    for cut in (1, 40, 90, 300, 200, 410):
        list(walked.propose(context(data[:cut])))
    fresh = {draft.text for draft in ask(source, asked, request(INVOICE, INVOICE_PAGE))}
    assert {draft.text for draft in walked.propose(context(asked))} == fresh


@pytest.mark.parametrize("source", TEXT_SOURCES)
def test_every_source_names_itself_and_meets_the_protocol(source: type[DraftSource]):
    instance = source(request(INVOICE, INVOICE_PAGE))
    assert isinstance(instance, DraftSource)
    instance.observe(context('{"invoice_number": "HF'), 1)
    assert source.name in ("schema", "page", "values", "arrays", "records")


def test_together_they_write_an_invoice_in_a_handful_of_steps():
    taken = steps(INVOICE_RECORD, request(INVOICE, INVOICE_PAGE))
    assert len(taken) <= 5
    assert sum(taken) == len(INVOICE_RECORD.encode())


def test_the_schema_alone_never_guesses_a_value():
    asked = request(INVOICE, INVOICE_PAGE, sources=("schema",))
    assert all(b"HF-2025" not in draft.text for draft in ask(SchemaSeeds, "{", asked))


def test_sources_that_are_switched_off_do_not_speak_through_others():
    only_page = Outlook(request(INVOICE, INVOICE_PAGE, sources=("page",)))
    everyone = Outlook(request(INVOICE, INVOICE_PAGE))
    for outlook in (only_page, everyone):
        outlook.look(context('{"invoice_number": "HF-2025-0147"'))
    assert only_page.follow(("invoice_number",), None, 400) == b', "issue_date": "'
    assert everyone.follow(("invoice_number",), None, 400).startswith(b', "issue_date": "2025-03-14", "due_date": ')


def test_one_request_shares_one_outlook_and_two_requests_share_none():
    asked = request(INVOICE, INVOICE_PAGE)
    assert Outlook.of(asked) is Outlook.of(asked)
    assert Outlook.of(asked) is not Outlook.of(request(INVOICE, INVOICE_PAGE))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


@given(json_values)
@settings(max_examples=30, deadline=None)
def test_a_guess_of_any_shape_is_taken_as_it_comes(value: Any):
    schema = record(a=optional(STRING), b=array(STRING))
    asked = request(schema, "some page", guesses=(value, {"a": value, "b": value}))
    text = json.dumps({"a": "x", "b": ["y", "z"]})
    for cut in range(0, len(text), 3):
        for source in TEXT_SOURCES:
            ask(source, text[:cut], asked)
