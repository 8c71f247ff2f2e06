"""Drafts copied from the page."""

from __future__ import annotations

from source_bench import INVOICE, INVOICE_PAGE, STRING, array, ask, begins, record, request, texts

from lookstruct.decoding.sources.page_copy import PageCopy

SCHEMA = record(title=STRING, place=STRING, notes=STRING)


def copies(text: str, page: str, schema: dict | None = None) -> list[str]:
    return texts(ask(PageCopy, text, request(schema or SCHEMA, page, sources=("page",))))


def test_a_begun_line_is_copied_to_its_end_and_closed_into_the_next_value():
    assert copies('{"title": "Night M', "Concerts\nNight Music\nThe Old Brewery")[0] == 'usic", "place": "'


def test_a_value_may_end_at_marks_within_the_line():
    found = copies('{"title": "Main Lib', "10:00, Main Library, Courtyard, back door")
    assert 'rary, Courtyard, back door", "place": "' in found
    assert 'rary", "place": "' in found
    assert 'rary, Courtyard", "place": "' in found


def test_a_value_may_run_on_over_the_line_break():
    found = copies('{"title": "12 High St', "12 High Street\nLondon W1")
    assert "reet, London W1" in found
    assert "reet London W1" in found


def test_a_table_cell_ends_the_copy():
    assert copies('{"title": "Brass h', "Item | Price\nBrass hook | 4.50")[0] == 'ook", "place": "'


def test_what_is_copied_is_escaped():
    assert copies('{"title": "Bag 2', 'Bag 250 g "retail" \\ new')[0] == '50 g \\"retail\\" \\\\ new", "place": "'


def test_a_value_with_escapes_is_found_on_the_page():
    assert copies('{"title": "The \\"re', 'The "retail" bag')[0] == 'tail\\" bag", "place": "'


def test_nothing_is_drafted_inside_an_escape_or_a_character():
    assert copies('{"title": "The \\', 'The "retail" bag') == []
    data = b'{"title": "Caf' + "é".encode()[:1]
    assert ask(PageCopy, data, request(SCHEMA, "Café Nero")) == []


def test_text_outside_ascii_is_copied_raw():
    assert copies('{"title": "朱泥', "商品: 朱泥急須 椿\n8,800円")[0].startswith('急須 椿", "place": "')


def test_the_longest_ending_counts_when_the_whole_value_is_not_on_the_page():
    assert begins(
        ask(PageCopy, '{"title": "A new Brass wall ho', request(SCHEMA, "Brass wall hook\nSteel bolt")),
        'ok", "place": "',
    )


def test_the_place_after_the_last_copy_is_preferred():
    page = "Total: one\nName: Anvil\nTotal: two"
    assert copies('{"title": "Anvil", "place": "Total: ', page)[0].startswith("two")


def test_quotation_marks_of_another_kind_still_match_and_keep_the_models_kind():
    found = copies('{"title": "Il mare chiude l\'is', "Il mare chiude l’isola dell’alba")
    assert found[0].startswith("ola dell'alba\"")


def test_letters_of_another_case_still_match_and_keep_the_models_case():
    assert copies('{"title": "maple & main har', "MAPLE & MAIN HARDWARE")[0].startswith('dware"')


def test_a_value_may_start_with_the_lines_after_the_last_copied_one():
    found = copies('{"title": "Night Music", "place": ', "Night Music\nThe Old Brewery\nFour players")
    assert found[0].startswith('"The Old Brewery"')


def test_numbers_are_left_to_other_sources():
    assert texts(ask(PageCopy, '{"n": ', request(record(n={"type": "number"}), "12 | 13"))) == []


def test_kinds_tell_long_matches_from_short_ones():
    page = "Landing page for the spring blend"
    short = ask(PageCopy, '{"title": "Lan', request(SCHEMA, page))[0]
    long = ask(PageCopy, '{"title": "Landing page f', request(SCHEMA, page))[0]
    assert (short.kind, long.kind) == ("line:short", "line:long")
    assert long.p > short.p


def test_free_text_is_continued_from_its_longest_ending():
    page = "The council approved the night ferry to Pender Point on Tuesday."
    found = texts(ask(PageCopy, "They say the night fer", request(None, page), json=False))
    assert found[0].startswith("ry to Pender Point on Tuesday.")


def test_free_text_without_a_match_gets_nothing():
    assert ask(PageCopy, "zzz", request(None, "The council"), json=False) == []


def test_without_a_page_there_is_nothing_to_copy():
    assert copies('{"title": "x', "") == []


def test_a_long_page_is_searched_quickly():
    page = "\n".join(f"Row {i} | item number {i * 7919} | {i % 97}.50" for i in range(6000))
    assert len(page) > 190_000
    assert begins(ask(PageCopy, '{"title": "item number 4751', request(SCHEMA, page)), "40")


def test_with_other_sources_on_the_copy_runs_on_into_the_next_fields():
    drafts = ask(PageCopy, '{"invoice_number": "HF-2025', request(INVOICE, INVOICE_PAGE))
    assert texts(drafts)[0].startswith(
        '-0147", "issue_date": "2025-03-14", "due_date": "2025-04-13", "seller_name": "Harrow'
    )


def test_strings_in_arrays_are_copied_too():
    schema = record(tags=array(STRING))
    assert begins(ask(PageCopy, '{"tags": ["Second fl', request(schema, "- Second floor\n- River view")), 'oor"')


def test_an_item_of_a_list_may_end_at_any_word_and_the_list_with_it():
    found = copies('{"tags": ["f', "The ferry service starts in May", record(tags=array(STRING)))
    assert {'erry", "', 'erry"]}', 'erry service", "'} <= set(found)
