"""Every value of a record gets the place it was read from: right form, right occurrence, right offsets."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.grounding.align import ground
from lookstruct.schemas.document import Block, BlockKind, Document, Page, Span
from lookstruct.schemas.loader import load_schema
from lookstruct.schemas.record import Evidence, EvidenceStatus

EXACT, NORMALISED, DERIVED, NONE = EvidenceStatus


def page(body: str, lang: str = "en", url: str = "https://shop.example/x") -> Document:
    return clean(Page(url, url, f"<html lang='{lang}'><body>{body}</body></html>"))


def one(body: str, value: Any, *, lang: str = "en", name: str = "value", **schema: Any) -> Evidence:
    return ground(page(body, lang), {name: value}, {"properties": {name: schema}})[f"/{name}"]


def shown(evidence: Evidence) -> tuple[str, str | None]:
    return evidence.status.value, evidence.text


def line_of(document: Document, evidence: Evidence) -> str:
    assert evidence.span is not None
    block = document.block_at(evidence.span.start)
    assert block is not None
    assert block.dom_path == evidence.dom_path
    return block.span.of(document.text)


# What a value looks like on the page.


@pytest.mark.parametrize(
    ("body", "value", "expected"),
    [
        ("Cost: 1.234,56 €", 1234.56, ("normalised", "1.234,56")),
        ("Cost: 1234.50", 1234.5, ("exact", "1234.50")),
        ("42 seats", 42, ("exact", "42")),
        ("42 seats", "42", ("exact", "42")),
        ("In 2012 there were 12 seats", 12, ("exact", "12")),
        ("In 2012 nobody came", 12, ("none", None)),
        ("Founded on 28.11.2012", 2012, ("exact", "2012")),
        ("−5,00 €", -5, ("normalised", "−5,00")),
        ("12 % off", 0.12, ("normalised", "12 %")),
        ("12 % off", 12, ("normalised", "12 %")),
        ("$1.2 million", 1200000, ("normalised", "1.2 million")),
        ("١٢٣ مقعداً", 123, ("normalised", "١٢٣")),
        ("Price on request", 12.5, ("none", None)),
    ],
)
def test_a_number_is_found_by_its_value(body: str, value: Any, expected: tuple[str, str | None]) -> None:
    assert shown(one(body, value, lang="de")) == expected


@pytest.mark.parametrize(
    ("body", "lang", "value", "expected"),
    [
        ("Date: 2022-11-28", "de", "2022-11-28", ("exact", "2022-11-28")),
        ("Datum: 28.11.2022", "de", "2022-11-28", ("normalised", "28.11.2022")),
        ("on 21 August 2024", "en", "2024-08-21", ("normalised", "21 August 2024")),
        ("2024年8月21日", "ja", "2024-08-21", ("normalised", "2024年8月21日")),
        ("21/08/2024 10:30", "fr", "2024-08-21T10:30:00", ("normalised", "21/08/2024 10:30")),
        ("21/08/2024 10:30", "fr", "2024-08-21", ("normalised", "21/08/2024")),
        ("Doors 8:30 pm", "en", "20:30:00", ("normalised", "8:30 pm")),
        ("21 August 2024", "en", "2024-08-22", ("none", None)),
    ],
)
def test_a_date_is_found_by_its_value(body: str, lang: str, value: str, expected: tuple[str, str | None]) -> None:
    assert shown(one(body, value, lang=lang, format="date")) == expected


def test_an_ambiguous_date_is_flagged_whichever_reading_the_record_has() -> None:
    likelier, other = (one("Due 03/04/2025", value, lang="en-US") for value in ("2025-03-04", "2025-04-03"))
    assert (likelier.flags, other.flags) == (("ambiguous-date",), ("ambiguous-date", "other-reading"))


def test_an_ambiguous_number_is_flagged_whichever_reading_the_record_has() -> None:
    likelier, other = (one("Cost 1.226 €", value, lang="en") for value in (1226, 1.226))
    assert (likelier.flags, other.flags) == (("ambiguous-number",), ("ambiguous-number",))


@pytest.mark.parametrize(
    ("body", "value", "expected"),
    [
        ("Cook: 1 hr 30 min", "PT1H30M", ("normalised", "1 hr 30 min")),
        ("Cook: 90 minutes", "PT1H30M", ("normalised", "90 minutes")),
        ("Cook: 90 minutes", "PT90M", ("normalised", "90 minutes")),
        ("Cook: PT1H30M", "PT1H30M", ("exact", "PT1H30M")),
        ("Cook: 20 minutes", "PT1H30M", ("none", None)),
    ],
)
def test_a_duration_is_found_by_its_length(body: str, value: str, expected: tuple[str, str | None]) -> None:
    assert shown(one(body, value)) == expected


def test_minutes_as_a_number_stand_in_a_duration() -> None:
    assert shown(one("Total: 1 hr 30 min", 90, name="total_time")) == ("normalised", "1 hr 30 min")


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("https://shop.example/docs", NORMALISED),
        ("https://shop.example/docs/", NORMALISED),
        ("/docs", NORMALISED),
        ("https://shop.example/other", NONE),
        ("https://shop.example/x", DERIVED),
    ],
)
def test_a_web_address_is_found_among_the_links(value: str, status: EvidenceStatus) -> None:
    found = one("<p>Read <a href='/docs'>the manual</a></p>", value, format="uri")
    assert (found.status, found.text) == (status, "the manual" if status is NORMALISED else None)


def test_an_address_behind_a_link_is_found() -> None:
    assert shown(one("<a href='mailto:a@b.example?subject=x'>Write</a>", "a@b.example")) == ("normalised", "Write")


def test_a_phone_number_is_found_by_its_digits() -> None:
    assert shown(one("Call (030) 123 456-78", "+030 12345678".replace("+", ""))) == ("normalised", "(030) 123 456-78")


def test_a_currency_is_read_off_the_sign_beside_its_amount() -> None:
    document = page("<p>Shipping: $5</p><p>Price: €68,50</p>")
    found = ground(document, {"price": {"amount": 68.5, "currency": "EUR"}})
    assert [shown(evidence) for evidence in found.values()] == [("normalised", "68,50"), ("normalised", "€")]


def test_a_currency_stands_beside_the_amount_of_the_record() -> None:
    document = page("<p>18,50 € 17,58 € (-5%)</p>", "it")
    found = ground(document, {"price": 17.58, "price_currency": "EUR"})["/price_currency"]
    assert found.span == Span(14, 15)


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_derived(value: bool) -> None:
    assert one("true false", value).status is DERIVED


@pytest.mark.parametrize("value", [None, ""])
def test_what_is_absent_stands_nowhere(value: Any) -> None:
    assert one("None null", value).status is NONE


def test_a_member_of_an_enum_is_derived_unless_the_page_shows_it_plainly() -> None:
    members = {"enum": ["new", "used"]}
    assert one("Our new arrivals are here", "new", name="condition", **members).status is DERIVED
    assert shown(one("<p>Condition: New</p>", "new", name="condition", **members)) == ("normalised", "New")


def test_a_member_written_in_one_word_is_found_as_several() -> None:
    assert shown(one("<p>Full-time, permanent</p>", "FULL_TIME", name="employment_type", enum=["FULL_TIME"]))[0] in (
        "normalised",
        "derived",
    )
    assert shown(one("<p>In stock</p>", "InStock", name="availability", enum=["InStock"])) == ("normalised", "In stock")


def test_a_computed_value_is_derived() -> None:
    assert one("<p>a b c</p>", 3, **{"x-source": "computed"}).status is DERIVED


# Text: exact or not, over lines, in every script.


def test_text_is_exact_up_to_white_space_and_normalised_beyond() -> None:
    body = "<p>Harrow\u00a0&amp;  Finch “Ltd”</p>"
    assert one(body, "Harrow & Finch “Ltd”").status is EXACT
    assert one(body, 'Harrow & Finch "Ltd"').status is NORMALISED
    assert one(body, "HARROW & FINCH “LTD”").status is NORMALISED


def test_an_address_over_several_lines_is_found_across_blocks() -> None:
    document = page("<address>Unit 4, Paintworks Yard<br>Bristol BS4 3EH<br>United Kingdom</address>")
    found = ground(document, {"address": "Unit 4, Paintworks Yard, Bristol BS4 3EH, United Kingdom"})["/address"]
    assert (found.status, found.span) == (NORMALISED, Span(0, len(document.text)))
    assert ground(document, {"a": "Paintworks Yard Bristol BS4 3EH"})["/a"].status is EXACT


def test_a_long_value_with_a_small_difference_has_no_wrong_span() -> None:
    text = "Roast for 35 minutes, turning once, until the edges are dark."
    assert one(f"<p>{text}</p>", text.replace("35", "53")).status is NONE
    assert one(f"<p>{text}</p>", text.replace("dark", "dark and crisp")).status is NONE
    assert shown(one(f"<p>{text}</p>", text.replace(",", ""))) == ("normalised", text)


@pytest.mark.parametrize(
    "name",
    [
        "麺処 かつら川", "桂 弘明", "Café Brûlé", "Zoé Lefèvre-Oñate", "Łódź", "Kaŝtano 👩‍🍳 & Ĉerizo", "مطبخ الزَّيْتون",
        "नुही राठौड़", "Đặng Thị Ngọc", "한국어", "ราเมน", "עַגְבָנִיָּה", "👍🏽", "Ｗｉｄｅ",
    ],
)  # fmt: skip
def test_names_in_any_script_have_exact_spans(name: str) -> None:
    document = page(
        f"<h1>🏮 e\u0301</h1><table><tr><td>{name.replace('&', '&amp;')}</td><td>x</td></tr></table>", "mul"
    )
    found = ground(document, {"name": name})["/name"]
    assert shown(found) == ("exact", name)


# Which of several places.

ROWS = "".join(
    f"<tr><td>{n}</td><td>{q}</td><td>{p}</td></tr>" for n, q, p in [("Pen", 2, 2), ("Ink", 1, 7), ("Pen", 2, 9)]
)
TABLE = f"<table><tr><th>Item</th><th>Quantity</th><th>Price</th></tr>{ROWS}</table>"


def test_values_of_one_item_come_from_one_row() -> None:
    document = page(f"<p>Ink and Pen, 7 of them, 2 each, 1 box</p>{TABLE}")
    data = {
        "items": [{"item": n, "quantity": q, "price": p} for n, q, p in [("Pen", 2, 2), ("Ink", 1, 7), ("Pen", 2, 9)]]
    }
    found = ground(document, data)
    for number, row in enumerate(["Pen | 2 | 2", "Ink | 1 | 7", "Pen | 2 | 9"]):
        assert {line_of(document, found[f"/items/{number}/{name}"]) for name in data["items"][0]} == {row}


def test_equal_values_in_one_row_go_to_the_columns_that_are_named_like_them() -> None:
    document = page(TABLE)
    found = ground(document, {"items": [{"item": "Pen", "price": 2, "quantity": 2}]})
    quantity, price = found["/items/0/quantity"].span, found["/items/0/price"].span
    assert quantity is not None
    assert price is not None
    assert quantity.start < price.start


def test_equal_rows_are_told_apart_by_their_order() -> None:
    document = page("<table><tr><td>Tea</td><td>3</td></tr><tr><td>Tea</td><td>3</td></tr></table>")
    found = ground(document, {"rows": [{"name": "Tea", "n": 3}, {"name": "Tea", "n": 3}]})
    spans = [evidence.span for evidence in found.values()]
    assert len(set(spans)) == 4
    assert spans == sorted(spans, key=lambda span: span.start if span else 0)


def test_a_long_table_of_small_numbers_stays_aligned() -> None:
    rows = [{"place": f"Place {n}", "zone": n % 3, "lifts": n % 2} for n in range(200)]
    body = "".join("<tr>" + "".join(f"<td>{value}</td>" for value in row.values()) + "</tr>" for row in rows)
    document = page(f"<table><tr><th>Place</th><th>Zone</th><th>Lifts</th></tr>{body}</table>")
    found = ground(document, {"rows": rows})
    for number in range(len(rows)):
        assert len({line_of(document, found[f"/rows/{number}/{name}"]) for name in ("place", "zone", "lifts")}) == 1


def test_cards_keep_their_values_together() -> None:
    cards = [("Ash", 40, "Oak town"), ("Elm", 40, "Elm"), ("Yew", 50, "Oak town")]
    body = "".join(f"<div><h3>{n}</h3><p>Room {k}</p><p>£{p}</p><p>{c}</p></div>" for k, (n, p, c) in enumerate(cards))
    document = page(body)
    found = ground(document, {"rooms": [{"name": n, "price": p, "city": c} for n, p, c in cards]})
    for number in range(3):
        path = f"div:nth-of-type({number + 1})"
        assert all(path in (found[f"/rooms/{number}/{name}"].dom_path or "") for name in ("name", "price", "city"))


def test_a_field_takes_the_place_whose_label_is_like_its_name() -> None:
    page_lines = ["Subtotal: 950.00", "Shipping: 0.00", "Total due: 950.00", "Issued: 5 May 2024", "Due: 5 May 2024"]
    document = page("".join(f"<p>{line}</p>" for line in page_lines))
    found = ground(document, {"total": 950.0, "subtotal": 950.0, "due_date": "2024-05-05", "issue_date": "2024-05-05"})
    lines = [line_of(document, evidence) for evidence in found.values()]
    assert lines == ["Total due: 950.00", "Subtotal: 950.00", "Due: 5 May 2024", "Issued: 5 May 2024"]


def test_a_repeated_name_takes_the_block_under_its_heading() -> None:
    document = page("<p>Pay Acme Ltd soon.</p><h2>Bill to</h2><p>Acme Ltd</p><h2>From</h2><p>Bolt Ltd</p>")
    found = ground(document, {"buyer_name": "Acme Ltd", "seller_name": "Bolt Ltd"})
    assert line_of(document, found["/buyer_name"]) == "Acme Ltd"


def test_list_items_are_found_in_the_list_and_not_in_the_text_before_it() -> None:
    items = ["salt", "olive oil", "2 eggs"]
    body = (
        "<p>You need salt, olive oil and more salt.</p><ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"
    )
    document = page(body)
    found = ground(document, {"ingredients": items})
    assert [line_of(document, evidence) for evidence in found.values()] == items


def test_navigation_is_the_last_place_to_be_believed() -> None:
    document = page(
        "<nav><a href='/'>Blue Lamp</a> <a href='/a'>Other</a></nav><main><p>The Blue Lamp is here.</p></main>"
    )
    found = ground(document, {"name": "Blue Lamp"})["/name"]
    assert line_of(document, found) == "The Blue Lamp is here."


def test_evidence_is_the_same_every_time() -> None:
    document = page(TABLE)
    data = {"items": [{"item": "Pen", "price": 2}], "n": 2}
    assert ground(document, data) == ground(document, data)


def test_every_leaf_of_a_built_in_schema_gets_evidence() -> None:
    schema = load_schema("Invoice").grammar_schema
    document = page("<p>Invoice number: A-1</p><p>Total: £5.00</p>", "en-GB")
    data = {
        "invoice_number": "A-1",
        "issue_date": None,
        "lines": [],
        "total": 5.0,
        "currency": "GBP",
        "tags": ["", None],
    }
    found = ground(document, data, schema)
    assert {pointer: evidence.status for pointer, evidence in found.items()} == {
        "/invoice_number": EXACT,
        "/issue_date": NONE,
        "/total": EXACT,
        "/currency": NORMALISED,
        "/tags/0": NONE,
        "/tags/1": NONE,
    }


def test_a_page_without_blocks_and_a_record_that_is_a_bare_value_work() -> None:
    assert ground(Document("", "It costs 5", ()), 5)[""].status is EXACT
    assert ground(Document("", "", ()), {"a": ["x", {"b": 1}]})["/a/1/b"].status is NONE


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text(max_size=20), max_size=6),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
        max_leaves=12,
    ),
)
def test_any_record_on_any_page_is_survived(lines: list[str], data: Any) -> None:
    text, blocks = "", []
    for line in lines:
        start = len(text)
        text += line + "\n"
        blocks.append(Block(BlockKind.PARAGRAPH, Span(start, start + len(line)), "p"))
    for evidence in ground(Document("u", text, tuple(blocks)), data).values():
        assert (evidence.span is None) == (evidence.status in (NONE, DERIVED))
        assert evidence.span is None or evidence.span.of(text) == evidence.text


SPELLINGS = (
    *("Müller", "café", "東京", "駅前", "Łódź", "שלום", "مرحبا", "naïve", "Ωmega", "e\u0301te\u0301"),
    *("👩\u200d👩\u200d👧", "O'Neill", "A-12", "100%", "№5", "½"),
)
WORDS = st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=4).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=8), st.integers(0, 7))
def test_a_line_copied_from_the_page_is_exact_and_stands_in_one_of_the_lines_that_read_so(
    lines: list[str], number: int
) -> None:
    document = page("".join(f"<p>{line}</p>" for line in lines))
    shown_lines = [block.span.of(document.text) for block in document.blocks]
    value = shown_lines[number % len(shown_lines)]
    evidence = ground(document, {"value": value})["/value"]
    assert evidence.status is EXACT
    assert evidence.span is not None
    assert evidence.span.of(document.text) == evidence.text == value
    assert value in line_of(document, evidence)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(WORDS, st.integers(1, 10**7)), min_size=1, max_size=8), st.sampled_from(["de", "en", "fr"]))
def test_rows_of_names_and_amounts_are_found_row_by_row_whatever_the_locale(
    rows: list[tuple[str, int]], lang: str
) -> None:
    def written(cents: int) -> str:
        text = f"{cents / 100:,.2f}"
        return {"en": text, "de": text.translate({44: 46, 46: 44}), "fr": text.translate({44: 8239, 46: 44})}[lang]

    cells = "".join(f"<tr><td>{name}<td>{written(cents)} €" for name, cents in rows)
    document = page(f"<table><tr><th>Name<th>Betrag</tr>{cells}</table>", lang)
    data = {"rows": [{"name": name, "amount": cents / 100} for name, cents in rows]}
    evidence = ground(document, data)
    for number, (_, cents) in enumerate(rows):
        name, amount = evidence[f"/rows/{number}/name"], evidence[f"/rows/{number}/amount"]
        assert amount.status in (EXACT, NORMALISED)
        assert (amount.text or "").split() == written(cents).split()
        assert name.dom_path is not None
    spans = [evidence[f"/rows/{n}/amount"].span for n in range(len(rows))]
    assert len(set(spans)) >= len({cents for _, cents in rows})


def test_a_large_record_on_a_large_page_takes_a_moment() -> None:
    rows = [{"name": "Tea", "zone": 1, "price": 2.5, "code": f"C{n}"} for n in range(500)]
    body = "".join("<tr>" + "".join(f"<td>{value}</td>" for value in row.values()) + "</tr>" for row in rows)
    document = page(f"<table>{body}</table>")
    start = time.process_time()
    ground(document, {"rows": rows})
    assert time.process_time() - start < 3
