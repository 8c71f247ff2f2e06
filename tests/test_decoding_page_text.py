"""The page as sources search it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lookstruct.decoding.guessing.page_text import PageText, fold, occurrences, page_text


def atoms(text: str) -> list[str]:
    page = PageText(text)
    return [page.atom_text(i) for i in range(len(page.atoms))]


def test_lines_lose_their_markers_and_rows_fall_into_cells():
    assert atoms("# Title | Site\n- one\n- [ ] two\n[x] three\na | b\n\nc") == [
        *("Title | Site", "one", "two", "three", "a", "b", "c"),
    ]


def test_an_address_behind_a_link_is_an_atom_of_its_own():
    assert atoms("Read more (https://example.com/a), soon") == ["Read more", "https://example.com/a", ", soon"]


def test_lines_know_their_shape():
    page = PageText("## Head\n- x\na | b | c")
    assert [line.shape for line in page.lines] == [("##", 1), ("-", 1), ("", 3)]


def test_the_body_begins_at_the_heading_behind_the_title():
    assert PageText("# Lamp | Shop\nMenu\n# Lamp\n").body == 21
    assert PageText("# Lamp\ntext").body == 0


def test_values_are_found_as_whole_words_after_the_place_first():
    page = PageText("12 units\n120\n12 more")
    assert (page.find("12"), page.find("12", 3), page.find("12 more", 20), page.find("2")) == (0, 13, 13, None)


def test_white_space_and_quotation_marks_are_alike():
    assert PageText("Total:\u00a012 \u2019x\u2019").find("Total: 12 'x'") == 0


def test_scripts_without_spaces_may_be_cut_anywhere():
    assert PageText("商品朱泥急須椿です").find("朱泥急須") == 2


@given(st.text(max_size=120))
def test_folding_keeps_every_offset(text):
    assert len(fold(text)) == len(text)


@given(st.text(alphabet=st.sampled_from("ab |#-\n\t(["), max_size=80))
def test_atoms_are_apart_in_order_and_without_space_around(text):
    page = PageText(text)
    end = 0
    for i, (start, stop) in enumerate(page.atoms):
        assert end <= start < stop
        assert page.atom_text(i) == page.atom_text(i).strip() != ""
        assert page.atom_at(start) == i
        assert page.lines[page.line_of(i)].first <= i < page.lines[page.line_of(i)].last
        end = stop


def test_occurrences_stop_at_the_limit():
    assert occurrences("aaaa", "a", 0, 2) == [0, 1]


def test_one_page_is_read_once():
    assert page_text("some page") is page_text("some page")
