"""Text found in text: whole words, any white space, right offsets in every script."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lookstruct.pipeline.grounding.matching import Likeness, TextIndex
from lookstruct.pipeline.grounding.tokens import tokenize


def texts(page: str, value: str) -> list[str]:
    return [match.span.of(page) for match in TextIndex(page).find(value)]


def likeness(page: str, value: str) -> Likeness:
    (match,) = TextIndex(page).find(value)
    return match.likeness


@pytest.mark.parametrize(
    ("page", "value"),
    [
        ("in 2012", "12"), ("12.50", "12"), ("1,234", "234"), ("A-12", "12"), ("INV-2022-001", "001"), ("12:30", "12"),
        ("Mainz", "Main"), ("art", "a"), ("info@example.com", "example"), ("www.example.com", "example"), ("x_y", "y"),
        ("C++", "C"), ("C#", "C"), ("50%", "50"), ("10²", "102"), ("résumé", "resume"), ("1.5", "15"),
        ("Jose\u0301", "Jose"), ("1/2/2024", "1/2"), ("1,000 g", "1.000 g"), ("C", "C#"), ("5", "5%"), ("5", "-5"),
    ],
)  # fmt: skip
def test_a_value_inside_another_word_or_number_is_no_match(page: str, value: str) -> None:
    assert texts(page, value) == []


@pytest.mark.parametrize(
    ("page", "value", "found"),
    [
        ("1  kg\u00a0of\n\ttea", "1 kg of tea", "1  kg\u00a0of\n\ttea"),
        ("Unit 4, Paintworks\nYard", "Unit 4, Paintworks Yard", "Unit 4, Paintworks\nYard"),
        ("see C++.", "C++", "C++"),
        ("(C#)", "C#", "C#"),
        ("共12個", "12", "12"),
        ("NTT東日本", "東日本", "東日本"),
        ("東京都千代田区", "千代田区", "千代田区"),
        ("rated 👍🏽!", "👍🏽", "👍🏽"),
        ("5kg", "kg", "kg"),
        ("rated 4.2/5 -\n12 votes", "4.2/5 -", "4.2/5 -"),
        ("% of a day\n", "% of a day", "% of a day"),
        ("fat 17\u00a0% of it", "17 %", "17\u00a0%"),
        ("★★★★☆", "★★★★☆", "★★★★☆"),
        ("***", "***", "***"),
    ],
)
def test_a_value_is_exact_up_to_white_space(page: str, value: str, found: str) -> None:
    assert (texts(page, value), likeness(page, value)) == ([found], Likeness.SAME)


@pytest.mark.parametrize(
    ("page", "value", "expected"),
    [
        ("“Fish & Chips” – it's", '"Fish & Chips" - it’s', Likeness.SPELLING),
        ("TOTAL DUE", "Total due", Likeness.SPELLING),
        ("Cafe\u0301", "Café", Likeness.SPELLING),
        ("ﬁnal", "final", Likeness.SPELLING),
        ("ＡＢＣ１２", "ABC12", Likeness.SPELLING),
        ("co\u00adope\u00adrate", "cooperate", Likeness.SPELLING),
        ("Straße 5", "Strasse 5", Likeness.SPELLING),
        ("12 Main St\nSpringfield", "12 Main St, Springfield", Likeness.SEPARATORS),
        ("Ada | Lovelace", "Ada Lovelace", Likeness.SEPARATORS),
        ("東京\nタワー", "東京タワー", Likeness.SEPARATORS),
        ("5kg", "5 kg", Likeness.SEPARATORS),
        ("½ cup of milk", "1/2 cup of milk", Likeness.SPELLING),
        ("2½ hours", "2 1/2 hours", Likeness.SEPARATORS),
        ("one «two» three; four", "one two three four", Likeness.PUNCTUATION),
    ],
)
def test_how_far_a_place_differs_is_said(page: str, value: str, expected: Likeness) -> None:
    assert likeness(page, value) is expected


def test_few_words_are_not_joined_across_odd_punctuation() -> None:
    assert texts("Smith «Ltd»", "Smith Ltd") == []


def test_a_long_value_with_one_other_word_is_not_found() -> None:
    page = "Fold the warm lentils and carrots through the dressing and serve."
    assert texts(page, "Fold the warm lentils and parsnips through the dressing") == []


def test_the_superscript_is_a_word_of_its_own() -> None:
    assert [token.key for token in tokenize("10² m²")] == ["10", "²", "m", "²"]


SCRIPTS = "aé ñ\u0301ßŁ東京タ한국हिंदीสวัสดีمطب\u0651خ👍🏽👩‍🍳12٣٤.,-–'’\u00a0\u200b\n|()"
NOISE = st.text(alphabet=SCRIPTS, max_size=30)


@settings(max_examples=300, deadline=None)
@given(NOISE, st.text(alphabet=SCRIPTS, min_size=1, max_size=15), NOISE)
def test_offsets_are_right_under_any_noise(before: str, value: str, after: str) -> None:
    page = f"{before} ; {value} ; {after}"
    assume(any(True for _ in tokenize(value)))
    found = TextIndex(page).find(value)
    for match in found:
        assert [t.key for t in tokenize(match.span.of(page))] == [t.key for t in tokenize(value)]
    assert found or value.strip() != value or not value[0].isalnum() or not value[-1].isalnum()


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_words_do_not_depend_on_the_normal_form_of_the_text(text: str) -> None:
    composed = [token.key for token in tokenize(unicodedata.normalize("NFC", text))]
    assert [token.key for token in tokenize(unicodedata.normalize("NFD", text))] == composed


@settings(max_examples=300)
@given(st.text(max_size=60))
def test_words_lie_in_the_text_one_after_another(text: str) -> None:
    end = 0
    for token in tokenize(text):
        assert end <= token.start < token.end <= len(text)
        end = token.end


@pytest.mark.parametrize(
    ("page", "value"), [("a ", "a "), ("a b ", "a b a "), ("1.", "1."), ("東", "東"), ("| ", "a | ")]
)
def test_hostile_text_takes_linear_time(page: str, value: str) -> None:
    start = time.process_time()
    TextIndex(page * 50_000).find(value * 400)
    assert time.process_time() - start < 3
