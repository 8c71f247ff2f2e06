"""Blocks that are parts of one thing: what the model sees of them, and what a line field may say."""

from hypothesis import given
from hypothesis import strategies as st

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.holding.items import split_items
from lookstruct.pipeline.holding.marks import counters, uncounted, unnumbered, without_common_end
from lookstruct.pipeline.holding.offers import PageOffers, telling_durations
from lookstruct.pipeline.values.found import find_all
from lookstruct.pipeline.view import show
from lookstruct.schemas.document import Document, Page

AMOUNTS = "<ul><li><b>2 cups</b><p>flour</p></li><li><b>1</b><p>onion</p></li><li><p>Salt</p><p>to taste</p></li></ul>"
COUNTED = "<ol><li><div>1</div><div>Whisk the eggs.</div></li><li><div>2</div><div>Bake them.</div></li></ol>"
TIMES = "<p>Prep: 10 min</p><p>{}Simmer for 5 minutes.</p>".format("Stir well and often. " * 10)


def read(html: str) -> Document:
    return clean(Page("https://a.example/", "https://a.example/", html))


def lines(html: str) -> tuple[str, ...]:
    page = read(html)
    return PageOffers(page, page.blocks, find_all(page)).lines


def shown(html: str) -> str:
    page = read(html)
    return show(page, page.blocks).text


def test_an_amount_and_what_it_is_of_read_as_one_line() -> None:
    assert shown(AMOUNTS) == "- 2 cups flour\n- 1 onion\n- Salt to taste"


def test_an_item_over_several_lines_can_be_written_whole_and_not_in_parts() -> None:
    assert lines(AMOUNTS) == ("2 cups flour", "1 onion", "Salt to taste")


def test_the_view_of_a_joined_item_leads_back_to_the_page() -> None:
    page = read(AMOUNTS)
    view = show(page, page.blocks)
    at = view.from_document(page.text.index("flour"))
    assert at is not None
    assert view.text[at : at + 5] == "flour"


def test_a_number_that_counts_a_step_is_no_line_and_no_part_of_one() -> None:
    assert lines(COUNTED) == ("Whisk the eggs.", "Bake them.")
    assert lines("<p>Step 1 Whisk.</p><p>Step 2Bake.</p>") == ("Whisk.", "Bake.")


def test_amounts_in_boxes_of_their_own_are_joined_where_several_stand_together() -> None:
    row = "<div><div>250 g</div><div>curd</div></div>"
    assert lines(f"<section>{row}{row.replace('curd', 'flour')}</section>") == ("250 g curd", "250 g flour")
    assert lines(f"<section>{row}<p>Mix.</section>") == ("250 g", "curd", "Mix.")


def test_an_amount_its_thing_and_a_remark_in_boxes_of_three_are_joined_with_single_lines_between() -> None:
    boxes = [
        "<div>1 db</div><div>patisszon</div><div>(1 kg)</div>",
        "<div>salt</div>",
        "<div>2 ek</div><div>zsír</div>",
    ]
    assert lines("".join(f"<div>{box}</div>" for box in boxes)) == ("1 db patisszon (1 kg)", "salt", "2 ek zsír")


def test_cards_of_products_stay_lines() -> None:
    cards = "".join(f"<div><div>{price}</div><div>Lamp</div><div>In stock</div></div>" for price in ("$19.99", "5 EUR"))
    assert lines(f"<section>{cards}</section>") == ("$19.99", "Lamp", "In stock", "5 EUR")
    rated = "".join(f"<div><div>{n} reviews</div><div>Lamp</div><div>In stock</div></div>" for n in (12, 40))
    assert lines(f"<section>{rated}</section>") == ("12 reviews", "Lamp", "In stock", "40 reviews")
    named = "<div><div>$9</div><div>Lamp</div></div><div><div>7 kr</div><div>Desk</div></div>"
    assert lines(f"<section>{named}</section>") == ("$9", "Lamp", "7 kr", "Desk")


def test_numbers_and_lines_in_turn_in_one_box_are_joined_and_the_lines_between_stay_alone() -> None:
    page = (
        "<p>¼</p><div>cup cranberries</div><p>2</p><div>1½-inch-thick chops</div><div>Salt</div><p>4</p><div>figs</div>"
    )
    assert lines(f"<section>{page}</section>") == ("¼ cup cranberries", "2 1½-inch-thick chops", "Salt", "4 figs")
    assert lines("<section><p>2</p><p>figs</p><p>Mix.</p><p>3</p><p>Eat.</p></section>")[:2] == ("2", "figs")


def test_a_line_and_the_paragraph_in_its_element_are_joined() -> None:
    row = "<div>{}<label><p>{}</p></label></div>"
    rows = row.format("4", "eggs") + row.format("", "bread") + row.format("½ cup", "feta")
    assert lines(f"<section>{rows}</section>") == ("4 eggs", "bread", "½ cup feta")


def test_sizes_one_under_the_other_stay_lines() -> None:
    assert lines("<ul><li>1</li><li>2</li><li>3</li></ul>") == ("1", "2", "3")


def test_labels_and_values_in_turn_read_as_pairs_and_a_heading_does_not() -> None:
    assert shown("<p>Yield:</p><p>8</p><p>Total:</p><p>3 hrs</p>") == "Yield: 8\nTotal: 3 hrs"
    assert shown("<p>Ingredients:</p><p>1 egg</p><p>2 limes</p>") == "Ingredients:\n1 egg\n2 limes"


def test_times_inside_running_text_are_offered_only_where_no_line_states_one() -> None:
    page = read(TIMES)
    assert [found.value for found in telling_durations(page, find_all(page).durations)] == ["PT10M"]
    prose = read(TIMES.partition("</p>")[2])
    assert [found.value for found in telling_durations(prose, find_all(prose).durations)] == ["PT5M"]


@given(st.lists(st.text(max_size=12), max_size=8))
def test_counters_are_lines_and_leave_the_text_of_others(texts: list[str]) -> None:
    assert all(0 <= number < len(texts) for number in counters(texts))
    assert all(text.endswith(unnumbered(text)) for text in texts)


def test_nothing_is_joined_where_there_are_no_lists() -> None:
    page = read("<p>2 cups</p><p>flour</p>")
    assert split_items(page, page.blocks) == []


def test_only_a_checkbox_before_a_line_is_no_part_of_it() -> None:
    assert lines("<p><input type=checkbox> Salt<p>1x <input type=checkbox checked> 2x") == ("Salt", "1x [x] 2x")


def test_where_most_items_of_a_list_are_one_line_over_several_all_are() -> None:
    rows = [
        "<li>2 cups<div>flour</div></li>",
        "<li>1 onion<div>chopped</div></li>",
        "<li>parmesan<div>to serve</div></li>",
    ]
    assert lines(f"<ul>{''.join(rows)}</ul>") == ("2 cups flour", "1 onion chopped", "parmesan to serve")
    notes = ["<li>2 cups<div>flour</div></li>", "<li>Tip<div>Sift it.</div></li>", "<li>Or<div>Buy it.</div></li>"]
    assert "Tip" in lines(f"<ul>{''.join(notes)}</ul>")


def test_an_amount_in_a_box_before_the_text_of_the_box_around_it_is_one_line_with_it() -> None:
    row = "<div><div>{}</div>{}</div>"
    boxes = "".join(f"<section>{row.format(a, b)}</section>" for a, b in [("350 g", "leeks"), ("2 dl", "milk")])
    assert lines(f"<div>{boxes}</div>") == ("350 g leeks", "2 dl milk")


def test_a_button_beside_each_item_of_a_list_is_no_line() -> None:
    steps = "".join(f"<li><div>Done</div><div>{text}</div></li>" for text in ("Whisk it.", "Bake it.", "Eat it."))
    assert lines(f"<ol>{steps}</ol>") == ("Whisk it.", "Bake it.", "Eat it.")
    assert lines("<ul><li>Salt</li><li>Milk</li><li>Salt</li></ul>") == ("Salt", "Milk"), (
        "an item alone in its place stays"
    )


def test_a_link_that_ends_every_item_of_a_list_is_no_part_of_it() -> None:
    page = read(
        "<ul>"
        + "".join(f"<li>{text} <a>add to list</a></li>" for text in ("2 eggs", "salt", "a cup of milk"))
        + "</ul>"
    )
    assert [run.items for run in PageOffers(page, page.blocks, find_all(page)).page_lines.runs] == [
        (("2 eggs",), ("salt",), ("a cup of milk",))
    ]


@given(st.lists(st.text(st.characters(categories=("L", "Zs")), min_size=1), max_size=6))
def test_without_their_common_end_lines_are_beginnings_of_what_they_were(some: list[str]) -> None:
    shorter = without_common_end(some)
    assert len(shorter) == len(some)
    assert all(
        " ".join(line.split()).startswith(short) or line == short for line, short in zip(some, shorter, strict=True)
    )


def test_numbers_typed_before_items_are_no_part_of_them_if_they_count_them_all() -> None:
    def of(*texts: str) -> list[str]:
        return [spellings[0] for spellings in uncounted([(text,) for text in texts])]

    assert of("1. Whisk.", "2. Bake.") == ["Whisk.", "Bake."]
    assert of("1Whisk.", "2Bake.") == ["Whisk.", "Bake."]
    assert of("1. Whisk.", "2. Bake.", "Advertisement") == ["Whisk.", "Bake.", "Advertisement"]
    assert of("1 egg", "2 onions") == ["1 egg", "2 onions"]
    assert of("2. Bake.", "3. Eat.") == ["2. Bake.", "3. Eat."]
    assert of("1. Whisk.") == ["1. Whisk."]
    assert of("1. Whisk.", "Bake.", "Eat.") == ["1. Whisk.", "Bake.", "Eat."]


def test_a_typed_bullet_is_no_part_of_a_line() -> None:
    assert lines("<p>• 50 g butter</p><p>- salt</p><p>-5 degrees</p>") == ("50 g butter", "salt", "-5 degrees")


def test_small_headings_one_after_another_are_the_lines_that_they_look_like() -> None:
    rows = "".join(f"<h5>{text}</h5>" for text in ("50 g butter", "2 eggs", "1 dl milk", "salt"))
    page = read(f"<h1>Pie</h1><h4>Ingredients</h4>{rows}<h4>Method</h4><p>Bake it.</p>")
    runs = PageOffers(page, page.blocks, find_all(page)).page_lines.runs
    assert [run.items[0][0] for run in runs if "Ingredients" in run.names] == [
        "50 g butter",
        "2 eggs",
        "1 dl milk",
        "salt",
    ]
