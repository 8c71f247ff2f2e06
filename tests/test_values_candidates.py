"""What a page offers as values: in normal form, with offsets, and with the text that names each."""

from __future__ import annotations

import time

import pytest

from lookstruct.decoding.request import Candidate
from lookstruct.extractors.clean import clean
from lookstruct.pipeline.values.candidates import find_candidates
from lookstruct.pipeline.values.contacts import find_addresses, find_phones
from lookstruct.pipeline.values.labels import Labels
from lookstruct.schemas.document import Block, BlockKind, Document, Page, Span


def page(body: str, lang: str = "en", url: str = "https://shop.example/x/") -> Document:
    return clean(Page(url, url, f"<html lang='{lang}'><body>{body}</body></html>"))


def of_kind(body: str, kind: str, lang: str = "en") -> list[tuple[str, str]]:
    return [(found.text, found.label) for found in find_candidates(page(body, lang)) if found.kind == kind]


TABLE = (
    "<table><tr><th>Item</th><th>Qty</th><th>Price</th></tr>"
    "<tr><td>Pen</td><td>2</td><td>1.234,50 €</td></tr><tr><td>Sum</td><td colspan=2>2.469,00 €</td></tr></table>"
)


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        ("<p>Total due: 12.50</p>", "number", ("12.50", "Total due")),
        ("<p>Total due £12.50</p>", "price", ("12.50", "Total due")),
        ("<p>£265,000 Offers over</p>", "price", ("265000", "Offers over")),
        ("<h2>Opening day</h2><p>21 August 2024</p>", "date", ("2024-08-21", "Opening day")),
        ("<dl><dt>Cook time</dt><dd>1 hr 20 min</dd></dl>", "duration", ("PT1H20M", "Cook time")),
        ("<p>Tel.: 555-123-4567</p>", "phone", ("555-123-4567", "Tel")),
        ("<p>Write to a@b.example now</p>", "email", ("a@b.example", "Write to")),
        ("<p><a href='../y?z=1#w'>Manual</a></p>", "url", ("https://shop.example/y?z=1#w", "Manual")),
        ("<p><a href='mailto:a@b.example?subject=x'>Mail us</a></p>", "email", ("a@b.example", "Mail us")),
        ("<h1>Blue lamp</h1>", "heading", ("Blue lamp", "")),
        ("<h2>Ingredients</h2><ul><li>[ ] 2 eggs</li></ul>", "line", ("2 eggs", "Ingredients")),
        ("<p>2 bedrooms 1 bathroom</p>", "number", ("2", "bedrooms")),
        ("<p>Seats: −5</p>", "number", ("-5", "Seats")),
    ],
)
def test_a_value_comes_in_normal_form_with_the_text_that_names_it(
    body: str, kind: str, expected: tuple[str, str]
) -> None:
    assert expected in of_kind(body, kind)


def test_a_second_value_in_a_line_is_not_named_by_the_first() -> None:
    assert of_kind("<p>2 bedrooms 1 bathroom · 3 floors</p>", "number") == [
        ("2", "bedrooms"),
        ("1", "bathroom"),
        ("3", "floors"),
    ]


def test_a_cell_is_named_by_its_column_and_a_sum_by_its_row() -> None:
    assert of_kind(TABLE, "price", "de") == [("1234.50", "Price"), ("2469.00", "Sum")]


def test_a_row_is_offered_cell_by_cell_and_never_whole() -> None:
    cells = [text for text, _ in of_kind(TABLE, "cell", "de")]
    assert cells == ["Item", "Qty", "Price", "Pen", "2", "1.234,50 €", "Sum", "2.469,00 €"]
    assert of_kind(TABLE, "line", "de") == []


def test_an_ambiguous_date_is_offered_in_both_readings_the_likelier_first() -> None:
    assert of_kind("<p>Due: 03/04/2025</p>", "date", "en-GB") == [("2025-04-03", "Due"), ("2025-03-04", "Due")]


def test_a_date_settled_by_its_siblings_is_offered_once() -> None:
    assert [text for text, _ in of_kind("<p>03/04/2025</p><p>25/04/2025</p>", "date", "en-US")] == [
        "2025-04-03",
        "2025-04-25",
    ]


def test_an_ambiguous_number_is_offered_in_both_readings() -> None:
    assert [text for text, _ in of_kind("<p>Cost: 1.226 €</p>", "price", "en")] == ["1226", "1.226"]


def test_navigation_offers_links_but_no_lines() -> None:
    body = "<nav><ul><li><a href='/a'>Lamps</a></li><li><a href='/b'>Desks</a></li></ul></nav><main><p>Text</p></main>"
    assert of_kind(body, "line") == [("Text", "")]
    assert ("https://shop.example/a", "Lamps") in of_kind(body, "url")


def test_candidates_come_in_page_order_and_the_same_every_time() -> None:
    document = page(TABLE + "<p>Total: 5 on 1 May 2024, call 555-123-4567</p>")
    found = find_candidates(document)
    assert [candidate.start for candidate in found] == sorted(candidate.start for candidate in found)
    assert found == find_candidates(document)


def test_an_offset_points_at_the_value_in_the_documents_text() -> None:
    document = page("<p>🏮 e\u0301: 21 août 2024</p>", "fr")
    (found,) = (candidate for candidate in find_candidates(document) if candidate.kind == "date")
    assert document.text[found.start :].startswith("21 août")


def test_a_page_without_blocks_still_gives_its_values() -> None:
    assert find_candidates(Document("", "5 on", ())) == (Candidate("5", "number", 0, ""),)


def test_labels_go_from_the_nearest_to_the_heading_above() -> None:
    document = page("<h2>Fees</h2><p>Deposit: from £50</p>")
    at = document.text.index("50")
    assert Labels(document).of(Span(at, at + 2)) == ("from", "Deposit", "Fees")


def test_a_value_above_its_label_in_a_box_of_their_own_is_named_by_it() -> None:
    boxes = "".join(f"<div><div>{n} min</div><div>{name}</div></div>" for n, name in ((40, "Work"), (45, "Baking")))
    document = clean(Page("https://a.example/", "https://a.example/", f"<h1>Pie</h1>{boxes}<p>Total</p><p>85 min</p>"))
    labels, text = Labels(document), document.text
    found = [labels.of(Span(text.index(one), text.index(one) + 6))[0] for one in ("40 min", "45 min", "85 min")]
    assert found == ["Work", "Baking", "Total"]


def test_of_three_lines_in_a_box_the_one_above_names_the_value() -> None:
    document = page("<div><p>Work</p><p>40 min</p><p>Baking</p></div>")
    at = document.text.index("40 min")
    assert Labels(document).of(Span(at, at + 6))[0] == "Work"


def test_a_large_page_takes_a_moment() -> None:
    line = "Order 4711 of 21 August 2024: 3 lamps at 1.234,50 € and 2 at 7 € in 45 minutes, see a@b.example | "
    lines = [line] * 1000
    text = "\n".join(lines)
    starts = range(0, len(text), len(line) + 1)
    blocks = tuple(Block(BlockKind.PARAGRAPH, Span(start, start + len(line)), "p") for start in starts)
    document = Document("https://x.example", text, blocks, lang="de")
    find_candidates(document)
    start_s = time.process_time()
    assert len(find_candidates(document)) > 8000
    assert time.process_time() - start_s < 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mail a.b+c@sub.example.co.uk.", ["a.b+c@sub.example.co.uk"]),
        ("(https://example.com/a_(b)?x=1).", ["https://example.com/a_(b)?x=1"]),
        ("siehe www.example.com, danke", ["www.example.com"]),
        ("https://example.com/a@b", ["https://example.com/a@b"]),
        ("info@exämple.de", ["info@exämple.de"]),
        ("a@b, @name, x@", []),
    ],
)
def test_addresses_end_where_the_sentence_goes_on(text: str, found: list[str]) -> None:
    assert [contact.value for contact in find_addresses(text)] == found


@pytest.mark.parametrize(
    "text", ["+49 30 123456", "(030) 123 456-78", "030/1234567", "555-123-4567", "01 23 45 67 89", "٠٥٠ ١٢٣ ٤٥٦٧"]
)
def test_phones_are_known_by_how_they_are_dialled(text: str) -> None:
    assert [contact.value for contact in find_phones(text)] == [text]


@pytest.mark.parametrize(
    "text",
    ["1 234 567", "1,234,567", "12.50 100.00", "192.168.100.100", "978-3-16-148410-0", "DE89 3704 0044 0532"],
)
def test_other_rows_of_digits_are_no_phones(text: str) -> None:
    assert find_phones(text) == ()


def test_a_date_that_begins_with_a_zero_is_no_phone() -> None:
    assert of_kind("<p>From 01/02/2024 to 03-05-2024</p>", "phone", "en-GB") == []


@pytest.mark.parametrize("unit", ["a@", "a.", "www.", "http://", "1-", "(1", "@", "x@a.", ") ", "http://)))"])
def test_hostile_addresses_take_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    start = time.process_time()
    find_addresses(text)
    find_phones(text)
    assert time.process_time() - start < 2
