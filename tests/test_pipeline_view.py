from hypothesis import given
from hypothesis import strategies as st

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.view import PageView, Remark, show, worth_showing
from lookstruct.schemas.document import Block, BlockKind, Document, Page, Span

MARKUP = """<html><head><title>Shop</title></head><body>
<nav><a href="/home">Home</a></nav>
<h2>Lamps</h2><p>All of <a href="/brass">brass</a> and tin.</p>
<ul><li>Desk<ul><li>Small</li></ul></li></ul>
<table><tr><th>Name<th>Price</tr><tr><td>Mora<td>45.50</tr></table>
</body></html>"""


def document(html: str = MARKUP) -> Document:
    return clean(Page("https://shop.example/", "https://shop.example/", html))


def blocks_of(texts: list[tuple[str, bool]]) -> Document:
    """A document of paragraphs: text, and whether it is boilerplate."""
    blocks, at = [], 0
    for text, boilerplate in texts:
        blocks.append(Block(BlockKind.PARAGRAPH, Span(at, at + len(text)), "p", boilerplate))
        at += len(text) + 1
    return Document("", "\n".join(text for text, _ in texts), tuple(blocks))


def test_kinds_are_marked_and_stand_on_lines_of_their_own() -> None:
    page = document()
    assert show(page, [block for block in page.blocks if not block.boilerplate]).text == (
        "# Shop\n\n## Lamps\nAll of brass and tin.\n- Desk\n  - Small\nName | Price\nMora | 45.50"
    )


def test_links_are_shown_behind_their_text_only_when_asked() -> None:
    page = document()
    paragraph = [block for block in page.blocks if block.kind is BlockKind.PARAGRAPH and not block.boilerplate]
    assert show(page, paragraph).text == "All of brass and tin."
    assert show(page, paragraph, links=True).text == "All of brass (https://shop.example/brass) and tin."


def test_links_to_places_on_the_page_files_and_mail_are_no_addresses_of_pages() -> None:
    page = document("<p><a href=#top>Up</a> <a href=mailto:a@b.example>Mail</a> <a href=file:///x>File</a>")
    assert show(page, page.blocks, links=True).text == "Up Mail File"


def test_every_copied_range_leads_back_to_the_same_text_of_the_document() -> None:
    page = document()
    view = show(page, page.blocks, links=True)
    assert "".join(piece.span.of(page.text) for piece in view.pieces) == page.text.replace("\n", "")
    for piece in view.pieces:
        here = Span(piece.start, piece.end)
        assert here.of(view.text) == piece.span.of(page.text)
        assert view.to_document(here) == piece.span


def test_a_value_inside_a_line_maps_to_its_own_place_and_a_marker_to_none() -> None:
    page = document()
    view = show(page, page.blocks)
    at = view.text.index("45.50")
    found = view.to_document(Span(at, at + 5))
    assert found is not None
    assert found.of(page.text) == "45.50"
    assert view.to_document(Span(view.text.index("##"), view.text.index("##") + 1)) is None
    assert view.to_document(Span(0, len(view.text))) is None


def test_sums_under_a_table_stand_apart_as_label_and_value() -> None:
    page = document(
        "<table><tr><th>Item<th>Count<th>Price</tr><tr><td>Lamp<td>2<td>9.00</tr>"
        "<tr><td colspan=2>Total<td>18.00</tr></table><p>Thanks"
    )
    view = show(page, page.blocks)
    assert view.text == "Item | Count | Price\nLamp | 2 | 9.00\n\nTotal: 18.00\n\nThanks"
    at = view.text.index("18.00")
    found = view.to_document(Span(at, at + 5))
    assert found is not None
    assert found.of(page.text) == "18.00"


def test_two_columns_without_headers_are_labels_and_values_and_with_headers_a_table() -> None:
    plain = document("<p>x<table><tr><td>Number<td>17</tr><tr><td>Due<td>May</tr></table>")
    headed = document("<table><tr><th>Item<th>Price</tr><tr><td>Tea<td>3</tr></table>")
    assert show(plain, plain.blocks).text == "x\n\nNumber: 17\nDue: May"
    assert show(headed, headed.blocks).text == "Item | Price\nTea | 3"


def test_remarks_stand_behind_their_place_and_belong_to_no_place_of_the_page() -> None:
    page = document("<p>Due 3 May 2024 or later")
    view = show(page, page.blocks, remarks=[Remark(14, " (2024-05-03)")])
    assert view.text == "Due 3 May 2024 (2024-05-03) or later"
    at = view.text.index("2024-05-03")
    assert view.to_document(Span(at, at + 10)) is None
    assert view.from_document(page.text.index("or")) == view.text.index("or")


def test_what_the_view_does_not_show_has_no_offset_in_it() -> None:
    page = document()
    shown = [block for block in page.blocks if not block.boilerplate]
    view = show(page, shown)
    assert view.from_document(page.text.index("Home")) is None
    assert view.from_document(page.text.index("45.50")) == view.text.index("45.50")
    assert view.from_document(len(page.text) + 5) is None


def test_an_empty_view_maps_nothing() -> None:
    assert PageView("", ()).to_document(Span(0, 0)) is None


def test_boilerplate_is_left_out_when_enough_remains() -> None:
    page = blocks_of([("Home About Contact", True), ("x" * 30, False), ("Imprint", True)])
    assert worth_showing(page) == (page.blocks[1],)


def test_boilerplate_is_kept_when_it_is_most_of_a_short_page() -> None:
    page = blocks_of([("The whole page was taken for a banner " * 5, True), ("OK", False)])
    assert worth_showing(page) == page.blocks


def test_boilerplate_is_left_out_however_long_it_is_when_the_content_is_long_enough() -> None:
    page = blocks_of([("menu " * 5000, True), ("content " * 60, False)])
    assert worth_showing(page) == (page.blocks[1],)


def test_a_page_of_boilerplate_alone_is_shown() -> None:
    page = blocks_of([("Home", True)])
    assert worth_showing(page) == page.blocks


@given(st.lists(st.tuples(st.text(min_size=1, max_size=20), st.sampled_from(list(BlockKind))), max_size=8))
def test_any_blocks_give_a_view_whose_pieces_spell_the_document(parts: list[tuple[str, BlockKind]]) -> None:
    blocks, at = [], 0
    for text, kind in parts:
        blocks.append(Block(kind, Span(at, at + len(text)), "p", level=1))
        at += len(text) + 1
    page = Document("", "\n".join(text for text, _ in parts), tuple(blocks))
    view = show(page, page.blocks)
    for (text, _), piece in zip(parts, view.pieces, strict=True):
        assert view.text[piece.start : piece.end] == text == piece.span.of(page.text)


def test_a_title_that_repeats_a_heading_is_shown_as_the_name_and_the_site() -> None:
    page = document("<title>Leek soup for two | Spoon &amp; Fork</title><h1>Leek soup for two</h1><p>Serves 2")
    view = show(page, worth_showing(page))
    assert view.text == "# Leek soup for two\nSpoon & Fork\n\n# Leek soup for two\nServes 2"
    spoon = view.text.index("Spoon")
    assert view.to_document(Span(spoon, spoon + 5)) == Span(page.text.index("Spoon"), page.text.index("Spoon") + 5)


def test_a_title_that_begins_with_the_site_is_parted_as_well() -> None:
    page = document("<title>Spoon &amp; Fork: Leek soup for two</title><h1>Leek soup for two</h1>")
    assert show(page, worth_showing(page)).text == "Spoon & Fork\n\n# Leek soup for two\n\n# Leek soup for two"


def test_a_smaller_heading_in_a_title_is_not_the_name_of_the_page() -> None:
    page = document("<title>Rain by Ann Lee (Paperback)</title><h2>Rain (Paperback)</h2><h3>by Ann Lee</h3>")
    assert show(page, worth_showing(page)).text.startswith("# Rain by Ann Lee (Paperback)\n")


def test_a_title_that_says_something_else_is_shown_whole() -> None:
    page = document("<title>Spoon &amp; Fork</title><h1>Leek soup for two</h1>")
    assert show(page, worth_showing(page)).text == "# Spoon & Fork\n\n# Leek soup for two"


CELLS = st.lists(st.sampled_from(["", "Total", "5", "x y"]), min_size=1, max_size=5)


@given(st.lists(CELLS, min_size=1, max_size=5), st.booleans())
def test_a_table_of_any_shape_is_shown_with_all_that_its_cells_say(rows: list[list[str]], headed: bool) -> None:
    """A sum whose value cell is empty once ended the whole page."""
    tag = "th" if headed else "td"
    lines = ["".join(f"<{tag if i == 0 else 'td'}>{cell}" for cell in row) for i, row in enumerate(rows)]
    page = document(f"<p>Before</p><table><tr>{'<tr>'.join(lines)}</table><p>After</p>")
    shown = show(page, page.blocks).text
    assert sorted(shown.replace("|", " ").replace(":", " ").split()) == sorted(
        ["Before", "After", *" ".join(cell for row in rows for cell in row).split()]
    )
