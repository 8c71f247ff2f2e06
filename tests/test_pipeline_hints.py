from lookstruct.extractors.clean import clean
from lookstruct.pipeline.hints import make_hints
from lookstruct.pipeline.view import show
from lookstruct.schemas.document import Page
from lookstruct.schemas.loader import load_schema


def test_hints_hold_the_view_the_rows_and_the_schema_of_the_grammar() -> None:
    html = """<nav><ul><li>Home</ul></nav><p>Text<table><tr><th>Name<th>Price</tr><tr><td>Mora<td>45.50</tr></table>
    <ul><li>Free delivery</ul>"""
    document = clean(Page("", "https://shop.example/", html))
    schema = load_schema("name: str")
    view = show(document, document.blocks)
    hints = make_hints(document, view, schema)
    assert hints.page == view.text
    assert hints.rows == (("Name", "Price"), ("Mora", "45.50"), ("Free delivery",))
    assert hints.schema == schema.grammar_schema


def test_candidates_stand_where_the_view_shows_them_and_only_if_it_does() -> None:
    html = "<nav><a href=/x>Home 7 items</a></nav><h1>Lamp</h1><p>Price: 45.50 EUR and a long enough text to be a page."
    document = clean(Page("", "https://shop.example/", html))
    shown = [block for block in document.blocks if not block.boilerplate]
    view = show(document, shown)
    hints = make_hints(document, view, load_schema("name: str"))
    prices = [candidate for candidate in hints.candidates if candidate.kind == "price"]
    assert [(price.text, price.label) for price in prices] == [("45.50", "Price")]
    assert hints.page[prices[0].start :].startswith("45.50")
    assert all(0 <= candidate.start < len(hints.page) for candidate in hints.candidates)
    assert not any("Home" in candidate.text for candidate in hints.candidates)
