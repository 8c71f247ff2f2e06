"""examples/pages and tests/pages: what the gold says is what the pages show, and sums, dates and halves are right."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lookstruct.extractors.clean import clean
from lookstruct.extractors.fetch import Fetcher
from lookstruct.pipeline.leaves import leaves
from lookstruct.schemas.document import Document, Page
from lookstruct.schemas.errors import EmptyPage
from lookstruct.schemas.loader import load_schema

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from bench.pages import FOLDER, PAGES, BenchPage  # noqa: E402

MATCHING = [page for page in PAGES if page.matches]
BY_NAME = {page.name: page for page in PAGES}
COMPLAINTS = sorted((ROOT / "tests" / "pages").glob("*.html"))

READ_OFF = {
    *("currency", "price_currency", "salary_currency", "salary_unit", "floor_size_unit"),
    *("availability", "employment_type", "offer", "event_status", "summary"),
}
"""Fields whose value is chosen or written by the reader; the page need not show it."""

NOT_AS_WRITTEN = {
    ("receipt", "/seller_address"): "stands over two lines",
    ("receipt_de", "/seller_address"): "stands over two lines",
    ("product_megamenu", "/price"): "the cents are a superscript without a point",
    ("event_list", "/events/*/date"): "day and month stand by the event, the year in the heading",
}
"""Gold that a reader finds on the page at once, although not in the form of the gold or in one piece."""

ENGLISH_MONTHS = [f"{date(2025, number, 1):%B}" for number in range(1, 13)]
MONTHS = (
    ENGLISH_MONTHS,
    [month[:3] for month in ENGLISH_MONTHS],
    [f"{month[:3]}." for month in ENGLISH_MONTHS],
    ["", "", "", "", "", "", "de julio de"],
    ["gennaio"],
    ["", "", "", "", "", "حزيران"],
)
"""Month names as the pages write them, January first; no further than a page needs."""


def names(pages: list[BenchPage] | tuple[BenchPage, ...]) -> Any:
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.name)


@cache
def document(name: str) -> Document:
    page = BY_NAME[name]
    return clean(Page(page.url, page.url, page.html()), include_hidden=page.include_hidden)


def flat(text: str) -> str:
    """Text without line breaks, cell marks and double spaces, with European digits."""
    text = text.translate(str.maketrans("٠١٢٣٤٥٦٧٨٩", "0123456789")).replace(" | ", " ")
    return " ".join(text.split())


def stands(form: str, text: str) -> bool:
    """Whether `form` stands in `text` and is no part of a longer number there."""
    return re.search(rf"(?<![\d]){re.escape(form)}(?!\d)", text) is not None


def number_forms(value: float) -> Iterator[str]:
    for n_decimals in range(4):
        if round(value, n_decimals) == value:
            english = f"{value:,.{n_decimals}f}"
            yield from (english, english.replace(",", ""), english.translate(str.maketrans(",.", ".,")))
            yield f"{value:.{n_decimals}f}".replace(".", ",")


def date_forms(day: date) -> Iterator[str]:
    for months in MONTHS:
        if day.month <= len(months) and months[day.month - 1]:
            month = months[day.month - 1]
            yield f"{day.day} {month} {day.year}"
            yield f"{month} {day.day}, {day.year}"
    yield from (f"{day:%d/%m/%Y}", f"{day:%m/%d/%Y}", f"{day:%d.%m.%Y}", day.isoformat())


def duration_forms(iso: str) -> Iterator[str]:
    found = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?", iso)
    assert found is not None
    hours, minutes = found[1], found[2]
    yield " ".join([f"{hours} hour"] * bool(hours) + [f"{minutes} minutes"] * bool(minutes))
    yield f"{hours} h {minutes}" if hours else f"{minutes} min"


def shown_forms(pointer: str, value: Any) -> Iterator[str]:
    """How the page may show a value of the gold."""
    field = pointer.rsplit("/", 1)[-1]
    if isinstance(value, float | int):
        yield from number_forms(value)
    elif field.endswith("_time") and value.startswith("PT"):
        yield from duration_forms(value)
    elif re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        yield from date_forms(date.fromisoformat(value))
    else:
        yield flat(value)


def values_to_find(page: BenchPage) -> Iterator[tuple[str, Any]]:
    for pointer, value in leaves(page.gold()):
        if value is None or isinstance(value, bool) or pointer.rsplit("/", 1)[-1] in READ_OFF:
            continue
        if (page.name, re.sub(r"/\d+", "/*", pointer)) not in NOT_AS_WRITTEN:
            yield pointer, value


def is_there(pointer: str, value: Any, doc: Document) -> bool:
    text = flat(doc.text)
    if isinstance(value, str) and value.startswith("https://"):
        return any(link.href == value for link in doc.links)
    return any(stands(form, text) for form in shown_forms(pointer, value))


# the registry


def test_every_page_and_every_gold_record_is_in_the_registry_once() -> None:
    assert sorted(page.path for page in PAGES) == sorted(FOLDER.glob("*.html"))
    assert sorted(page.gold_path for page in PAGES) == sorted((FOLDER / "gold").glob("*.json"))


def test_pages_of_one_template_are_in_one_half() -> None:
    pairs = Counter((page.template, page.half) for page in PAGES if page.template)
    assert set(pairs.values()) == {2}


def test_halves_are_alike_in_size_and_every_kind_with_two_layouts_is_in_both() -> None:
    halves = Counter(page.half for page in PAGES)
    assert abs(halves["tune"] - halves["test"]) <= 1
    layouts: dict[str, set[str]] = {}
    for page in PAGES:
        layouts.setdefault(page.schema, set()).add(page.template or page.name)
    for schema, names_ in layouts.items():
        if len(names_) > 1:
            assert {page.half for page in PAGES if page.schema == schema} == {"tune", "test"}, schema


@names(PAGES)
def test_page_declares_the_language_of_the_registry(page: BenchPage) -> None:
    lang = document(page.name).lang
    assert lang is not None
    assert lang.split("-")[0] == page.language


def test_an_unscored_pattern_covers_every_index_and_nothing_else() -> None:
    page = BY_NAME["receipt_de"]
    assert [pointer for pointer, _ in leaves(page.gold()) if not page.is_scored(pointer)] == [
        f"/items/{number}/quantity" for number in range(7)
    ]


# the gold


@names(MATCHING)
def test_gold_validates_and_is_the_plain_form_of_what_it_validates_to(page: BenchPage) -> None:
    schema = load_schema(page.schema)
    gold = page.gold()
    assert json.dumps(schema.dump(schema.validate(gold))) == json.dumps(gold)


def test_gold_of_a_page_that_matches_nothing_is_null_throughout() -> None:
    odd = [page for page in PAGES if not page.matches]
    assert [page.name for page in odd] == ["not_found"]
    for page in odd:
        gold = page.gold()
        assert list(gold) == list(load_schema(page.schema).grammar_schema["properties"])
        assert {json.dumps(value) for value in gold.values()} == {"null", "[]"}


def missing(page: BenchPage, doc: Document) -> dict[str, Any]:
    return {pointer: value for pointer, value in values_to_find(page) if not is_there(pointer, value, doc)}


@names([page for page in MATCHING if not page.needs_layout])
def test_gold_stands_on_the_page(page: BenchPage) -> None:
    assert missing(page, document(page.name)) == {}


@pytest.mark.browser
async def test_gold_stands_on_the_page_as_a_browser_shows_it() -> None:
    lost = {}
    async with Fetcher() as fetcher:
        for page in MATCHING:
            shown = await fetcher.fetch(str(page.path))
            lost[page.name] = missing(page, clean(shown, include_hidden=page.include_hidden))
    assert {name: values for name, values in lost.items() if values} == {}


@pytest.mark.parametrize(("name", "pattern"), NOT_AS_WRITTEN)
def test_an_exception_is_needed(name: str, pattern: str) -> None:
    found = [(p, v) for p, v in leaves(BY_NAME[name].gold()) if re.sub(r"/\d+", "/*", p) == pattern]
    assert found
    assert not any(is_there(pointer, value, document(name)) for pointer, value in found)


def test_parts_of_a_value_that_is_not_in_one_piece_stand_there() -> None:
    assert "2280 W County Road 42\nBurnsville, MN 55337" in document("receipt").text
    assert re.search(r"Lange Straße 41\s+27232 Sulingen", document("receipt_de").text)
    assert re.search(r"\$\s?379\s?99", document("product_megamenu").text)
    assert "April 2025" in document("event_list").text


# sums and days


@names([page for page in MATCHING if page.schema == "Invoice"])
def test_invoice_adds_up(page: BenchPage) -> None:
    gold = page.gold()
    for line in gold["lines"]:
        assert round(line["quantity"] * line["unit_price"], 2) == line["total"]
    assert round(sum(line["total"] for line in gold["lines"]), 2) == gold["subtotal"]
    assert round(gold["subtotal"] + gold["tax"], 2) == gold["total"]
    assert gold["issue_date"] < gold["due_date"]


@pytest.mark.parametrize(("name", "reduction"), [("receipt", 5.0), ("receipt_de", 0.0)])
def test_receipt_adds_up(name: str, reduction: float) -> None:
    gold = BY_NAME[name].gold()
    items = sum(item["total"] for item in gold["items"])
    tax_on_top = gold["tax"] if name == "receipt" else 0.0
    assert round(items - reduction + tax_on_top, 2) == gold["total"]
    assert round(gold["subtotal"] + gold["tax"], 2) == gold["total"]


@names(PAGES)
def test_weekdays_beside_full_dates_are_right(page: BenchPage) -> None:
    months = "|".join(ENGLISH_MONTHS)
    text = document(page.name).text
    european = re.findall(rf"\b([A-Z][a-z]+day),? (\d+) ({months}) (\d{{4}})", text)
    american = [(d, n, m, y) for d, m, n, y in re.findall(rf"\b([A-Z][a-z]+day), ({months}) (\d+), (\d{{4}})", text)]
    for weekday, day, month, year in european + american:
        assert f"{date(int(year), ENGLISH_MONTHS.index(month) + 1, int(day)):%A}" == weekday


def test_event_list_shows_each_event_on_its_weekday() -> None:
    shown = re.findall(r"Apr\s*(\d+)\s*([A-Z][a-z]{2})", document("event_list").text)
    days = [date.fromisoformat(event["date"]) for event in BY_NAME["event_list"].gold()["events"]]
    assert [(str(day.day), f"{day:%a}") for day in days] == shown


def test_isbn_check_digits_are_right() -> None:
    for name in ("book", "book_it"):
        digits = [int(char) for char in BY_NAME[name].gold()["isbn"] if char.isdigit()]
        assert len(digits) == 13
        assert sum(digit * (3 if at % 2 else 1) for at, digit in enumerate(digits)) % 10 == 0


def test_table_page_has_sixty_different_rows() -> None:
    rows = BY_NAME["stations"].gold()["stations"]
    assert len({row["station"] for row in rows}) == len(rows) == 60
    doc = document("stations")
    shown = [[cell.span.of(doc.text) for cell in block.cells] for block in doc.blocks if block.cells][1:]
    assert shown == [
        [
            row["station"],
            row["line"],
            str(row["zone"]),
            str(row["opened"]),
            "Yes" if row["step_free"] else "No",
            f"{row['boardings']:,}",
        ]
        for row in rows
    ]


@names(PAGES)
def test_page_points_at_invented_hosts_only(page: BenchPage) -> None:
    hosts = set(re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?https?://([^/"')]+)""", page.html()))
    assert all(host.endswith(".example") for host in hosts)


# the complaints


def facts_of(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))


def read(path: Path, *, include_hidden: bool = False) -> str:
    page = Page("https://pages.example/", "https://pages.example/", path.read_text(encoding="utf-8"))
    return clean(page, include_hidden=include_hidden).text


complaints = pytest.mark.parametrize("path", COMPLAINTS, ids=lambda path: path.stem)


@complaints
def test_complaint_page_has_its_facts_and_they_are_spelled_right(path: Path) -> None:
    known = {"complaint", "text_must_contain", "text_must_not_contain", "values"}
    extra = {"occurrences", "with_hidden_must_contain", "rendered"}
    facts = facts_of(path)
    assert known <= facts.keys() <= known | extra
    assert re.search(r"[\w-]+ #\d+", facts["complaint"])


def test_every_fact_file_has_its_page() -> None:
    assert [path.stem for path in COMPLAINTS] == sorted(path.stem for path in (ROOT / "tests/pages").glob("*.json"))


@complaints
def test_complaint_records_fit_the_schema_beside_them(path: Path) -> None:
    values = facts_of(path)["values"]
    for record in values.get("records", []):
        load_schema(values["schema"]).validate(record)


@pytest.mark.parametrize("path", [p for p in COMPLAINTS if not facts_of(p).get("rendered")], ids=lambda path: path.stem)
def test_text_of_a_complaint_page_is_what_a_person_sees(path: Path) -> None:
    facts, text = facts_of(path), read(path)
    assert [want for want in facts["text_must_contain"] if want not in text] == []
    assert [bad for bad in facts["text_must_not_contain"] if bad in text] == []
    assert {word: text.count(word) for word in facts.get("occurrences", {})} == facts.get("occurrences", {})
    assert in_order(facts["values"].get("order", []), text)


def in_order(words: list[str], text: str) -> bool:
    at = 0
    for word in words:
        found = text.find(word, at)
        if found < 0:
            return False
        at = found + len(word)
    return True


@pytest.mark.browser
async def test_text_of_a_complaint_page_is_what_a_person_sees_in_a_browser() -> None:
    async with Fetcher() as fetcher:
        for path in COMPLAINTS:
            facts = facts_of(path)
            if facts["values"].get("empty"):
                with pytest.raises(EmptyPage):
                    await fetcher.fetch(str(path))
                continue
            text = clean(await fetcher.fetch(str(path))).text
            assert [want for want in facts["text_must_contain"] if want not in text] == [], path.stem
            assert [bad for bad in facts["text_must_not_contain"] if bad in text] == [], path.stem


@complaints
def test_folded_text_comes_back_when_hidden_text_is_asked_for(path: Path) -> None:
    wanted = facts_of(path).get("with_hidden_must_contain", [])
    text = read(path, include_hidden=bool(wanted))
    assert [want for want in wanted if want not in text] == []


def test_expected_record_values_stand_in_the_text_of_the_complaint_page() -> None:
    for path in COMPLAINTS:
        values, text = facts_of(path)["values"], flat(read(path))
        decomposed = values.get("decomposed_on_the_page", [])
        for pointer, value in leaves(values.get("records", [])):
            if value is not None and value not in decomposed:
                assert any(stands(form, text) for form in shown_forms(pointer, value)), (path.stem, pointer, value)
