"""Drafts from guesses of the whole record."""

from __future__ import annotations

import json

from source_bench import (
    INVOICE,
    INVOICE_PAGE,
    INVOICE_RECORD,
    NUMBER,
    STRING,
    ask,
    begins,
    optional,
    record,
    request,
    steps,
    texts,
)

from lookstruct.decoding.sources.records import Records

GUESS = json.loads(INVOICE_RECORD)
SCHEMA = record(name=STRING, price=NUMBER, brand=optional(STRING), ok={"type": "boolean"})


def guessed(text: str, *guesses: object, page: str = "Lamp 12.50 Acme", schema: dict = SCHEMA) -> list[str]:
    return texts(ask(Records, text, request(schema, page, guesses=guesses, sources=("records",))))


def test_a_guess_is_read_at_the_path_and_on_from_there():
    found = guessed('{"name": ', {"name": "Lamp", "price": 12.5, "brand": "Acme", "ok": True})
    assert found[0] == '"Lamp", "price": 12.5, "brand": "Acme", "ok": true}'


def test_keys_come_in_the_schemas_order():
    found = guessed("{", {"ok": True, "brand": None, "price": 1, "name": "Lamp"}, page="Lamp 1")
    assert found[0] == '"name": "Lamp", "price": 1, "brand": null, "ok": true}'


def test_inside_a_value_only_a_guess_that_begins_so_speaks():
    assert guessed('{"name": "La', {"name": "Lamp", "price": 12.5})[0].startswith('mp", "price": 12.5')
    assert guessed('{"name": "Lu', {"name": "Lamp", "price": 12.5}) == []


def test_after_a_wrong_value_the_guess_is_taken_up_at_the_next_key():
    found = guessed('{"name": "Chair", "price": ', {"name": "Lamp", "price": 12.5, "brand": "Acme"})
    assert found[0].startswith('12.5, "brand": "Acme"')


def test_numbers_come_in_each_of_their_forms():
    found = guessed('{"name": "Lamp", "price": ', {"price": 12.5})
    assert [text.split(",")[0] for text in found] == ["12.5", "12.50"]


def test_numbers_given_as_text_are_numbers():
    assert guessed('{"name": "Lamp", "price": ', {"price": "12.50"})[0].startswith("12.50")


def test_values_that_do_not_stand_on_the_page_are_believed_less():
    here, absent = (
        ask(Records, '{"name": ', request(SCHEMA, page, guesses=({"name": "Lamp"},)))[0] for page in ("Lamp", "Chair")
    )
    assert (here.kind, absent.kind) == ("here", "absent")
    assert absent.p < here.p / 2


def test_a_guess_that_keeps_being_wrong_is_believed_less():
    guess = {"name": "Lamp", "price": 12.5, "brand": "Acme", "ok": True}
    asked = request(SCHEMA, "Lamp 12.50 Acme", guesses=(guess,), sources=("records",))
    right = ask(Records, '{"name": "Lamp", "price": 12.5, "brand": ', asked)[0]
    asked = request(SCHEMA, "Lamp 12.50 Acme", guesses=(guess,), sources=("records",))
    wrong = ask(Records, '{"name": "Chair", "price": 3, "brand": ', asked)[0]
    assert wrong.text == right.text
    assert wrong.p < right.p


def test_arrays_follow_the_guess_item_by_item_and_end_with_it():
    written = INVOICE_RECORD[: INVOICE_RECORD.index('{"description": "Landing')]
    found = guessed(written, GUESS, page="", schema=INVOICE)
    assert found[0].startswith('{"description": "Landing page for the spring blend"')


def test_several_guesses_are_tried_the_first_most():
    drafts = ask(Records, '{"name": ', request(SCHEMA, "Lamp Chair", guesses=({"name": "Lamp"}, {"name": "Chair"})))
    assert [draft.text[:6] for draft in drafts] == [b'"Lamp"', b'"Chair']
    assert drafts[0].p > drafts[1].p


def test_the_right_guess_alone_gives_the_record_in_a_few_steps():
    asked = request(INVOICE, INVOICE_PAGE, guesses=(GUESS,), sources=("records",))
    assert len(steps(INVOICE_RECORD, asked, (Records,))) <= 6


def test_odd_guesses_are_harmless():
    for guess in (3, "text", None, [], {}, {"name": {"a": [1]}}, {"price": "n/a"}, [{"name": 1}]):
        for text in ("{", '{"name": ', '{"name": "L', '{"name": "L", "price": ', '{"name": "L", "price": 1'):
            assert isinstance(guessed(text, guess), list)


def test_without_guesses_there_is_nothing_to_say():
    assert guessed('{"name": ') == []
    assert not begins(ask(Records, "text", request(SCHEMA, guesses=({"name": "x"},)), json=False), "")
