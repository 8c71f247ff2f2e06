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
