"""What the prompt shows beside the page's own text: dates, numbers and durations in normal form, where they differ."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookstruct.pipeline.values.normal_forms import normal_forms
from lookstruct.schemas.document import Document


def forms(text: str, lang: str | None = None, *, all_readings: bool = False) -> list[tuple[str, str]]:
    document = Document("https://example.com", text, (), lang=lang)
    return [(span.of(text), form) for span, form in normal_forms(document, all_readings=all_readings)]


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("28/11/2022", "en-GB", [("28/11/2022", "2022-11-28")]),
        ("21 August 2024, 10:30", "en", [("21 August 2024, 10:30", "2024-08-21T10:30:00")]),
        ("1.234,56 € und 12,– €", "de", [("1.234,56", "1234.56"), ("12,–", "12")]),
        ("1,140 words", "en", [("1,140", "1140")]),
        ("−5 °C", "en", [("−5", "-5")]),
        ("١٢٣", "ar", [("١٢٣", "123")]),
        ("45–60 minutes", "en", [("45", "PT45M"), ("60 minutes", "PT1H")]),
        ("12,5 %", "de", [("12,5 %", "12.5%")]),
        ("2022-11-28 at 12.50, 42", "en", []),
        ("", None, []),
    ],
)
def test_only_what_differs_is_shown(text: str, lang: str | None, expected: list[tuple[str, str]]) -> None:
    assert forms(text, lang) == expected


def test_of_an_ambiguous_date_the_likelier_reading_is_shown_or_both() -> None:
    assert forms("Due 03/04/2025", "en-GB") == [("03/04/2025", "2025-04-03")]
    assert forms("Due 03/04/2025", "en-GB", all_readings=True) == [("03/04/2025", "2025-04-03 or 2025-03-04")]


def test_of_an_ambiguous_number_both_readings_can_be_shown() -> None:
    assert forms("Cost 1.226 €", "en", all_readings=True) == [("1.226", "1226 or 1.226")]


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="0123456789.,/-: €%hminMay年月日½\n", max_size=60))
def test_forms_are_in_order_and_never_overlap(text: str) -> None:
    end = 0
    for span, form in normal_forms(Document("", text, ())):
        assert span.start >= end
        assert form != span.of(text)
        end = span.end
