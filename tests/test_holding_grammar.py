"""What a grammar that is held to a page lets through, asked of the grammar engine itself."""

import json
import random
from string import ascii_letters, digits
from typing import Any

import pytest
import tiny

from lookstruct.decoding.constraint import GrammarCompiler
from lookstruct.decoding.vocabulary import Vocabulary
from lookstruct.extractors.clean import clean
from lookstruct.pipeline.holding.grammar import hold
from lookstruct.pipeline.holding.offers import PageOffers
from lookstruct.pipeline.values.found import find_all
from lookstruct.schemas.document import Page
from lookstruct.schemas.loader import load_schema

SHOP = "<h1>Brass lamp</h1><p>Price: 45.50 EUR<p>Made 3 May 2024<p>See <a href=https://a.example/care>care</a>"
BARE = "<h1>Brass lamp</h1><p>No more is known."
COMPILER = GrammarCompiler(Vocabulary(tiny.tokenizer(), tiny.WIDTH, [2]))


def takes(html: str, field: dict[str, Any], value: Any, key: str = "x") -> bool:
    """Whether the grammar for a record of one field lets `{key: value}` through on this page."""
    schema = load_schema({"type": "object", "properties": {key: field}, "required": [key]}).grammar_schema
    return takes_record(html, schema, {key: value})


def takes_record(html: str, schema: Any, record: Any, also: dict[str, list[Any]] | None = None) -> bool:
    """Whether the grammar for a page, and for values that are believed `also`, lets a record through."""
    document = clean(Page("https://a.example/", "https://a.example/", html))
    constraint = COMPILER.start(hold(schema, PageOffers(document, document.blocks, find_all(document), also or {})))
    text = json.dumps(record, ensure_ascii=False)
    for token in tiny.tokenizer()(text, add_special_tokens=False)["input_ids"]:
        for byte_token in [token] if constraint.allows(token) else _bytes_of(token):
            if not constraint.allows(byte_token):
                return False
            constraint.advance(byte_token)
    return constraint.accepting


def _bytes_of(token: int) -> list[int]:
    """The token in single bytes: where a mask forces another cut, the text may still be allowed."""
    vocabulary = COMPILER._vocabulary
    return [vocabulary.ids[bytes([byte])] for byte in vocabulary.token_bytes[token]]


def nullable(leaf: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [leaf, {"type": "null"}]}


NUMBER = {"type": "number", "x-source": "number"}
DATE = {"type": "string", "format": "date", "x-source": "date"}
LINK = {"type": "string", "x-source": "link"}
LINE = {"type": "string", "x-source": "line"}
SPAN = {"type": "string", "x-source": "span"}


@pytest.mark.parametrize(
    ("leaf", "on_page", "invented"),
    [
        (NUMBER, 45.5, 46.5),
        (DATE, "2024-05-03", "2024-05-04"),
        (LINK, "https://a.example/care", "https://a.example/"),
        (LINE, "Made 3 May 2024", "Made 3 May"),
        (SPAN, "3 May", "4 May"),
    ],
)
def test_a_held_value_can_only_be_one_that_the_page_offers(leaf: dict[str, Any], on_page: Any, invented: Any) -> None:
    assert takes(SHOP, leaf, on_page)
    assert not takes(SHOP, leaf, invented)
    assert takes(SHOP, nullable(leaf), None)


@pytest.mark.parametrize(
    ("leaf", "invented"), [(NUMBER, 46.5), (DATE, "2024-05-04"), (LINK, "https://a.example/")], ids=str
)
def test_where_the_page_offers_nothing_a_nullable_field_is_null_and_a_list_empty(
    leaf: dict[str, Any], invented: Any
) -> None:
    assert takes(BARE, nullable(leaf), None)
    assert not takes(BARE, nullable(leaf), invented)
    assert takes(BARE, {"type": "array", "items": leaf}, [])
    assert not takes(BARE, {"type": "array", "items": leaf}, [invented])


@pytest.mark.parametrize(("leaf", "value"), [(NUMBER, 46.5), (DATE, "2024-05-04")], ids=str)
def test_a_field_that_must_have_a_value_stays_free_where_the_page_offers_none(leaf: dict[str, Any], value: Any) -> None:
    assert takes(BARE, leaf, value)


def test_computed_fields_stay_free() -> None:
    assert takes(BARE, nullable({"type": "integer", "x-source": "computed"}), 7)


ITEMS = {"type": "array", "items": {"type": "string", "x-source": "item"}}
ADDRESS = {"type": "string", "x-source": "address"}
PIE = """<h1>Pie</h1><h2>Ingredients</h2><h3>For the crust</h3><ul><li>flour<li>salt</ul>
<h3>For the filling</h3><ul><li>sugar<li>plums</ul><h2>Method</h2><ul><li>Line a tin with the crust and bake it blind.
<li>Fill it with the plums and bake it again.</ul><p>Serve cold."""
STEPS = ("Line a tin with the crust and bake it blind.", "Fill it with the plums and bake it again.")
LETTER = "<p>Tan Sdn Bhd</p><p>12 Jalan Besar,</p><p>Taman Melati</p><p>55100 Kuala Lumpur</p><p>Tel: 03-1234 5678</p>"


@pytest.mark.parametrize(
    ("items", "allowed"),
    [
        (["flour", "salt", "sugar", "plums"], True),
        (["sugar", "plums"], True),
        (["flour", "salt", "sugar", "plums", STEPS[0], STEPS[1]], True),
        ([*STEPS], True),
        (["Serve cold."], True),
        (["Pie"], False),
        (["flour", "salt", "sugar", "plums", STEPS[1]], False),
        (["flour", "salt", "sugar", "plums", "Serve cold."], False),
        ([*STEPS, "flour", "salt", "sugar", "plums"], False),
        ([], True),
        (["flour", "salt"], False),
        (["flour", "sugar", "plums"], False),
        (["flour", "salt", "sugar", "plums", "plums", "flour"], False),
        (["pepper"], False),
    ],
)
def test_a_list_of_items_takes_in_the_lists_of_the_page_whole(items: list[str], allowed: bool) -> None:
    assert takes(PIE, ITEMS, items) is allowed


def test_a_line_that_stands_twice_on_the_page_is_taken_once() -> None:
    page = "<h1>Pot</h1><p>Home</p><p>Red clay</p><p>Home</p><p>Fits two</p>"
    assert takes(page, ITEMS, ["Home", "Red clay", "Fits two"])
    assert not takes(page, ITEMS, ["Home", "Red clay", "Home"])
    assert not takes(page, ITEMS, ["Home", "Home"])


def test_of_a_title_a_line_is_the_name_or_the_site_but_not_both() -> None:
    page = "<title>Leek soup | Spoon and Fork</title><p>Serve it hot."
    assert takes(page, LINE, "Leek soup")
    assert takes(page, LINE, "Spoon and Fork")
    assert not takes(page, LINE, "Leek soup | Spoon and Fork")


def test_lines_outside_lists_are_taken_in_page_order_and_once() -> None:
    page = "<h1>Pie</h1><p>one<p>two<p>three"
    assert takes(page, ITEMS, ["one", "three"])
    assert not takes(page, ITEMS, ["three", "one"])
    assert not takes(page, ITEMS, ["one", "one"])


def test_lines_may_come_before_a_list_but_not_after_it() -> None:
    page = "<h1>Pie</h1><p>water<ul><li>flour<li>salt</ul><p>Serve cold."
    assert takes(page, ITEMS, ["water", "flour", "salt"])
    assert not takes(page, ITEMS, ["water", "salt"])
    assert not takes(page, ITEMS, ["water", "flour", "salt", "Serve cold."])


@pytest.mark.parametrize(
    ("key", "items", "allowed"),
    [
        ("ingredients", ["flour", "salt", "sugar", "plums"], True),
        ("recipe_ingredient", ["flour", "salt", "sugar", "plums"], True),
        ("ingredients", ["sugar", "plums"], False),
        ("ingredients", [*STEPS], False),
        ("ingredients", ["Serve cold."], False),
        ("ingredients", [], False),
        ("recipe_instructions", [*STEPS], True),
        ("recipe_instructions", ["flour", "salt", "sugar", "plums"], False),
    ],
)
def test_the_list_under_a_heading_that_names_the_field_is_what_it_asks_for(
    key: str, items: list[str], allowed: bool
) -> None:
    assert takes(PIE, ITEMS, items, key) is allowed


@pytest.mark.parametrize(
    ("key", "heading"),
    [
        ("responsibilities", "What you will do"),
        ("responsibilities", "Ihre Aufgaben"),
        ("qualifications", "What we are looking for"),
        ("qualifications", "Requirements"),
        ("benefits", "What we offer"),
        ("amenities", "Features"),
    ],
)
def test_the_lists_of_a_job_and_a_home_are_named_in_the_words_of_such_pages(key: str, heading: str) -> None:
    page = (
        f"<h1>Engineer</h1><ul><li>Home<li>Jobs</ul><h2>{heading}</h2><ul><li>Fly kites<li>Mend them</ul><p>Apply now."
    )
    assert takes(page, ITEMS, ["Fly kites", "Mend them"], key)
    assert not takes(page, ITEMS, ["Home", "Jobs"], key)


def test_a_list_that_is_named_for_one_field_is_not_taken_by_another() -> None:
    page = "<h1>Pie</h1><h2>Ingredients</h2><ul><li>flour<li>salt</ul><ul><li>Mix them.<li>Bake it.</ul>"
    schema = load_schema({"properties": {"ingredients": ITEMS, "doing": ITEMS}, "required": ["ingredients", "doing"]})
    assert takes_record(
        page, schema.grammar_schema, {"ingredients": ["flour", "salt"], "doing": ["Mix them.", "Bake it."]}
    )
    assert not takes_record(page, schema.grammar_schema, {"ingredients": ["flour", "salt"], "doing": ["flour", "salt"]})


def test_without_a_list_it_is_lines_under_the_heading_that_names_the_field() -> None:
    page = "<h1>Pie</h1><p>Sweet.<h2>Method</h2><p>Line a tin.<p>Bake it.<h2>Notes</h2><p>Serve cold."
    assert takes(page, ITEMS, ["Line a tin.", "Bake it."], "instructions")
    assert not takes(page, ITEMS, ["Bake it."], "instructions"), "text is taken in whole, as a list is"
    assert not takes(page, ITEMS, ["Sweet."], "instructions")
    assert not takes(page, ITEMS, ["Line a tin.", "Bake it.", "Serve cold."], "instructions")
    assert not takes(page, ITEMS, [], "instructions")


def test_a_line_that_only_opens_a_section_is_no_item() -> None:
    page = "<h1>Pie</h1><p>Ingredients<p>flour<p>salt<p>Method:<p>Bake it."
    assert takes(page, ITEMS, ["flour", "salt"], "ingredients")
    assert takes(page, ITEMS, ["Bake it."], "instructions")
    assert not takes(page, ITEMS, ["flour", "salt", "Method:"], "x")


def test_a_list_with_a_bound_takes_single_lines() -> None:
    assert takes(PIE, {**ITEMS, "maxItems": 1}, ["flour"])


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("12 Jalan Besar, Taman Melati, 55100 Kuala Lumpur", True),
        ("Taman Melati, 55100 Kuala Lumpur", False),
        ("12 Jalan Besar", False),
        ("12 Jalan Besar, Taman Melati", False),
        ("55100 Kuala Lumpur, Tel: 03-1234 5678", False),
    ],
)
def test_an_address_runs_to_its_postal_code(address: str, allowed: bool) -> None:
    assert takes(LETTER, ADDRESS, address) is allowed


@pytest.mark.parametrize(
    ("line", "value", "allowed"),
    [
        ("Serves 6 | Level: easy", "Serves 6", True),
        ("Serves 6 | Level: easy", "4.5 of 75 votes", False),
        ("Serves 6 | Level: easy", None, False),
        ("voor 2 of 3 personen", "2 of 3 personen", True),
        ("Makes 24 small cookies for tea", "Makes 24 small cookies", True),
        ("1/2 portion of rice", "4.5 of 75 votes", True),
        ("1/2 portion of rice", None, True),
    ],
)
def test_how_many_it_serves_is_what_a_line_says_in_words(line: str, value: str | None, allowed: bool) -> None:
    page = f"<h1>Pie</h1><p>4.5 of 75 votes</p><p>{line}</p>"
    span = nullable({"type": "string", "x-source": "span", "maxLength": 300})
    assert takes(page, span, value, "recipe_yield") is allowed


@pytest.mark.parametrize(("n_more", "may_be_null"), [(0, False), (1, False), (2, False), (3, True)])
def test_the_few_addresses_of_a_page_are_not_passed_over(n_more: int, may_be_null: bool) -> None:
    branches = "".join(f"<h2>Branch</h2><p>{n} High St<p>4017{n} Shah Alam" for n in range(n_more))
    assert takes(LETTER + branches, nullable(ADDRESS), None) is may_be_null


def test_where_no_line_has_a_postal_code_an_address_is_any_text_of_the_page() -> None:
    assert takes("<p>Behind the old mill, ask at the bar", ADDRESS, "Behind the old mill")
    assert not takes("<p>Behind the old mill, ask at the bar", ADDRESS, "Before the old mill")


BYLINE = {"type": "string", "x-source": "byline"}
SIGNED = "<h1>Rain</h1><p>By Ann Lee and Bo Chi</p><p>Cy Day saw it coming."


def test_who_wrote_a_page_is_one_of_the_names_in_its_byline() -> None:
    assert takes(SIGNED, BYLINE, "Bo Chi")
    assert not takes(SIGNED, BYLINE, "Cy Day")
    assert not takes(SIGNED, nullable(BYLINE), None)


@pytest.mark.parametrize(
    ("names", "allowed"),
    [
        (["Ann Lee", "Bo Chi"], True),
        (["Bo Chi"], False),
        (["Bo Chi", "Ann Lee"], False),
        (["Ann Lee", "Ann Lee"], False),
        ([], False),
    ],
)
def test_all_names_of_a_byline_are_listed_once(names: list[str], allowed: bool) -> None:
    assert takes(SIGNED, {"type": "array", "items": BYLINE}, names) is allowed


def test_without_a_byline_an_author_is_the_site_or_nobody_and_a_list_of_them_empty() -> None:
    page = "<title>Rain | The Daily Cloud</title><h1>Rain</h1><p>Cy Day saw it coming."
    assert takes(page, nullable(BYLINE), "The Daily Cloud")
    assert takes(page, nullable(BYLINE), None)
    assert not takes(page, nullable(BYLINE), "Cy Day")
    assert takes(page, {"type": "array", "items": BYLINE}, [])
    assert not takes(page, {"type": "array", "items": BYLINE}, ["Cy Day"])
    assert not takes(page, {"type": "array", "items": BYLINE}, ["The Daily Cloud"])
    assert takes(page.replace(" | The Daily Cloud", ""), nullable(BYLINE), None)


DURATION = {"type": "string", "x-source": "duration", "format": "duration"}
TIMES = "<h1>Pie</h1><p>Préparation : 20 min<p>Cuisson : 1 h<p>Simmer it for 5 minutes."


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("prep_time", "PT20M", True),
        ("prep_time", "PT1H", False),
        ("cook_time", "PT1H", True),
        ("cook_time", None, False),
        ("total_time", "PT5M", True),
        ("total_time", None, True),
    ],
)
def test_a_time_whose_label_names_the_field_is_what_it_asks_for(key: str, value: str | None, allowed: bool) -> None:
    assert takes(TIMES, nullable(DURATION), value, key) is allowed


def test_what_lies_elsewhere_in_the_page_is_no_part_of_the_last_section() -> None:
    steps = "<h1>Pie</h1><div><h2>Method</h2><p>Line a tin.<p>Bake it.</div>"
    page = steps + "<section><div><form><p>I liked it.</p></form></div></section>"
    assert takes(page, ITEMS, ["Line a tin.", "Bake it."], "instructions")
    assert not takes(page, ITEMS, ["Line a tin.", "Bake it.", "I liked it."], "instructions")


@pytest.mark.parametrize(
    ("key", "field", "source", "value"),
    [
        ("ingredients", ITEMS, "item", ["flour", "saffron"]),
        ("author", {"type": "array", "items": BYLINE}, "byline", ["Cy Day"]),
        ("prep_time", nullable(DURATION), "duration", "PT7M"),
    ],
)
def test_what_is_believed_besides_the_page_can_be_written_though_the_page_names_another(
    key: str, field: dict[str, Any], source: str, value: Any
) -> None:
    page = PIE + "<p>By Ann Lee</p><p>Prep time: 20 min"
    schema = load_schema({"type": "object", "properties": {key: field}, "required": [key]}).grammar_schema
    believed = value if isinstance(value, list) else [value]
    assert takes_record(page, schema, {key: value}, {source: believed})
    assert not takes_record(page, schema, {key: value})


def test_a_list_with_an_item_that_is_too_long_is_not_taken() -> None:
    short = {"type": "array", "items": {"type": "string", "x-source": "item", "maxLength": 10}}
    assert takes(PIE, short, ["flour", "salt", "sugar", "plums"])
    assert not takes(PIE, short, [*STEPS])


def test_a_name_behind_a_number_in_a_script_without_spaces_can_be_written() -> None:
    page = "<h1>新闻</h1><p>河南81家公司已复工75家王毅会见越南副总理"
    assert takes(page, SPAN, "王毅")
    assert takes(page, SPAN, "75家")
    assert not takes(page, SPAN, "5家"), "a number is one word"


def test_of_a_row_of_digits_an_amount_is_none_where_the_page_has_amounts_but_a_whole_number_may_be() -> None:
    page = "<h1>Receipt</h1><p>1170086176<p>Total 1.75"
    assert takes(page, NUMBER, 1.75)
    assert not takes(page, NUMBER, 1170086176)
    assert takes(page, {"type": "integer", "x-source": "number"}, 1170086176)
    assert takes("<h1>Receipt</h1><p>1170086176", NUMBER, 1170086176)
    assert takes("<h1>Funds</h1><p>1,170,086,176 in 3 years", NUMBER, 1170086176)


def test_the_name_of_a_page_is_the_heading_that_its_title_repeats_and_else_any_line() -> None:
    title = {"type": "string", "x-source": "title"}
    page = "<title>Leek soup | Spoon & Fork</title><h1>Leek soup</h1><h2>Leeks of Wales</h2><p>Eat it."
    assert takes(page, title, "Leek soup")
    assert not takes(page, title, "Leeks of Wales")
    assert takes(page.replace("<h1>Leek soup", "<h1>Soup of the day"), title, "Leeks of Wales")


def test_the_name_of_a_company_is_a_whole_line_without_its_registration_number() -> None:
    shop = {"type": "string", "x-source": "organization"}
    page = "<p>AEON CO. (M) BHD (126926-H)<p>3rd floor"
    assert takes(page, shop, "AEON CO. (M) BHD")
    assert not takes(page, shop, "BHD (126926-H)")
    assert not takes(page, shop, "AEON")


def test_an_address_begins_at_its_street_and_with_the_building_above_it_if_a_comma_says_so() -> None:
    page = "<p>Tan Sdn Bhd</p><p>{}</p><p>12 Jalan Besar</p><p>55100 Kuala Lumpur</p><p>{}</p>"
    street = "12 Jalan Besar, 55100 Kuala Lumpur"
    assert takes(page.format("Wisma Tan,", "Malaysia"), ADDRESS, f"Wisma Tan, {street}")
    assert not takes(page.format("Wisma Tan,", "Malaysia"), ADDRESS, street)
    assert takes(page.format("We thank you", "Malaysia"), ADDRESS, street)
    assert takes(page.format("We thank you", "Malaysia"), ADDRESS, f"{street}, Malaysia")
    assert not takes(page.format("We thank you", "Tax Invoice"), ADDRESS, f"{street}, Tax Invoice")
    assert takes(page.format("Zen and Coffee 28 S/B", "Malaysia"), ADDRESS, street)
    assert not takes(page.format("Zen and Coffee 28 S/B", "Malaysia"), ADDRESS, f"Zen and Coffee 28 S/B, {street}")


def test_a_bound_on_the_length_holds_for_what_the_page_states_too() -> None:
    page = (
        "<title>Leek soup of Wales | Spoon</title><h1>Leek soup of Wales</h1><h2>Spoons</h2><p>By Ann Leeson and Bo Chi"
    )
    assert takes(page, {"type": "string", "x-source": "title", "maxLength": 10}, "Spoons")
    assert not takes(page, {"type": "string", "x-source": "title", "maxLength": 10}, "Leek soup of Wales")
    authors = {"type": "array", "items": BYLINE | {"maxLength": 8}}
    assert takes(page, authors, ["Bo Chi"])
    assert not takes(page, authors, ["Ann Leeson", "Bo Chi"])


def test_names_between_long_rows_of_letters_can_be_written_again_and_again() -> None:
    letters = random.Random(3)
    rows = ("".join(letters.choices(ascii_letters + digits, k=1000)) for _ in range(100))
    page = "<h1>Keys</h1>" + "".join(f"<p>{row} Ann Lee</p>" for row in rows)
    assert takes(page, {"type": "array", "items": SPAN}, ["Ann Lee"] * 12)
