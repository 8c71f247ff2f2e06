"""Drafts by a field's type and name."""

from __future__ import annotations

import pytest
from source_bench import (
    DATE,
    INVOICE,
    INVOICE_PAGE,
    NUMBER,
    STRING,
    array,
    ask,
    begins,
    optional,
    record,
    request,
    texts,
)

from lookstruct.decoding.request import Candidate
from lookstruct.decoding.sources.typed_values import TypedValues

INTEGER = {"type": "integer"}


def values(text: str, page: str, schema: dict, **kwargs) -> list[str]:
    return texts(ask(TypedValues, text, request(schema, page, sources=("values",), **kwargs)))


def test_the_text_beside_a_label_like_the_fields_name_comes_first():
    found = values('{"invoice_number": ', INVOICE_PAGE, record(invoice_number=STRING))
    assert found[0] == '"HF-2025-0147"}'


def test_dates_are_written_as_iso_and_chosen_by_label():
    schema = record(due_date=DATE, issue_date=DATE)
    assert values('{"due_date": ', INVOICE_PAGE, schema)[0] == '"2025-04-13", "issue_date": "2025-03-14"}'


@pytest.mark.parametrize(
    ("shown", "iso"),
    [
        ("21 August 2024", "2024-08-21"),
        ("August 21st, 2024", "2024-08-21"),
        ("2024年8月21日", "2024-08-21"),
        ("21.08.2024", "2024-08-21"),
        ("2024-08-21", "2024-08-21"),
    ],
)
def test_dates_are_read_in_common_notations(shown, iso):
    assert f'"{iso}"}}' in values('{"day": ', f"Posted: {shown}", record(day=DATE))


def test_both_readings_of_an_ambiguous_date_are_offered():
    found = values('{"day": ', "Date: 03/04/2025", record(day=DATE))
    assert {'"2025-04-03"}', '"2025-03-04"}'} <= set(found)


def test_numbers_lose_their_thousands_separators_and_keep_their_decimals():
    assert values('{"total": ', "Total due: £4,908.00", record(total=NUMBER))[0] == "4908.00}"


def test_once_a_number_was_written_short_the_next_ones_are_too():
    page = "Net: £12.50\nTotal: £20.50"
    schema = record(net=NUMBER, total=NUMBER)
    assert values('{"net": 12.5, "total": ', page, schema)[0] == "20.5}"
    assert values('{"net": 12.50, "total": ', page, schema)[0] == "20.50}"


def test_inside_a_number_every_form_that_begins_so_is_offered():
    found = values('{"total": 212', "Total: 212.50", record(total=NUMBER))
    assert {".50}", ".5}"} <= set(found)


def test_integers_get_whole_numbers_only():
    found = values('{"pages": ', "Price: 18.50\nPages: 288", record(pages=INTEGER))
    assert found[0] == "288}"
    assert not begins(ask(TypedValues, '{"pages": ', request(record(pages=INTEGER), "Price: 18.50")), "18.5")


def test_a_unit_behind_a_number_names_it():
    schema = record(bathrooms=INTEGER, bedrooms=INTEGER)
    assert values('{"bathrooms": ', "3 bedrooms 1 bathroom", schema)[0] == '1, "bedrooms": 3}'


def test_addresses_of_mail_and_pages_are_found_by_format_and_name():
    page = "Write to office@example.com or see https://example.com/a?b=1."
    assert values('{"email": ', page, record(email=STRING))[0] == '"office@example.com"}'
    link = record(homepage={"type": "string", "format": "uri"})
    assert values('{"homepage": ', page, link)[0] == '"https://example.com/a?b=1"}'


def test_durations_become_iso():
    schema = record(cook_time={"type": "string", "format": "duration"})
    assert values('{"cook_time": ', "Prep time 15 minutes\nCook time 1 hour 30 minutes", schema)[0] == '"PT1H30M"}'


def test_a_line_that_begins_with_the_fields_name_gives_the_rest_of_it():
    assert values('{"recipe_yield": ', "Yield 4 servings", record(recipe_yield=STRING))[0] == '"4 servings"}'


def test_the_main_heading_is_the_name():
    page = "# Lamp | Shop\n\n# Desk lamp\n£12.00"
    assert values('{"name": ', page, record(name=STRING))[0] == '"Desk lamp"}'


def test_candidates_that_were_given_are_used_with_their_labels():
    given = (Candidate("2024-08-21", "date", 0, "Erscheinungstag"),)
    found = values('{"day": ', "Erscheinungstag: XXI. VIII. MMXXIV", record(day=DATE), candidates=given)
    assert found[0] == '"2024-08-21"}'


def test_a_value_of_a_closed_list_that_the_page_speaks_of_comes_first():
    schema = record(availability={"enum": ["InStock", "OutOfStock"], "type": "string"})
    assert values('{"availability": ', "Lamp\nOut of stock until May", schema)[0] == '"OutOfStock"}'


def test_the_pages_currency_is_written_as_its_code():
    assert values('{"currency": ', "Total £4.00 or £5.00, $3.00", record(currency=STRING))[0] == '"GBP"}'


def test_an_optional_value_that_nothing_tells_may_be_null():
    assert "null}" in values('{"fax": ', "Lamp", record(fax=optional(STRING)))


def test_null_loses_to_a_labelled_value():
    found = values('{"due_date": ', INVOICE_PAGE, record(due_date=optional(DATE)))
    assert found[0] == '"2025-04-13"}'
    assert "null}" in found


def test_inside_a_string_only_what_begins_so_is_offered():
    found = values('{"seller": "Unit', INVOICE_PAGE, record(seller=STRING))
    assert ' 4, Paintworks Yard"}' in found
    assert all(text in (' 4, Paintworks Yard"}', ' price"}') for text in found)


def test_one_draft_runs_on_over_several_fields():
    first = ask(TypedValues, "{", request(INVOICE, INVOICE_PAGE, sources=("values",)))[0].text.decode()
    assert first.startswith(
        '"invoice_number": "HF-2025-0147", "issue_date": "2025-03-14", "due_date": "2025-04-13", '
        '"seller_name": "Harrow & Finch Ltd", "lines": ['
    )


def test_second_choices_along_the_chain_become_forks():
    page = "Sent: 3 May 2025\nDue: 9 May 2025\nPaid: 12 May 2025\nName: Ann"
    drafts = ask(TypedValues, "{", request(record(name=STRING, day=DATE), page))
    forks = texts([draft for draft in drafts if draft.kind == "fork"])
    assert len({fork.split('"day": ')[1] for fork in forks if '"day": ' in fork}) >= 2


def test_after_a_value_the_next_fields_are_guessed():
    found = values('{"invoice_number": "HF-2025-0147"', INVOICE_PAGE, INVOICE)
    assert found[0].startswith(', "issue_date": "2025-03-14", "due_date": "2025-04-13"')


def test_a_date_without_a_match_may_begin_like_the_last_one():
    schema = record(days=array(record(day=DATE)))
    drafts = ask(TypedValues, '{"days": [{"day": "2025-04-03"}, {"day": ', request(schema, "Apr 3\nApr 5"))
    assert '"2025-04-' in texts([draft for draft in drafts if draft.kind == "stem"])


def test_beliefs_are_probabilities_and_sum_to_one_at_most():
    drafts = ask(TypedValues, '{"total": ', request(record(total=NUMBER), INVOICE_PAGE))
    assert all(0 < draft.p < 1 and 0 < draft.q < 1 for draft in drafts)
    assert sum(draft.p for draft in drafts if draft.kind != "fork") <= 1.0


def test_kinds_say_why_a_value_was_taken():
    drafts = ask(TypedValues, '{"total": ', request(record(total=optional(NUMBER)), "Total: 4.50\n9.75"))
    assert {"number:label", "number:place", "null"} <= {draft.kind for draft in drafts}


def test_without_a_json_cursor_there_is_nothing_to_say():
    assert ask(TypedValues, "free text", request(INVOICE, INVOICE_PAGE), json=False) == []


ARTICLE = """# The night ferry - The Ledger
# Council approves the night ferry
By Ada Byron-King and Charles Babbage
The night ferry to Pender Point starts in May; nobody slept at Pender Point when the ferry called."""


def test_the_names_of_a_byline_fill_a_list_of_authors_in_turn():
    schema = record(author=array(STRING))
    assert {'["Ada Byron-King", "', '["Ada Byron-King"]}'} <= set(values('{"author": ', ARTICLE, schema))
    assert '"Charles Babbage"]}' in values('{"author": ["Ada Byron-King", ', ARTICLE, schema)


def test_a_list_of_keywords_is_offered_what_the_page_is_about():
    found = values('{"keywords": ["ferry", ', ARTICLE, record(keywords=array(STRING)))
    assert {'"Pender Point", "', '"council", "'} <= set(found)
    assert '"ferry", "' not in found, "not once more what the list has"


def test_a_date_that_is_none_of_the_pages_ends_as_the_records_last_one():
    schema = record(a=DATE, b=DATE, c=DATE)
    assert '0-01-01", "c": ' in "".join(values('{"a": "1000-01-01", "b": "110', "Posted: 2024-08-21", schema)) + ": "
