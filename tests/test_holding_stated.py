"""Which of the page's lists and lines the page itself says to be a field's."""

from listed import items, p, ul

from lookstruct.pipeline.holding.stated import stated

STEPS = (
    "Melt the butter in a large pan over medium heat until it foams up.",
    "Add the pears and stir until they are soft and brown on all sides.",
    "Let them cool in the pan for half an hour before you serve them.",
)


def told(html: str, key: str = "instructions") -> list[str]:
    return items(stated, html, key)


def test_sentences_right_under_the_heading_come_before_a_list_of_something_else() -> None:
    page = f"<h1>Pears</h1><h2>Directions</h2>{p(*STEPS)}<p>Nutrition</p>{ul('Calories: 90', 'Fat: 2 g', 'Salt: 1 g')}"
    assert told(page) == list(STEPS)
    longer = page.replace("Calories: 90", "Calories: 90, most of them from the butter. " * 9)
    assert told(longer) == list(STEPS)


def test_short_lines_come_first_where_they_are_more_text_than_the_lists() -> None:
    eggs = ["4 large fresh eggs", "a spoon of butter"]
    page = f"<h1>Eggs</h1><h2>Ingredients</h2>{p(*eggs)}<p>Tags</p>{ul('Egg', 'Brunch')}"
    assert told(page, "ingredients") == eggs
    notes = f"<h1>Eggs</h1><h2>Ingredients</h2>{p('4 servings')}<p>Metric</p>{ul('4 large eggs', '10 g of butter')}"
    assert told(notes, "ingredients") == ["4 large eggs", "10 g of butter"]


def test_of_text_with_labels_and_times_between_only_the_text_is_taken() -> None:
    times = "<div><div>40 min</div><div>Working time</div></div>"
    steps = "".join(f"<div>{n}<p>{text}</p></div>" for n, text in enumerate(STEPS, 1))
    assert told(f"<h1>Pears</h1><section><h2>Directions</h2>{times}{steps}</section>") == list(STEPS)


def test_a_text_behind_many_short_lines_is_none_of_them() -> None:
    short = [f"{n} spoons of plums" for n in range(2, 9)]
    rows = "".join(f"<div><b>{text}</b></div>" for text in short)
    page = f"<h1>Pie</h1><h2>Ingredients</h2><section>{rows}</section>{p(*STEPS)}"
    assert told(page, "ingredients") == short


def test_short_lines_of_many_shapes_are_not_dropped_for_the_text_behind_them() -> None:
    short = [f"{n} spoons of plums" for n in range(2, 9)]
    rows = "".join(f"<div>{'<div>' * n}{text}{'</div>' * n}</div>" for n, text in enumerate(short))
    page = f"<h1>Pie</h1><section><h2>Ingredients</h2>{rows}{p(*STEPS)}</section>"
    assert told(page, "ingredients") == short


def test_the_rows_of_a_table_under_the_heading_are_items() -> None:
    rows = "<tr><td>600 g</td><td>plums</td></tr><tr><td></td><td>salt</td></tr>"
    assert told(f"<h1>Pie</h1><h2>Zutaten</h2><table>{rows}</table>", "ingredients") == ["600 g plums", "salt"]
    header = "<tr><th>Amount</th><th>What</th></tr>"
    assert "600 g plums" not in told(f"<h1>Pie</h1><h2>Zutaten</h2><table>{header}{rows}</table>", "ingredients")


def test_a_single_line_under_a_heading_is_no_list() -> None:
    assert told(f"<h1>Pie</h1><h2>Directions</h2>{p(STEPS[0])}") == []


def test_a_list_that_repeats_one_above_is_left_out_and_one_that_adds_to_it_is_not() -> None:
    first, again = ul("400 g plums", "salt", "2 eggs"), ul("400g Plums", "Salt", "sugar")
    page = f"<h1>Pie</h1><h2>Ingredients</h2>{first}<p>{STEPS[0]}</p><h2>All ingredients</h2>{{}}"
    assert told(page.format(again), "ingredients") == ["400 g plums", "salt", "2 eggs"]
    more = ul("salt", "flour", "milk")
    assert told(page.format(more), "ingredients") == ["400 g plums", "salt", "2 eggs", "salt", "flour", "milk"]


def test_rows_of_deep_boxes_are_lines_of_one_kind() -> None:
    row = "<div><div><img><div><p>{} g</p><p>{}</p></div></div></div>"
    rows = "".join(row.format(n, name) for n, name in ((30, "flour"), (40, "butter"), (50, "sugar")))
    page = f"<h1>Pie</h1><section><h2>Ingredients</h2><div>{rows}</div></section><footer><p>Imprint</p></footer>"
    assert told(page, "ingredients") == ["30 g flour", "40 g butter", "50 g sugar"]
