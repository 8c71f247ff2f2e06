"""What on a page could be a value."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookstruct.decoding.guessing.page_text import PageText
from lookstruct.decoding.guessing.page_values import find_candidates


def found(text: str, kind: str) -> list[str]:
    return [candidate.text for candidate in find_candidates(PageText(text)) if candidate.kind == kind]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("1.234,56 €", "price", "1234.56"),
        ("$ 12", "price", "12"),
        ("CHF 1'250.50", "price", "1250.50"),
        ("−3 °C", "number", "-3"),
        ("VAT 20%", "percent", "20"),
        ("Ref PNR-2204", "code", "PNR-2204"),
        ("7:30 pm", "time", "7:30 pm"),
        ("1 h 30 min", "duration", "PT1H30M"),
        ("2 days", "duration", "P2D"),
        ("Call +44 1584 555 019", "phone", "+44 1584 555 019"),
        ("me@example.com.", "email", "me@example.com"),
        ("see www.example.com/x, now", "url", "www.example.com/x"),
        ("14/03/2025", "date", "2025-03-14"),
        ("3rd of May 2025 at 18:30", "date", "2025-05-03T18:30:00"),
    ],
)
def test_typed_values_are_found_in_their_normal_form(text, kind, value):
    assert value in found(text, kind)


def test_a_hyphen_inside_a_code_is_no_minus():
    assert "-2204" not in found("Ref PNR-2204", "number")


def test_impossible_dates_are_none():
    assert found("45/13/2025", "date") == []


def labels(text: str, kind: str) -> dict[str, str]:
    return {c.text: c.label for c in find_candidates(PageText(text)) if c.kind == kind}


def test_a_column_is_named_by_its_header():
    page = "Item | Count | Price\nNut | 3 | 1.50\nBolt | 4 | 2.50"
    assert labels(page, "cell")["Bolt"] == "Item"
    assert labels(page, "number") == {"3": "Count", "1.50": "Price", "4": "Count", "2.50": "Price"}


def test_the_second_cell_of_a_pair_is_named_by_the_first():
    assert labels("Total | 4.50", "number") == {"4.50": "Total"}


def test_a_line_is_named_by_the_short_line_above():
    assert labels("From\nHarrow Ltd", "line")["Harrow Ltd"] == "From"


def test_a_title_gives_its_parts():
    assert {"Desk lamp", "The Shop"} <= set(found("# Desk lamp | The Shop", "heading"))


def test_the_author_behind_by_is_a_candidate():
    assert labels("By Dana Whitlock on 3 May", "cell") == {"Dana Whitlock": "author"}


@given(st.text(max_size=150))
@settings(deadline=None)
def test_candidates_stand_in_page_order_within_the_page(text):
    candidates = find_candidates(PageText(text))
    starts = [candidate.start for candidate in candidates]
    assert starts == sorted(starts)
    assert all(0 <= start <= len(text) for start in starts)
