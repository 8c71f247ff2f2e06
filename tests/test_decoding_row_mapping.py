"""Which row gave which item, and which cell which field."""

from __future__ import annotations

from source_bench import INVOICE, INVOICE_PAGE, NUMBER, STRING, array, optional, record

from lookstruct.decoding.guessing.items import Items
from lookstruct.decoding.guessing.page_text import PageText
from lookstruct.decoding.guessing.progress import Progress
from lookstruct.decoding.guessing.skeleton import Skeleton
from lookstruct.decoding.request import Hints


def items(schema: dict, page: str, text: str) -> Items:
    shown = PageText(page)
    progress = Progress(Hints(), shown)
    progress.update(text.encode())
    return Items(Hints(), shown, Skeleton(schema), progress)


def test_equal_cells_go_to_different_fields():
    written = (
        '{"lines": [{"description": "Brand workshop, half day", "quantity": 1, "unit_price": 950.00, "total": 950.00}'
    )
    mapping = items(INVOICE, INVOICE_PAGE, written).mapping(("lines",))[0]
    assert {rel[0]: column.atom for rel, column in mapping.columns.items()} == {
        **{"description": 0, "quantity": 1, "unit_price": 2, "total": 3}
    }


def test_columns_without_a_like_header_are_filled_in_order():
    mapping, kind = items(INVOICE, INVOICE_PAGE, "{").mapping(("lines",))
    assert kind == "header"
    assert mapping.columns["total",].atom == 3  # "Amount" is not "total", but it is the number that is left


def test_a_second_item_settles_what_one_left_open():
    schema = record(rows=array(record(a=NUMBER, b=NUMBER)))
    page = "x | 5 | 5\ny | 6 | 7\nz | 8 | 9"
    known = items(schema, page, '{"rows": [{"a": 5, "b": 5}, {"a": 7, "b": 6}')
    rows = known.rows(("rows",), 2)
    assert [known.value(rows[0], (name,)) for name in ("a", "b")] == [b"9", b"8"]


def test_a_missing_cell_of_an_optional_field_is_null():
    schema = record(rows=array(record(name=STRING, price=optional(NUMBER))))
    known = items(schema, "Nut | 1.50\nBolt | free\nScrew | 2.50", '{"rows": [{"name": "Nut", "price": 1.50}')
    row = known.rows(("rows",), 1)[0]
    assert known.value(row, ("name",)) == b'"Bolt"'
    assert known.value(row, ("price",)) == b"null"


def test_rows_end_at_lines_of_another_shape():
    schema = record(rows=array(record(name=STRING, price=NUMBER)))
    known = items(schema, "Nut | 1.50\nBolt | 2.50\nThe end", '{"rows": [{"name": "Nut", "price": 1.50}')
    first = known.rows(("rows",), 1)[0]
    assert known.after(first) is None


def test_nothing_is_learnt_from_values_that_are_not_on_the_page():
    schema = record(rows=array(record(name=STRING)))
    known = items(schema, "Nut | 1.50", '{"rows": [{"name": "Chair"}, {"name": "Table"}')
    assert known.rows(("rows",), 2) == []
