"""What a page is about, as keywords would say it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lookstruct.decoding.guessing.page_text import PageText
from lookstruct.decoding.guessing.topics import MOST, topics


def test_words_of_headings_and_repeated_names_come_first_and_particles_not_at_all():
    page = PageText(
        "# A ferry to Pender Point\nThe ferry leaves with the tide. With it Pender Point sleeps. With luck."
    )
    found = topics(page)
    assert found[:2] == ["Pender Point", "ferry"]
    assert "with" not in found


def test_a_long_word_counts_once_it_is_said_often():
    assert topics(PageText("Turbines hum. " * 3)) == ["turbines"]
    assert topics(PageText("Turbines hum. " * 2)) == []


@given(st.text(max_size=400))
def test_any_text_gives_a_few_distinct_topics(text: str):
    found = topics(PageText(text))
    assert len(found) == len(set(found)) <= MOST
