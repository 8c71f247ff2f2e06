"""Which list items are one list to a person, whatever small headings part it."""

import pytest

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.holding.field_names import is_other_section
from lookstruct.pipeline.holding.whole_lists import names_above, whole_lists
from lookstruct.schemas.document import BlockKind, Page


def lists(html: str) -> list[list[str]]:
    page = clean(Page("https://a.example/", "https://a.example/", html))
    items = [n for n, block in enumerate(page.blocks) if block.kind is BlockKind.LIST_ITEM]
    runs = whole_lists(page, page.blocks, items, is_other_section)
    return [[page.blocks[n].span.of(page.text) for n in run] for run in runs]


def ul(*items: str) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def test_small_headings_part_one_list_under_a_larger_heading() -> None:
    page = f"<h1>Pie</h1><h2>You need</h2><h3>Crust</h3>{ul('flour', 'salt')}<h3>Filling</h3>{ul('plums')}<h2>Tips</h2>"
    assert lists(page + ul("rest it")) == [["flour", "salt", "plums"], ["rest it"]]


def test_short_lines_of_the_same_kind_part_one_list() -> None:
    page = f"<h1>Pie</h1><h3>You need</h3><div><p>Crust</p>{ul('flour')}<p>Filling</p>{ul('plums')}</div>"
    assert lists(page) == [["flour", "plums"]]


def test_a_smaller_heading_goes_on_with_a_list_that_notes_open() -> None:
    page = f"<h1>Pie</h1><h2>You need</h2><p>4 servings</p>{ul('flour', 'salt')}<h3>Filling</h3>{ul('plums')}"
    assert lists(page) == [["flour", "salt", "plums"]]


def test_a_smaller_heading_that_names_something_else_ends_a_list() -> None:
    page = f"<h1>Pie</h1><h2>Ingredients</h2>{ul('flour')}<h3>Method</h3>{ul('mix it')}"
    assert lists(page) == [["flour"], ["mix it"]]
    assert lists(page.replace("Method", "Ingredients of the crust")) == [["flour", "mix it"]]


def test_headings_inside_a_list_element_do_not_end_it() -> None:
    assert lists("<ol><li><h4>Crust</h4><p>Mix.</p></li><li><h4>Filling</h4><p>Stone.</p></li></ol>") == [
        ["Mix.", "Stone."]
    ]


def test_an_item_and_the_items_under_it_are_one_list() -> None:
    assert lists(f"<ul><li>Crust {ul('flour', 'salt')}</li><li>Filling</li></ul>") == [
        ["Crust", "flour", "salt", "Filling"]
    ]


@pytest.mark.parametrize(
    "page",
    [
        f"<h1>Pie</h1><h2>You need</h2>{ul('flour')}<h2>Do this</h2>{ul('mix it')}",
        f"<h1>Pie</h1><p>You need</p>{ul('flour')}<p>Do this</p>{ul('mix it')}",
        f"<h1>Pie</h1><h2>Pie</h2><h3>You need</h3>{ul('flour')}<h3>Do this</h3>{ul('mix it')}",
        f"<h2>Card</h2><h3>You need</h3>{ul('flour')}<h3>Do this</h3>{ul('Mix it with cold water, rest it')}",
        f"<h2>Card</h2><h3>You need</h3>{ul('flour')}<h3>Do this</h3><ol><li>mix it</li></ol>",
        f"<h2>Card</h2><h3>You need</h3>{ul('flour')}<p>{'Have all of it at hand. ' * 3}</p>{ul('mix it')}",
        f"<nav>{ul('Home')}</nav><main>{ul('flour')}</main>",
    ],
)
def test_lists_that_are_not_parts_of_one_stay_apart(page: str) -> None:
    assert len(lists(page)) == 2


def names(html: str) -> tuple[str, ...]:
    page = clean(Page("https://a.example/", "https://a.example/", html))
    first = next(n for n, block in enumerate(page.blocks) if block.kind is BlockKind.LIST_ITEM)
    return names_above(page, page.blocks, first)


def test_what_stands_right_above_a_list_names_it() -> None:
    assert names(f"<h1>Pie</h1><h2>You need</h2><p>for four</p><h3>Crust</h3>{ul('flour')}") == (
        *("Crust", "You need", "Pie"),
    )


def test_a_line_between_the_heading_and_the_list_names_it_as_well() -> None:
    assert names(f"<h2>Pie</h2><p>You need</p>{ul('flour')}") == ("You need", "Pie")
    assert names(f"<h3>You need</h3><h3>for four</h3>{ul('flour')}") == ("for four", "You need")


def test_another_section_names_no_list() -> None:
    assert names(f"<h2>Before</h2><p>Rest it.</p><h2>You need</h2>{ul('flour')}") == ("You need",)
    assert names(f"<h2>You need</h2><p>{'All of it at hand. ' * 9}</p>{ul('flour')}") == ()


def test_a_heading_inside_a_list_does_not_end_what_names_it() -> None:
    page = "<p>Zutaten für 10</p><ul><li><h3>Teig</h3></li><li>flour</li><li><h3>Belag</h3></li><li>plums</li></ul>"
    assert names(page)[:2] == ("Teig", "Zutaten für 10")
