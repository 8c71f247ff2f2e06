"""Long pages: cut at joints, read part by part, merged by evidence into one record."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tiny
from exact_reader import ExactDecoder, find, read
from hypothesis import given
from hypothesis import strategies as st
from pipeline_fakes import Decoder

from lookstruct.decoding.certificate import Certificate
from lookstruct.decoding.request import Completion
from lookstruct.extractors.clean import clean
from lookstruct.pipeline.chunks.chunk import Chunk, excerpt
from lookstruct.pipeline.chunks.cutting import cut
from lookstruct.pipeline.chunks.part import whole
from lookstruct.pipeline.chunks.partial import loosened
from lookstruct.pipeline.chunks.plan import plan
from lookstruct.pipeline.chunks.relevance import by_relevance
from lookstruct.pipeline.reader import Reader
from lookstruct.schemas.document import Document, Page
from lookstruct.schemas.errors import InvalidRecord
from lookstruct.schemas.loader import load_schema
from lookstruct.schemas.record import Record

PAGES = Path(__file__).parent / "pages"


def page(html: str) -> Document:
    return clean(Page("https://pages.example/", "https://pages.example/", html))


def complaint(name: str) -> tuple[Document, dict[str, Any]]:
    values = json.loads((PAGES / f"{name}.json").read_text(encoding="utf-8"))["values"]
    return page((PAGES / f"{name}.html").read_text(encoding="utf-8")), values


def words_fit(n: int) -> Any:
    """So many words at once."""
    return lambda document: lambda blocks: sum(len(b.span.of(document.text).split()) for b in blocks) <= n


def texts(document: Document, blocks: Any) -> list[str]:
    return [block.span.of(document.text) for block in blocks]


# cutting


def chunks_of(html: str, n_words: int) -> tuple[Document, tuple[Chunk, ...]]:
    document = page(html)
    return document, cut(document.blocks, words_fit(n_words)(document))


def test_cards_are_not_cut() -> None:
    cards = "".join(f"<div><h3>Card {i}</h3><p>some words here</p><p>and these</p></div>" for i in range(9))
    document, chunks = chunks_of(cards, 20)
    assert len(chunks) > 2
    assert all(texts(document, chunk.blocks)[0].startswith("Card") for chunk in chunks)
    assert sum(len(chunk.blocks) for chunk in chunks) == len(document.blocks)


def test_sections_without_elements_of_their_own_are_cut_before_headings() -> None:
    document, chunks = chunks_of("".join(f"<h2>Part {i}</h2><p>a b c d<p>e f g h" for i in range(8)), 25)
    assert all(texts(document, chunk.blocks)[0].startswith("Part") for chunk in chunks)


def test_a_tables_header_and_the_headings_above_are_shown_again() -> None:
    rows = "".join(f"<tr><td>Stop {i}<td>{i}" for i in range(30))
    html = f"<h1>Trams</h1><h2>Line A</h2><table><thead><tr><th>Name<th>Zone</thead>{rows}</table>"
    document, chunks = chunks_of(html, 40)
    assert len(chunks) >= 3
    assert chunks[0].context == ()
    for chunk in chunks[1:]:
        assert texts(document, chunk.context) == ["Trams", "Line A", "Name | Zone"]
    assert [row for chunk in chunks for row in texts(document, chunk.blocks)][3:] == [
        f"Stop {i} | {i}" for i in range(30)
    ]


def test_the_line_above_a_list_is_shown_again() -> None:
    html = "<h1>Soup</h1><p>You need:</p><ul>" + "".join(f"<li>thing number {i}" for i in range(20)) + "</ul>"
    document, chunks = chunks_of(html, 30)
    assert all(texts(document, chunk.context) == ["Soup", "You need:"] for chunk in chunks[1:])


def test_where_a_cut_may_go_through_something_blocks_are_read_twice() -> None:
    document, chunks = chunks_of("".join(f"<p>line number {i}" for i in range(40)), 30)
    for before, after in pairwise(chunks):
        assert set(texts(document, before.blocks)) & set(texts(document, after.blocks))
    assert {text for chunk in chunks for text in texts(document, chunk.blocks)} == set(texts(document, document.blocks))


def test_a_block_that_does_not_fit_alone_is_cut_into_pieces_that_lose_nothing() -> None:
    document = page("<h1>Tale</h1><p>" + " ".join(f"w{i}" for i in range(100)))
    chunks = cut(document.blocks, words_fit(12)(document))
    covered = sorted({at for chunk in chunks for b in chunk.blocks for at in range(b.span.start, b.span.end)})
    whole_text = [at for block in document.blocks for at in range(block.span.start, block.span.end)]
    assert covered == whole_text


html_parts = st.sampled_from(
    [
        *("<h1>A b</h1>", "<h2>C d</h2>", "<p>one two three", "<div><h3>E</h3><p>f g</div>", "<ul><li>i<li>j k</ul>"),
        *("<table><tr><th>H<th>I</tr><tr><td>1<td>2</tr><tr><td>3<td>4</table>", "<p>" + "long " * 30),
    ]
)


@given(st.lists(html_parts, min_size=1, max_size=12), st.integers(4, 40))
def test_whatever_the_page_every_character_is_in_a_chunk_and_every_chunk_fits(parts: list[str], n_words: int) -> None:
    document, chunks = chunks_of("".join(parts), n_words)
    fits = words_fit(n_words)(document)
    assert all(fits(chunk.shown) for chunk in chunks)
    inked = {at for block in document.blocks for at in range(block.span.start, block.span.end)}
    assert {at for chunk in chunks for b in chunk.shown for at in range(b.span.start, b.span.end)} == inked
    starts = [chunk.blocks[0].span.start for chunk in chunks]
    assert starts == sorted(set(starts))
    for chunk in chunks:
        cutout = excerpt(document, chunk)
        assert len(cutout.text) == len(document.text)
        assert all(b.span.of(cutout.text) == b.span.of(document.text) for b in chunk.shown)


# choosing


def test_of_a_page_that_is_much_too_long_the_sections_that_name_the_fields_are_read() -> None:
    filler = "".join(f"<h2>Chapter {i}</h2><p>the sea was calm and the gulls were loud that morning" for i in range(60))
    html = f"<h1>Harbour</h1>{filler}<h2>Fees</h2><p>Mooring fee: 12.50<p>Opening hours: 8 to 6{filler}"
    document = page(html)
    fits = words_fit(120)(document)
    chosen = plan(
        document,
        document.blocks,
        {"properties": {"mooring_fee": {}, "opening_hours": {}}},
        lambda n: words_fit(120 // n)(document),
        2,
    )
    shown = [text for chunk in chosen.chunks for text in texts(document, chunk.shown)]
    assert len(chosen.chunks) == 2
    assert all(fits(chunk.shown) for chunk in chosen.chunks)
    assert "Mooring fee: 12.50" in shown
    assert "Opening hours: 8 to 6" in shown
    n_read = len({block.span for chunk in chosen.chunks for block in chunk.shown})
    assert n_read < len(document.blocks)
    assert chosen.n_chars_left_out == sum(len(b.span) for b in document.blocks) - sum(
        {b.span.start: len(b.span) for c in chosen.chunks for b in c.shown}.values()
    )


def test_where_no_section_names_a_field_they_come_in_page_order() -> None:
    document, chunks = chunks_of("".join(f"<h2>Kapitel {i}</h2><p>Möwen und Meer" for i in range(9)), 15)
    assert by_relevance(document, chunks, {"properties": {"warranty": {}}}) == list(range(len(chunks)))


# whole pages, read exactly


def stops(text: str) -> dict[str, Any]:
    rows = re.findall(r"^(Stop \w+) \| (\d+) \| ([\d,]+)$", text, re.MULTILINE)
    return {"stops": [{"name": n, "zone": int(z), "boardings": int(b.replace(",", ""))} for n, z, b in rows]}


STOPS = "stops: [{name: verbatim, zone: int, boardings: int}]"


def table(n: int) -> Document:
    rows = "".join(f"<tr><td>Stop {i}<td>{1 + i % 4}<td>{1000 + 37 * i:,}" for i in range(n))
    head = "<thead><tr><th>Stop<th>Zone<th>Boardings</thead>"
    return page(f"<title>Trams</title><h1>Stops</h1><table>{head}<tbody>{rows}</table>")


def expected_stops(n: int) -> list[dict[str, Any]]:
    return [{"name": f"Stop {i}", "zone": 1 + i % 4, "boardings": 1000 + 37 * i} for i in range(n)]


def own_row(record: Record[Any], document: Document, pointer: str) -> None:
    """Every item's values stand in one row, at the offsets of the whole page."""
    for number in range(len(record.data[pointer])):
        found = [e for at, e in record.evidence.items() if at.startswith(f"/{pointer}/{number}/")]
        assert len({e.dom_path for e in found}) == 1
        for one in found:
            assert one.span is not None
            assert one.span.of(document.text) == one.text


@pytest.mark.parametrize("max_page_tokens", [200, 500, 1500, 100_000])
def test_a_table_of_100_rows_gives_100_rows_however_it_is_cut(max_page_tokens: int) -> None:
    document, decoder = table(100), ExactDecoder(stops)
    record = read(document, STOPS, decoder, max_page_tokens=max_page_tokens, max_chunks=100)
    assert record.data["stops"] == expected_stops(100)
    own_row(record, document, "stops")
    assert (len(decoder.pages) > 1) == (max_page_tokens < 10_000)


@pytest.mark.parametrize("max_items", [3, 17, 40])
def test_where_the_answer_is_too_long_it_goes_on_behind_the_last_whole_row(max_items: int) -> None:
    document, decoder = table(100), ExactDecoder(stops, max_items=max_items)
    record = read(document, STOPS, decoder, max_chunks=50)
    assert record.data["stops"] == expected_stops(100)
    own_row(record, document, "stops")
    assert record.meta["finish_reason"] == "eos"
    assert len(decoder.pages) >= 100 / (max_items + 1)


def test_an_answer_that_is_cut_for_good_says_so() -> None:
    record = read(table(100), STOPS, ExactDecoder(stops, max_items=3), max_chunks=2)
    assert 3 < len(record.data["stops"]) < 100
    assert record.meta["finish_reason"] == "closed"
    assert any("closed early" in note for note in record.meta["notes"])


def cottages(text: str) -> dict[str, Any]:
    card = r"### (\w+ \w+)\nSleeps (\d), .* £([\d.]+).*\nReference (\w+)"
    whole_ones = [
        {"name": n, "sleeps": int(s), "price": float(p), "reference": r} for n, s, p, r in re.findall(card, text)
    ]
    cut_off = re.findall(r"### (\w+ \w+)(?:\nSleeps \d.*)?\Z", text)
    return {
        "cottages": [*whole_ones, *({"name": n, "sleeps": None, "price": None, "reference": None} for n in cut_off)]
    }


@pytest.mark.parametrize("max_page_tokens", [300, 437, 700, 1111, 2500])
def test_items_at_a_chunks_edge_come_out_once_and_whole(max_page_tokens: int) -> None:
    document, expected = complaint("items_cut_by_a_chunk_edge")
    schema = "cottages: [{name: verbatim, sleeps: int?, price: float?, reference: verbatim?}]"
    record = read(document, schema, ExactDecoder(cottages), max_page_tokens=max_page_tokens, max_chunks=100)
    assert [item["reference"] for item in record.data["cottages"]] == expected["references"]
    assert record.data["cottages"][0] == expected["first"]
    assert record.data["cottages"][-1] == expected["last"]


def paragraphs(text: str) -> dict[str, Any]:
    """People by name and phone, a paragraph each and nothing around them; a half one keeps what there is of it."""
    found, lines = [], text.split("\n")
    for at, line in enumerate(lines):
        if line.startswith("Name:"):
            phone = lines[at + 1] if at + 1 < len(lines) else ""
            found.append({"name": line[6:], "phone": phone[7:] or None})
        elif line.startswith("Phone:") and (at == 0 or not lines[at - 1].startswith("Name:")):
            found.append({"name": None, "phone": line[7:]})
    return {"people": found}


@pytest.mark.parametrize("max_page_tokens", [150, 211, 260, 333])
def test_items_without_joints_between_them_come_out_once_and_whole_too(max_page_tokens: int) -> None:
    people = [{"name": f"Person {i % 7}", "phone": f"555 01{i:02}"} for i in range(60)]
    document = page("".join(f"<p>Name: {p['name']}<p>Phone: {p['phone']}" for p in people))
    schema = "people: [{name: verbatim?, phone: verbatim?}]"
    record = read(document, schema, ExactDecoder(paragraphs), max_page_tokens=max_page_tokens, max_chunks=100)
    assert record.data["people"] == people


def bookings(text: str) -> dict[str, Any]:
    rows = re.findall(r"^([\d:]+) \| (\w+) \| £([\d.]+)$", text, re.MULTILINE)
    return {"bookings": [{"sailing": s, "vehicle": v, "fare": float(f)} for s, v, f in rows]}


@pytest.mark.parametrize("max_page_tokens", [60, 80, 1000])
def test_equal_rows_in_two_places_are_two_items(max_page_tokens: int) -> None:
    document, expected = complaint("equal_rows_in_two_places")
    record = read(document, expected["schema"], ExactDecoder(bookings), max_page_tokens=max_page_tokens)
    assert record.data == expected["records"][0]


def boat(text: str) -> dict[str, Any]:
    return {
        "name": find(r"# (The narrowboat Perpetua)", text),
        "berth": find(r"(Berth 7, Gas Street Arm)", text),
        "laid_down": "1911-06-03" if "3 June 1911" in text else None,
        "builder": find("(Braithwaite and Sons)", text),
        "length_m": find(r"(21\.3)", text, float),
        "registration": find("(BCN 1187-P)", text),
    }


@pytest.mark.parametrize("max_page_tokens", [250, 600, 5000])
def test_one_record_whose_values_are_spread_over_a_long_page_comes_out_as_one(max_page_tokens: int) -> None:
    document, expected = complaint("one_record_across_a_long_page")
    decoder = ExactDecoder(boat)
    record = read(document, expected["schema"], decoder, max_page_tokens=max_page_tokens, max_chunks=100)
    assert record.data == expected["records"][0]
    assert "conflicts" not in record.meta
    assert all(e.span is not None and e.span.of(document.text) == e.text for e in record.evidence.values())
    for text in decoder.pages[1:]:
        assert "# The narrowboat Perpetua" in text  # its heading is shown again


def stock(text: str) -> dict[str, Any]:
    found = "30 November 2024" in text
    return {
        "counted_on": "2024-11-30" if found else None,
        "keeper": find("(Wilhelmina Achterberg)", text),
        "extension": find(r"extension (\d+)", text),
    }


def test_what_stands_behind_420_rows_is_found() -> None:
    document, expected = complaint("over_long_document")
    record = read(document, expected["schema"], ExactDecoder(stock), max_page_tokens=2000)
    assert record.data == expected["records"][0]


# merging


def answers(*records: Any) -> Any:
    """A reader that answers in turn."""
    left = list(records)
    return lambda _: left.pop(0)


FILLER = " and so on" * 20


def halves(first: str, second: str) -> tuple[Document, dict[str, int]]:
    """A page of two sections, and settings under which each is a part of its own."""
    document = page(f"<h2>One</h2><p>{first}{FILLER}</p><h2>Two</h2><p>{second}{FILLER}</p>")
    return document, {"max_page_tokens": int(0.8 * len(tiny.tokenizer()(document.text)["input_ids"]))}


def in_two(first: str, second: str, schema: Any, *records: Any) -> Record[Any]:
    document, settings = halves(first, second)
    decoder = ExactDecoder(answers(*records))
    record = read(document, schema, decoder, **settings)
    assert len(decoder.pages) == len(records)
    return record


def test_a_value_that_only_one_part_has_is_taken() -> None:
    record = in_two(
        "Price 12",
        "Maker Acme",
        "price: int, maker: verbatim",
        {"price": 12, "maker": None},
        {"price": None, "maker": "Acme"},
    )
    assert record.data == {"price": 12, "maker": "Acme"}
    assert "conflicts" not in record.meta


def test_of_two_values_the_one_that_stands_on_the_page_wins_and_the_other_is_kept_in_meta() -> None:
    record = in_two("Maker Acme", "Nothing here", "maker: str", {"maker": "Acme"}, {"maker": "Invented"})
    assert record.data == {"maker": "Acme"}
    (other,) = record.meta["conflicts"]["/maker"]
    assert (other["value"], other["status"]) == ("Invented", "none")
    assert any("different values for maker" in note for note in record.meta["notes"])


def test_a_field_that_no_part_gives_and_that_must_be_there_is_asked_for_once_more_where_it_is_likeliest() -> None:
    document, settings = halves("Gulls", "The maker is Acme")
    decoder = ExactDecoder(answers({"maker": None}, {"maker": None}, {"maker": "Acme"}))
    record = read(document, "maker: verbatim", decoder, **settings)
    assert record.data == {"maker": "Acme"}
    assert "The maker is Acme" in decoder.pages[2]
    null, forced = decoder.grammars[1], decoder.grammars[2]
    assert null is not None
    assert forced is not None
    assert "null" in null.source
    assert "null" not in forced.source


def test_nested_objects_are_merged_field_by_field() -> None:
    schema = "seller: {name: str?, town: str?}?, tags: [str]"
    record = in_two(
        "Harrow",
        "Hull",
        schema,
        {"seller": {"name": "Harrow", "town": None}, "tags": ["Harrow"]},
        {"seller": {"name": None, "town": "Hull"}, "tags": ["Hull"]},
    )
    assert record.data == {"seller": {"name": "Harrow", "town": "Hull"}, "tags": ["Harrow", "Hull"]}
    assert record.evidence["/tags/1"].text == "Hull"


def test_a_list_read_twice_in_the_headings_shown_again_is_there_once() -> None:
    html = "<h1>By Ann Lee</h1>" + "".join(f"<h2>Part {i}</h2><p>{'words ' * 30}" for i in range(6))
    decoder = ExactDecoder(lambda text: {"authors": ["Ann Lee"] if "Ann Lee" in text else []})
    record = read(page(html), "authors: [verbatim]", decoder, max_page_tokens=100)
    assert len(decoder.pages) > 2
    assert record.data == {"authors": ["Ann Lee"]}


def test_items_that_stand_nowhere_are_there_once() -> None:
    record = in_two("a", "b", "tags: [str]", {"tags": ["sea", "sea"]}, {"tags": ["sea", "salt"]})
    assert record.data == {"tags": ["sea", "sea", "salt"]}


def test_a_currency_named_once_does_not_make_two_items_one() -> None:
    rows = "".join(f"<tr><td>Rope {i}<td>{i}.50" for i in range(40))
    html = f"<h1>Prices in EUR</h1><table><thead><tr><th>What<th>Price</thead>{rows}</table>"

    def ropes(text: str) -> dict[str, Any]:
        found = re.findall(r"^(Rope \d+) \| ([\d.]+)$", text, re.MULTILINE)
        return {"ropes": [{"name": n, "price": float(p), "currency": "EUR"} for n, p in found]}

    schema = "ropes: [{name: verbatim, price: float, currency: str}]"
    record = read(page(html), schema, ExactDecoder(ropes), max_page_tokens=90, max_chunks=100)
    assert [rope["name"] for rope in record.data["ropes"]] == [f"Rope {i}" for i in range(40)]


# what is told of it


def test_stats_text_and_completions_are_those_of_all_parts_together() -> None:
    heard: list[str] = []
    made: list[Completion] = []
    decoder = ExactDecoder(stops)
    reader = Reader(decoder, tiny.tokenizer(), max_page_tokens=500)
    record = reader.read(table(60), load_schema(STOPS), on_text=heard.append, on_completion=made.append)
    n = len(decoder.pages)
    assert (record.stats.forwards, record.meta["answers"], len(made)) == (n, n, n)
    assert "".join(heard) == record.raw == made[-1].text
    assert [json.loads(line) for line in record.raw.split("\n")] == [stops(text) for text in decoder.pages]
    assert record.stats.new_tokens == len(made[-1].token_ids) == len(made[-1].pieces)
    assert any(f"read in {n} parts" in note for note in record.meta["notes"])


def test_every_part_is_certified_and_they_make_one_certificate() -> None:
    decoder = ExactDecoder(stops)
    given: list[Any] = []

    def certify(prompt_ids: Any, completion: Completion, **_: Any) -> Certificate:
        given.append(prompt_ids)
        return Certificate(True, len(completion.token_ids), least_margin=0.5 - 0.1 * len(given))

    record = read(table(40), STOPS, decoder, max_page_tokens=500, certify=certify)
    assert len(given) == len(decoder.pages) == 2
    assert record.meta["certificate"]["tokens"] == record.stats.new_tokens
    assert record.meta["certificate"]["least_margin"] == pytest.approx(0.3)


def test_a_certificate_that_fails_in_a_later_part_says_where_in_the_whole() -> None:
    both = whole([Certificate(True, 10, least_margin=0.2), Certificate(False, 5, 3, 0.01, 0.01)])
    assert (both.holds, both.tokens, both.first_difference, both.least_margin) == (False, 15, 13, 0.01)


def test_a_long_page_that_is_cancelled_stops_with_the_part_it_is_at() -> None:
    decoder = Decoder(max_context=4096)
    reader = Reader(decoder, tiny.tokenizer(), max_page_tokens=100)
    document = page("".join(f"<h2>Part {i}</h2><p>{'words ' * 30}" for i in range(6)))
    with pytest.raises(InvalidRecord, match="cancelled"):
        reader.read(document, load_schema("name: str"), cancel=lambda: True)
    assert len(decoder.prompts) == 1


def test_an_ambiguous_date_is_read_as_its_siblings_in_other_parts_are() -> None:
    document, settings = halves("Sent 28/11/2022", "Due 03/04/2022")
    decoder = ExactDecoder(answers({"due": None}, {"due": "2022-04-03"}))
    record = read(replace(document, lang="en-US"), "due: date", decoder, **settings)
    assert record.evidence["/due"].flags == ("order-from-siblings",)
    assert "03/04/2022 (2022-04-03)" in decoder.pages[1]


def test_only_objects_and_their_scalars_are_loosened() -> None:
    grammar = load_schema("name: str, tags: [str], born: date?").grammar_schema
    loose = loosened(grammar)
    assert loose["properties"]["tags"]["items"] == grammar["properties"]["tags"]["items"]
    assert loose["properties"]["born"] == grammar["properties"]["born"]
    assert {"type": "null"} in loose["properties"]["name"]["anyOf"]
    assert loosened({"type": "array", "items": {}}) == {"type": "array", "items": {}}


def test_a_page_that_fits_is_asked_about_as_ever() -> None:
    decoder = ExactDecoder(stops)
    record = read(table(5), STOPS, decoder)
    assert len(decoder.pages) == 1
    assert "answers" not in record.meta
    assert record.meta["notes"] == []
