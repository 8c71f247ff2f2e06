"""Lists that no heading names, told by their looks: amounts, and the sentences behind them."""

import pytest
from listed import items, p, ul

from lookstruct.pipeline.holding.shapes import has_amount, is_text, meant

AMOUNTS = ("200 g flour", "2 eggs", "a pinch of salt", "½ cup sugar")
STEPS = ("Mix the flour with the eggs.", "Add the salt and the sugar, and stir.", "Bake it for an hour.")


def found(html: str, key: str) -> list[str]:
    return items(meant, html, key)


MENU = ul("Home", "Recipes", "About us")
INTRO = p("My grandmother made this pie every Sunday of the year.", "We loved it, and so will you and yours.")
MORE = p("Read on about pies here and there.")
PAGE = f"<h1>Pie</h1>{MENU}{INTRO}{ul(*AMOUNTS)}<div>{p(*STEPS)}</div><h2>More</h2>{MORE}"


def test_ingredients_are_the_list_with_amounts_and_steps_the_sentences_behind_it() -> None:
    assert found(PAGE, "ingredients") == list(AMOUNTS)
    assert found(PAGE, "instructions") == list(STEPS)


def test_other_lists_are_not_told_by_their_looks() -> None:
    assert found(PAGE, "features") == []
    assert found(f"<h1>News</h1>{MENU}{INTRO}", "ingredients") == []
    assert found(f"<h1>News</h1>{MENU}{INTRO}", "instructions") == [], "sentences without ingredients before them"


def test_the_parts_of_a_list_under_headings_of_their_own_are_one() -> None:
    shelves = {
        "Bread": ("1 loaf of rye",),
        "Produce": ("1 onion", "2 leeks", "3 limes"),
        "Pantry": ("4 eggs", "5 figs"),
        "Dairy": ("1 l milk",),
    }
    parts = "".join(f"<h2>{name}</h2>{ul(*items)}" for name, items in shelves.items())
    everything = [item for items in shelves.values() for item in items]
    assert found(f"<h1>Pie</h1>{parts}", "ingredients") == everything


def test_one_long_paragraph_behind_the_ingredients_holds_all_steps() -> None:
    text = " ".join(STEPS) * 2
    assert found(f"<h1>Pie</h1>{ul(*AMOUNTS)}<h2>Let us begin</h2><p>{text}</p>{MENU}", "steps") == [text]
    assert found(f"<h1>Pie</h1>{ul(*AMOUNTS)}<p>It is a good pie.</p>{MENU}", "steps") == []


def test_steps_end_at_a_heading_unless_it_only_counts_them() -> None:
    rest = "<h2>Tip</h2><p>Serve it with a little cream.</p>"
    counted = "".join(f"<h3>{n} Go on</h3><p>{text}</p>" for n, text in enumerate(STEPS, 1))
    assert found(f"<h1>Pie</h1><div>{ul(*AMOUNTS)}{p(*STEPS)}{rest}</div>", "steps") == list(STEPS)
    assert found(f"<h1>Pie</h1><div>{ul(*AMOUNTS)}{counted}{rest}</div>", "steps") == list(STEPS)


def test_named_steps_behind_the_ingredients_come_before_those_that_a_page_tells_in_passing() -> None:
    told = ("You stir it for a while, and that is all.", "Then you bake it as long as you like.")
    story = f"<h2>How to make it</h2>{ul(*told)}"
    card = f"<h2>Ingredients</h2>{ul(*AMOUNTS)}<h2>Instructions</h2>{ul(*STEPS)}"
    assert found(f"<h1>Pie</h1>{story}{card}", "instructions") == list(STEPS)
    assert found(f"<h1>Pie</h1>{story}<h2>Ingredients</h2>{ul(*AMOUNTS)}", "instructions") == list(told)


def test_numbers_typed_before_steps_are_no_part_of_them_but_a_bare_one_may_be_an_amount() -> None:
    card = f"<h1>Pie</h1><h2>Ingredients</h2>{ul('1 egg', '2 leeks', '3 limes')}<h2>Method</h2>"
    typed = ul(*(f"{n}. {text}" for n, text in enumerate(STEPS, 1)))
    bare = [f"{n} {text}" for n, text in enumerate(STEPS, 1)]
    assert found(card + typed, "steps") == list(STEPS)
    assert found(card + ul(*bare), "steps") == bare
    assert found(card + typed, "ingredients") == ["1 egg", "2 leeks", "3 limes"]


def test_a_named_list_that_looks_right_comes_before_a_named_one_that_does_not() -> None:
    pots = f"<h2>Ingredients A-Z</h2>{ul('Contact', 'Imprint', 'Privacy')}"
    assert found(f"<h1>Pie</h1><h2>Ingredients</h2>{ul(*AMOUNTS)}{p(*STEPS)}{pots}", "ingredients") == list(AMOUNTS)


def test_where_what_is_named_looks_wrong_the_looks_decide_and_else_the_name() -> None:
    tools = f"<h2>Ingredients</h2>{ul('oil', 'salt', 'pepper')}"
    assert found(f"<h1>Pie</h1>{ul(*AMOUNTS)}{tools}", "ingredients") == list(AMOUNTS)
    assert found(f"<h1>Pie</h1>{tools}", "ingredients") == ["oil", "salt", "pepper"]


def test_of_lines_under_a_heading_those_for_how_many_it_is_and_of_another_kind_are_none() -> None:
    lines = "".join(f"<div><p>{text}</p></div>" for text in AMOUNTS)
    page = f"<h1>Pie</h1><h2>Ingredients</h2><span><b><i><p>Scale</p></i></b></span><div><p>4 servings</p></div>{lines}"
    assert found(page, "ingredients") == list(AMOUNTS)


def test_a_line_that_says_what_the_next_ingredients_are_for_is_none() -> None:
    page = f"<h1>Pie</h1><h2>Ingredients</h2>{ul('For the crust:', *AMOUNTS)}"
    assert found(page, "ingredients") == list(AMOUNTS)


def test_a_second_list_right_behind_the_named_one_belongs_to_it() -> None:
    more = ("2 gherkins", "1 clove of garlic", "mint", "olive oil")
    page = f"<h1>Kebab</h1><section><h2>Ingredients</h2>{ul(*AMOUNTS)}<h2>Salsa</h2>{ul(*more)}</section>"
    assert found(page, "ingredients") == [*AMOUNTS, *more]
    facts = ("Fat", "Salt", "Sugar", "Water", "3 g fibre")
    assert found(
        page.replace("".join(f"<li>{one}</li>" for one in more), "".join(f"<li>{one}</li>" for one in facts)),
        "ingredients",
    ) == list(AMOUNTS)


@pytest.mark.parametrize(
    "line", ["250: g Möhren", "1 1/2 cups milk", "1-2 leeks, sliced", "Farine 200 g", "ごぼう 80g", "¼ onion"]
)
def test_a_line_with_an_amount(line: str) -> None:
    assert has_amount(line)


@pytest.mark.parametrize(
    "line", ["", "1", "1 h 20 min", "30 minutes", "4.5/5", "Bake 20 g of it now.", "Contact us", "x" * 130]
)
def test_a_line_without_an_amount(line: str) -> None:
    assert not has_amount(line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Mix well, then bake it.", True),
        ("卵をおたまでそっと入れておく。", True),
        ("Mix.", False),
        ("Mix it well and then bake it", False),
    ],
)
def test_a_line_of_text_ends_as_a_sentence_does(line: str, expected: bool) -> None:
    assert is_text(line) is expected
