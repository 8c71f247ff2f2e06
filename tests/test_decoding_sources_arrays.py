"""Drafts of array items from the page's rows."""

from __future__ import annotations

from source_bench import INVOICE, INVOICE_PAGE, NUMBER, STRING, array, ask, begins, record, request, texts

from lookstruct.decoding.sources.arrays import Arrays

HEAD = '{"invoice_number": "HF-2025-0147", "issue_date": null, "due_date": null, "seller_name": "x", '
FIRST = '{"description": "Brand workshop, half day", "quantity": 1, "unit_price": 950.00, "total": 950.00}'
SECOND = (
    '{"description": "Packaging design, 250 g \\"retail\\" bag", "quantity": 3, "unit_price": 680.00, "total": 2040.00}'
)
THIRD = '{"description": "Landing page for the spring blend", "quantity": 2, "unit_price": 725.00, "total": 1450.00}'
FOURTH = '{"description": "Print proofing on site (hours)", "quantity": 6.5, "unit_price": 72.00, "total": 468.00}'


def items(text: str, page: str = INVOICE_PAGE, schema: dict = INVOICE) -> list[str]:
    return texts(ask(Arrays, text, request(schema, page, sources=("arrays",))))


def test_a_tables_header_gives_the_first_item_and_all_that_follow():
    assert items(HEAD + '"lines": ')[0].startswith(f"[{FIRST}, {SECOND}, {THIRD}, {FOURTH}], ")


def test_the_columns_of_one_item_give_the_next():
    assert items(HEAD + f'"lines": [{FIRST}')[0].startswith(f", {SECOND}, {THIRD}, {FOURTH}], ")


def test_a_begun_item_is_finished_from_its_own_row():
    begun = HEAD + f'"lines": [{FIRST}, {SECOND}, {{"description": "Landing page for the spring blend", "quantity": '
    assert items(begun)[0].startswith('2, "unit_price": 725.00, "total": 1450.00}, {"description": "Print')


def test_a_row_that_was_skipped_is_followed_from_where_the_model_went_on():
    begun = HEAD + f'"lines": [{FIRST}, {{"description": "Land'
    assert items(begun)[0].startswith('ing page for the spring blend", "quantity": 2, "unit_price": 725.00')


def test_the_list_ends_where_the_rows_end():
    assert items(HEAD + f'"lines": [{FIRST}, {SECOND}, {THIRD}, {FOURTH}')[0].startswith('], "total": ')


def test_the_line_after_the_last_row_is_offered_once_the_model_goes_on():
    drafts = ask(
        Arrays,
        HEAD + f'"lines": [{FIRST}, {SECOND}, {THIRD}, {FOURTH}, {{"description": ',
        request(INVOICE, INVOICE_PAGE),
    )
    assert begins(drafts, '"Total due')
    assert {draft.kind for draft in drafts} == {"beyond"}


def test_a_constant_field_is_repeated():
    schema = record(rows=array(record(name=STRING, unit=STRING, price=NUMBER)))
    page = "Nut | 1.50\nBolt | 2.50\nScrew | 3.50"
    begun = '{"rows": [{"name": "Nut", "unit": "pc", "price": 1.50}, {"name": "Bolt", "unit": "pc", "price": 2.50}'
    assert items(begun, page, schema)[0] == ', {"name": "Screw", "unit": "pc", "price": 3.50}]}'


def test_numbers_keep_the_form_that_the_items_before_had():
    schema = record(rows=array(record(name=STRING, price=NUMBER)))
    page = "Nut | 1.50\nBolt | 2.50\nScrew | 3.50"
    assert items('{"rows": [{"name": "Nut", "price": 1.5}', page, schema)[0].startswith(
        ', {"name": "Bolt", "price": 2.5}'
    )


def test_a_part_of_a_cell_is_taken_as_the_part_before_was():
    schema = record(rows=array(record(count=NUMBER, name=STRING)))
    page = "3 x Seal kit | 4.50\n1 x Pump | 90.00\n2 x Hose | 12.00"
    begun = '{"rows": [{"count": 3, "name": "Seal kit"}'
    assert items(begun, page, schema)[0] == ', {"count": 1, "name": "Pump"}, {"count": 2, "name": "Hose"}]}'


def test_an_item_may_take_several_lines():
    schema = record(events=array(record(name=STRING, place=STRING)))
    page = "### Repair Café\n12:00, Main Library\n### Teen Night\n17:30, Eastside\n### Reading\n19:00, Auditorium\n"
    begun = '{"events": [{"name": "Repair Café", "place": "Main Library"}'
    assert items(begun, page, schema)[0] == (
        ', {"name": "Teen Night", "place": "Eastside"}, {"name": "Reading", "place": "Auditorium"}]}'
    )


def test_like_headings_promise_the_first_item():
    schema = record(questions=array(record(question=STRING, answer=STRING)))
    page = "# Help\n\n### Is it free?\nYes, it is.\n### Since when?\nSince May.\n### Why?\nWhy not.\n"
    assert items('{"questions": ', page, schema)[0].startswith(
        '[{"question": "Is it free?", "answer": "Yes, it is."}, {"question": "Since when?", "answer": "Since May."}'
    )


def test_a_list_under_a_heading_like_the_fields_name_gives_its_lines():
    schema = record(ingredients=array(STRING), steps=array(STRING))
    page = "# Soup\n\n## Ingredients\n- 2 leeks\n- 1 onion\n\n## Method\n- Cut them.\n- Cook them.\n"
    assert items('{"ingredients": ', page, schema)[0] == '["2 leeks", "1 onion"], "steps": ["Cut them.", "Cook them."]}'


def test_an_unnamed_list_is_the_next_one_on_the_page():
    schema = record(name=STRING, points=array(STRING))
    page = "Lamp\n- bright\n- warm\n- cheap\n"
    assert items('{"name": "Lamp", "points": ', page, schema)[0] == '["bright", "warm", "cheap"]}'


def test_a_list_does_not_run_on_over_a_heading():
    schema = record(points=array(STRING))
    page = "## Points\n- bright\n- warm\n\n## Others\n- cold\n"
    assert items('{"points": ["bright"', page, schema)[0] == ', "warm"]}'


def test_a_list_within_a_line_is_cut_at_its_marks():
    schema = record(colours=array(STRING), name=STRING)
    page = "Colours: red, dark green and blue.\n"
    assert items('{"colours": ["red"', page, schema)[0].startswith(', "dark green", "blue"], "name": "')


def test_cells_of_a_row_may_be_one_string():
    schema = record(hours=array(STRING))
    page = "## Opening hours\nMonday | 9 to 5\nTuesday | 9 to 7\nFriday | 9 to 4\n"
    assert items('{"hours": ["Monday 9 to 5"', page, schema)[0] == ', "Tuesday 9 to 7", "Friday 9 to 4"]}'


def test_outside_arrays_and_without_a_page_there_is_nothing_to_say():
    assert items('{"invoice_number": ') == []
    assert items(HEAD + '"lines": ', page="") == []


def test_a_hundred_rows_stay_fast_and_right():
    schema = record(rows=array(record(name=STRING, price=NUMBER)))
    names = [f"Part {chr(65 + i // 10)}{i % 10}" for i in range(100)]
    page = "\n".join(f"{name} | {i}.25" for i, name in enumerate(names))
    written = ", ".join(f'{{"name": "{name}", "price": {i}.25}}' for i, name in enumerate(names[:60]))
    found = items('{"rows": [' + written, page, schema)[0]
    assert found.startswith(f', {{"name": "{names[60]}", "price": 60.25}}, {{"name": "{names[61]}", "price": 61.25}}')
