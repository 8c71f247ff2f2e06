"""What a page says about itself: read as a record, offered as a guess, compared with what was read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st
from pipeline_fakes import Decoder

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from bench.pages import PAGES, BenchPage  # noqa: E402  the bench is not installed
from lookstruct.extractors.clean import clean  # noqa: E402
from lookstruct.pipeline.metadata.differences import differences  # noqa: E402
from lookstruct.pipeline.metadata.guess import MetadataGuess, guess_from_metadata  # noqa: E402
from lookstruct.pipeline.metadata.nodes import nodes_of  # noqa: E402
from lookstruct.pipeline.prompt import OWN_DATA  # noqa: E402
from lookstruct.pipeline.reader import Reader  # noqa: E402
from lookstruct.pipeline.values.found import find_all  # noqa: E402
from lookstruct.schemas.document import Document, Page  # noqa: E402
from lookstruct.schemas.loader import load_schema  # noqa: E402

URL = "https://shop.example/lamp"
LAMP = {
    "@type": "Product",
    "name": "Brass lamp",
    "offers": {"@type": "Offer", "price": "45.50", "priceCurrency": "eur"},
}


def page(*items: Any, html: str = "<title>Shop</title><h1>Brass lamp</h1><p>Price: 45.50 EUR") -> Document:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(item)}</script>' for item in items)
    return clean(Page(URL, URL, html + scripts))


def guess(document: Document, schema: Any) -> Any:
    found = guess_from_metadata(document, load_schema(schema), find_all(document))
    return None if found is None else found.data


def said(item: dict[str, Any], schema: Any, **options: Any) -> Any:
    return guess(page(item, **options), schema)


def test_a_built_in_schema_is_filled_by_the_properties_of_schema_org() -> None:
    item = {
        "@type": "http://schema.org/Product",
        "name": "Brass &amp; oak lamp",
        "brand": {"@type": "Brand", "name": "Harrow"},
        "offers": [{"price": 45.5, "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}],
        "aggregateRating": {"ratingValue": "4.6", "reviewCount": "1,280"},
        "image": ["/lamp.jpg", "/b.jpg"],
        "description": "<p>A lamp\n for the <b>desk</b>.</p>",
    }
    assert said(item, "Product") == {
        "name": "Brass & oak lamp",
        "brand": "Harrow",
        "price": 45.5,
        "price_currency": "EUR",
        "availability": "InStock",
        "rating_value": 4.6,
        "review_count": 1280,
        "description": "A lamp for the desk .",
        "image": "https://shop.example/lamp.jpg",
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2024-11-30T08:00:00+01:00", "2024-11-30"),
        ("2024-11-30", "2024-11-30"),
        ("30 November 2024", "2024-11-30"),
        ("soon", None),
        (None, None),
    ],
)
def test_dates_are_days(given: Any, expected: str | None) -> None:
    found = said({"@type": "Article", "headline": "A", "datePublished": given}, "Article")
    assert found.get("date_published") == expected


def test_steps_come_out_one_by_one_however_they_are_nested() -> None:
    steps = [{"@type": "HowToStep", "text": "Cut."}, {"@type": "HowToStep", "text": "Fry."}]
    for written in (steps, [{"@type": "HowToSection", "itemListElement": steps}], ["Cut.", "Fry."], "Cut.\nFry."):
        found = said({"@type": "Recipe", "name": "Leeks", "recipeInstructions": written}, "Recipe")
        assert found["recipe_instructions"] == ["Cut.", "Fry."]


def test_durations_are_written_as_the_page_offers_them() -> None:
    assert said({"@type": "Recipe", "name": "x", "cookTime": "PT90M"}, "Recipe")["cook_time"] == "PT1H30M"


def test_an_address_without_a_name_is_one_line() -> None:
    place = {
        "@type": "Place",
        "address": {"streetAddress": "1 Quay", "addressLocality": "Hull", "addressCountry": "GB"},
    }
    found = said({"@type": "Event", "name": "Fair", "location": place}, "Event")
    assert found["location_address"] == "1 Quay"
    assert said({"@type": "JobPosting", "title": "Cook", "jobLocation": place}, "JobPosting")["job_location"] == "Hull"


def test_text_takes_the_writing_of_the_page_and_times_its_form() -> None:
    html = "<h1>The Fox\u2019s \u201cNight\u201d</h1><p>Saturday, 7.30 pm</p>"
    item = {"@type": "MusicEvent", "name": 'The Fox\'s "Night"', "startDate": "2025-05-17T19:30:00+01:00"}
    found = said(item, "Event", html=html)
    assert found["name"] == "The Fox\u2019s \u201cNight\u201d"
    assert (found["start_date"], found["start_time"]) == ("2025-05-17", "7.30 pm")


def test_schemas_of_users_are_filled_by_the_names_of_schema_org() -> None:
    assert said(LAMP, "name, price: float, priceCurrency") == {
        "name": "Brass lamp",
        "price": 45.5,
        "priceCurrency": "EUR",  # as the page writes it
    }
    nested = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "offers": {"type": "object", "properties": {"price": {"type": "number"}}},
        },
    }
    assert said(LAMP, nested) == {"name": "Brass lamp", "offers": {"price": 45.5}}


def test_items_of_a_list_are_filled_one_by_one() -> None:
    item = {
        "@type": "Order",
        "seller": {"name": "Quay Stores"},
        "acceptedOffer": [
            {"itemOffered": {"name": "Rope"}, "price": "4"},
            {"itemOffered": {"name": "Tar"}, "price": 9},
        ],
    }
    found = said(item, "Receipt")
    assert found["items"] == [{"description": "Rope", "total": 4.0}, {"description": "Tar", "total": 9.0}]


def test_something_else_on_the_page_is_no_guess() -> None:
    assert said({"@type": "Organization", "name": "Shop Ltd", "url": "https://shop.example/"}, "Product") is None
    assert said({"@type": "BreadcrumbList", "name": "Home"}, "name, price: float, maker, colour") is None


def test_of_several_things_the_one_in_the_title_is_meant() -> None:
    others = [{"@type": "Product", "name": f"Other {i}", "sku": "1", "brand": "B"} for i in range(3)]
    html = "<title>Brass lamp | Shop</title><h1>Brass lamp</h1>"
    assert guess(page(*others[:2], LAMP, others[2], html=html), "Product")["name"] == "Brass lamp"


def test_references_and_nested_things_are_followed() -> None:
    maker = {"@type": "Organization", "@id": "#m", "name": "Harrow"}
    whole = {"@type": "WebPage", "mainEntity": {"@type": "Product", "name": "Vase", "brand": {"@id": "#m"}}}
    assert guess(page({"@graph": [whole, maker]}), "Product") == {"name": "Vase", "brand": "Harrow"}


def test_opengraph_fills_what_the_others_leave_open() -> None:
    html = "<meta property=og:title content='Lamp | Shop'><meta property=product:price:amount content=44><h1>Lamp</h1>"
    found = guess(page({"@type": "Product", "name": "Lamp"}, html=html), "Product")
    assert found == {"name": "Lamp", "price": 44.0}


def test_microdata_and_rdfa_count_as_json_ld_does() -> None:
    micro = "<div itemscope itemtype=https://schema.org/Book><b itemprop=name>Eel</b><i itemprop=isbn>978-1</i></div>"
    rdfa = "<div typeof=schema:Book><b property=schema:name>Eel</b><i property=isbn>978-1</i></div>"
    for html in (micro, rdfa):
        assert guess(page(html=html), "Book") == {"name": "Eel", "isbn": "978-1"}


def test_origins_say_where_in_the_metadata_a_value_stands() -> None:
    document = page(LAMP)
    found = guess_from_metadata(document, load_schema("Product"), find_all(document))
    assert found is not None
    assert (found.origins["/price"].kind, found.origins["/price"].path) == ("json-ld", "offers.price")


WITH_DATA = [page for page in PAGES if "ld+json" in page.html()]
WRONG = {("product_variants", "price"), ("product_variants", "image"), ("recipe_b", "recipe_yield"), ("event", "price")}
"""Where an example page's metadata is wrong, or says less than the page: pages are like that."""


@pytest.mark.parametrize("example", WITH_DATA, ids=lambda page: page.name)
def test_the_guess_of_an_example_page_is_its_gold_record_as_far_as_the_metadata_is_right(example: BenchPage) -> None:
    document = clean(Page(example.url, example.url, example.html()))
    found, gold = guess(document, example.schema), example.gold()
    assert len(found) >= 7
    assert {(example.name, name) for name in found if found[name] != gold[name]} <= WRONG


def read(metadata: Any, text: str, schema: str = "Product") -> tuple[Decoder, Any]:
    decoder = Decoder(text, max_context=4096)
    reader = Reader(decoder, tiny.tokenizer(), metadata=metadata)
    return decoder, reader.read(page({**LAMP, "sku": "HF-7"}), load_schema(schema))


RECORD = json.dumps(
    {
        **dict.fromkeys(load_schema("Product").grammar_schema["properties"]),
        "name": "Brass lamp",
        "price": 44.0,
        "features": [],
    }
)


def test_the_decoder_drafts_from_the_metadata_and_the_model_is_not_shown_it() -> None:
    decoder, _ = read("draft", RECORD)
    assert decoder.hints[0].guesses == ({"name": "Brass lamp", "sku": "HF-7", "price": 45.5, "price_currency": "EUR"},)
    assert "HF-7" not in tiny.tokenizer().decode(decoder.prompts[0])


def test_trusted_metadata_is_shown_and_may_be_written() -> None:
    decoder, _ = read("trust", RECORD)
    assert OWN_DATA.strip() in tiny.tokenizer().decode(decoder.prompts[0])
    assert '"sku": "HF-7"' in tiny.tokenizer().decode(decoder.prompts[0])
    grammar = decoder.grammars[0]
    assert grammar is not None
    assert '"HF"' in grammar.source


def test_ignored_metadata_is_neither_drafted_from_nor_compared() -> None:
    decoder, record = read("ignore", RECORD)
    assert decoder.hints[0].guesses == ()
    assert "metadata_differs" not in record.meta


def test_where_page_and_metadata_disagree_both_are_reported() -> None:
    _, record = read("draft", RECORD)
    assert record.data["price"] == 44.0
    assert record.meta["metadata_differs"]["/price"] == {
        "record": 44.0,
        "metadata": 45.5,
        "kind": "json-ld",
        "path": "offers.price",
    }
    assert "metadata-differs" in record.evidence["/price"].flags
    assert "metadata-differs" not in record.evidence["/name"].flags
    assert "/sku" in record.meta["metadata_differs"]  # the page does not show it, the record has none


def test_lists_are_compared_whole() -> None:
    ours = {"tags": ["a", "b"], "lines": [{"n": 1}]}
    assert differences(ours, MetadataGuess({"tags": ["A", "b."], "lines": [{"n": 1}]})) == {}
    assert list(differences(ours, MetadataGuess({"tags": ["b", "a"], "lines": [{"n": 2}]}))) == ["/tags", "/lines"]


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
names = st.sampled_from(["@type", "@id", "name", "offers", "price", "image", "author", "description", "x"])
odd = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4))


@given(
    st.dictionaries(names, odd, max_size=5), st.sampled_from(["Product", "Recipe", "name, price: float, tags: [str]"])
)
def test_any_metadata_is_survived_and_a_guess_fits_its_fields_types(item: dict[str, Any], schema: str) -> None:
    document = Document(URL, "Lamp 45.50", (), metadata={"json-ld": [{"@type": "Product", **item}]})
    found = guess(document, schema)
    for value in (found or {}).values():
        assert isinstance(value, str | float | int | list)
    assert isinstance(nodes_of(document.metadata), tuple)
