"""Tables -> rows that read on their own, cells with their headers."""

from __future__ import annotations

import pytest

from lookstruct.extractors.clean import clean
from lookstruct.schemas.document import BlockKind, Document, Page


def read(html: str) -> Document:
    return clean(Page("", "https://a.example/", html))


def rows(html: str) -> list[str]:
    document = read(html)
    return [block.span.of(document.text) for block in document.blocks if block.kind is BlockKind.TABLE_ROW]


def cells(html: str) -> list[list[tuple[str, str | None]]]:
    document = read(html)
    blocks = [block for block in document.blocks if block.kind is BlockKind.TABLE_ROW]
    return [[(cell.span.of(document.text), cell.header) for cell in block.cells] for block in blocks]


def test_each_cell_carries_the_header_of_its_column() -> None:
    assert cells("<table><thead><tr><th>Item<th>Price<tbody><tr><td>Pen<td>1.20<tr><td>Ink<td>3</table>") == [
        [("Item", None), ("Price", None)],
        [("Pen", "Item"), ("1.20", "Price")],
        [("Ink", "Item"), ("3", "Price")],
    ]


@pytest.mark.parametrize(
    "html",
    [
        "<tr><th>a<th>b<tr><td>1<td>2<tr><td>3<td>4",
        "<thead><tr><td>a<td>b<tbody><tr><td>1<td>2<tr><td>3<td>4",
        "<tr><td>a<td>b<tr><td>1<td>2<tr><td>3<td>4",
        "<tr><td><b>a</b><td><b>b</b><tr><td>one<td>two<tr><td>three<td>four",
    ],
)
def test_headers_come_from_th_or_thead_or_a_first_row_of_names(html: str) -> None:
    assert [header for _, header in cells(f"<table>{html}</table>")[1]] == ["a", "b"]


@pytest.mark.parametrize(
    "html",
    [
        "<tr><td>Name<td>Ann<tr><td>Age<td>31<tr><td>City<td>Bonn",
        "<tr><td>a<td>b<tr><td>c<td>d<tr><td>e<td>f",
        "<tr><td>1<td>2<tr><td>3<td>4<tr><td>5<td>6",
        "<tr><td><b>k</b><td><b>v</b><tr><td><b>l</b><td>w<tr><td><b>m</b><td>x",
        "<tr><td>a<td>b<tr><td>1<td>2",
    ],
)
def test_a_first_row_of_data_is_not_taken_for_headers(html: str) -> None:
    assert all(header is None for row in cells(f"<table>{html}</table>") for _, header in row)


def test_a_cell_that_names_its_row_is_followed_by_a_colon() -> None:
    html = "<table><tr><th>Net<td>12<tr><th>Gross:<td>14<td>EUR<tr><td>Tax:<td>2</table>"
    assert rows(html) == ["Net: 12", "Gross: 14 | EUR", "Tax: 2"]
    assert cells(html)[:2] == [[("Net", None), ("12", "Net")], [("Gross:", None), ("14", "Gross"), ("EUR", "Gross")]]


def test_column_headers_come_before_row_headers() -> None:
    html = "<table><tr><td><th>Jan<th>Feb<tr><th>Ann<td>1<td>2<tr><th>Bob<td>3<td>4</table>"
    assert rows(html)[1:] == ["Ann: 1 | 2", "Bob: 3 | 4"]


def test_rowspans_are_repeated_and_colspans_hold_their_columns() -> None:
    html = (
        "<table><tr><th>Kind<th>Name<th colspan=2>Price<tr><td rowspan=2>Fruit<td>Fig<td>1<td>EUR"
        "<tr><td>Pear<td>2<td>EUR<tr><td colspan=2>Sum<td>3<td>EUR</table>"
    )
    assert cells(html) == [
        [("Kind", None), ("Name", None), ("Price", None)],
        [("Fruit", "Kind"), ("Fig", "Name"), ("1", "Price"), ("EUR", "Price")],
        [("Fruit", "Kind"), ("Pear", "Name"), ("2", "Price"), ("EUR", "Price")],
        [("Sum", "Kind"), ("3", "Price"), ("EUR", "Price")],
    ]


def test_two_rows_of_headers_are_joined() -> None:
    html = (
        "<table><thead><tr><th rowspan=2>Item<th colspan=2>Price<tr><th>net<th>gross"
        "<tbody><tr><td>Pen<td>1<td>2</table>"
    )
    assert cells(html)[2] == [("Pen", "Item"), ("1", "Price net"), ("2", "Price gross")]


def test_a_new_row_of_headers_replaces_the_old_ones() -> None:
    html = "<table><tr><th>a<th>b<tr><td>1<td>2<tr><th>c<th>d<tr><td>3<td>4</table>"
    assert cells(html)[3] == [("3", "c"), ("4", "d")]


def test_empty_cells_keep_their_place() -> None:
    html = "<table><tr><th>a<th>b<th>c<tr><td>1<td><td>3<tr><td><td>2<td><tr><td><td><td></table>"
    assert rows(html) == ["a | b | c", "1 | | 3", "| 2"]
    assert cells(html)[2] == [("", "a"), ("2", "b"), ("", "c")]


def test_nothing_in_a_cell_is_lost_or_doubled() -> None:
    html = (
        "<table><tr><th>What<th>How<tr><td><b>Bold</b> <i>slanted</i><td><ul><li>one<li><a href=x>two</a></ul>"
        "<tr><td>x<br>y<td><table><tr><td>p<td>q<tr><td>r<td>s</table></table>"
    )
    assert rows(html) == ["What | How", "Bold slanted | one; two", "x; y | p, q; r, s"]


def test_a_linked_table_keeps_its_rows_and_its_links() -> None:
    document = read("<a href=/t><table><tr><td>a<td>1<tr><td>b<td>2</table></a>")
    assert document.text == "a | 1\nb | 2"
    assert {link.href for link in document.links} <= {"https://a.example/t"}


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("<table role=presentation><tr><td>a<td>b</table>", ["a", "b"]),
        ("<table><tr><td>a<tr><td>b</table>", ["a", "b"]),
        ("<table><tr><td><h2>a</h2><td>b</table>", ["a", "b"]),
        ("<table><tr><td>menu<td><table><tr><th>k<td>v</table></table>", ["menu", "k: v"]),
        ("<table><caption>c<tr><td>a<td>b</table>", ["c", "a | b"]),
        ("<table><tr><td>Total<td>12</table>", ["Total | 12"]),
        ("<table><tr><th>List<tr><td>a<tr><td>b</table>", ["List", "a", "b"]),
    ],
)
def test_layout_tables_read_as_places_and_data_tables_as_rows(html: str, lines: list[str]) -> None:
    assert read(html).text.split("\n") == lines


def test_rows_know_their_table() -> None:
    document = read("<table><tr><td>a<td>b</table><p>x</p><table><tr><td>c<td>d<tr><td>e<td>f</table>")
    assert [block.table for block in document.blocks] == [0, None, 1, 1]


def test_aria_tables_are_tables() -> None:
    html = (
        "<div role=table><div role=row><span role=columnheader>a</span><span role=columnheader>b</span></div>"
        "<div role=row><span role=cell>1</span><span role=cell>2</span></div></div>"
    )
    assert cells(html) == [[("a", None), ("b", None)], [("1", "a"), ("2", "b")]]


def test_hidden_cells_are_left_out() -> None:
    assert rows("<table><tr><td>a<td hidden>b<td>c</table>") == ["a | c"]


def test_a_colspan_or_rowspan_of_nonsense_counts_as_one() -> None:
    assert rows("<table><tr><td colspan=-1>a<td rowspan=x>b<tr><td>c<td colspan=''>d</table>") == ["a | b", "c | d"]


def test_rowspan_zero_reaches_to_the_end() -> None:
    assert rows("<table><tr><td rowspan=0>a<td>1<tr><td>2<tr><td>3</table>") == ["a | 1", "a | 2", "a | 3"]


def test_spans_cannot_blow_a_page_up() -> None:
    wide = "<td rowspan=60000>" + "x" * 100
    html = "<table><tr>" + wide * 200 + "<tr><td>y" * 5000 + "</table>"
    assert len(read(html).text) < 4 * len(html)
