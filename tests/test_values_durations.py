"""Durations on a page, in words of many languages, as ISO 8601."""

from __future__ import annotations

import time
from datetime import timedelta
from decimal import Decimal

import pytest
from babel.units import format_unit
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from lookstruct.pipeline.values.durations import find_durations, iso_duration, parse_duration
from lookstruct.pipeline.values.locales import conventions

LOCALES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sk", "hu", "ro", "bg", "ru", "uk", "sv", "da", "nb",
    "fi", "et", "lt", "tr", "el", "ar", "fa", "hi", "th", "ja", "zh", "ko", "vi", "id",
)  # fmt: skip


def one(text: str, lang: str | None = None) -> str:
    found = parse_duration(text, conventions(lang))
    assert found is not None, find_durations(text, conventions(lang))
    assert found.span.of(text) == text.strip("()")
    return found.value


@pytest.mark.parametrize(
    "text",
    [
        "1 hr 20 min", "1 hour 20 minutes", "1 hour and 20 minutes", "1 hr., 20 min.", "1h20", "1 h 20", "1h20m",
        "1 h 20 min", "1h 20min", "80 minutes", "80-minute", "80mins", "1:20 h", "PT1H20M", "PT80M",
        "1 Stunde 20 Minuten",
        "1 Std. 20 Min.", "1 heure et 20 minutes", "1 hora y 20 minutos", "1 ora e 20 minuti", "1 hora e 20 minutos",
        "1 uur en 20 minuten", "1時間20分", "1小时20分钟", "1小時20分鐘", "1시간 20분", "１時間２０分", "80分",
    ],
)  # fmt: skip
def test_80_minutes_are_read_in_any_spelling(text: str) -> None:
    assert one(text) == "PT1H20M"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("45 minutes", "PT45M"),
        ("1½ hours", "PT1H30M"),
        ("1 1/2 hours", "PT1H30M"),
        ("1.5 hours", "PT1H30M"),
        ("1,5 Std.", "PT1H30M"),
        ("½ hour", "PT30M"),
        ("3/4 hour", "PT45M"),
        ("2 days", "P2D"),
        ("36 hours", "P1DT12H"),
        ("1 day 2 h", "P1DT2H"),
        ("3 weeks", "P21D"),
        ("2 years 6 months", "P2Y6M"),
        ("P1DT2H", "P1DT2H"),
        ("90 seconds", "PT1M30S"),
    ],
)
def test_parts_are_added_up_and_carried_over(text: str, value: str) -> None:
    assert one(text) == value


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("1 час 20 минут", "ru"), ("1 godz. 20 min", "pl"), ("1 saat 20 dakika", "tr"), ("1 tim 20 min", "sv"),
        ("1 óra 20 perc", "hu"), ("1 ชั่วโมง 20 นาที", "th"), ("1 ώρα 20 λεπτά", "el"), ("1 घंटा 20 मिनट", "hi"),
    ],
)  # fmt: skip
def test_the_pages_language_is_known(text: str, lang: str) -> None:
    assert one(text, lang) == "PT1H20M"


@pytest.mark.parametrize("text", ["45–60 minutes", "45-60 min", "45 to 60 minutes", "45 bis 60 Minuten", "45~60分"])
def test_the_low_end_of_a_range_has_the_unit_of_the_high_end(text: str) -> None:
    low, high = find_durations(text)
    assert (low.value, low.flags, high.value, high.flags) == ("PT45M", ("range-low",), "PT1H", ("range-high",))
    assert low.span.of(text) == "45"


@pytest.mark.parametrize(
    "text",
    ["5 m", "2 m wide", "5 horses", "10:30", "3d print", "a5 minutes", "1.2.3 hours", "5 hundred", "12 h2o", "P", "PT"],
)
def test_what_only_looks_like_a_duration_is_none(text: str) -> None:
    assert find_durations(text) == ()


def test_parts_that_do_not_go_down_are_two_durations() -> None:
    assert [found.value for found in find_durations("20 min 1 h, 5 hours 200 people")] == ["PT20M", "PT1H", "PT5H"]


@pytest.mark.parametrize("text", ["Préparation25 min", "Prep time\nTotal25 minutes", "(Zubereitung25 Min.)"])
def test_a_time_right_behind_the_word_that_names_it_is_read(text: str) -> None:
    assert [found.value for found in find_durations(text)] == ["PT25M"]


def test_years_have_no_length_in_seconds() -> None:
    found = parse_duration("2 years")
    assert found is not None
    assert found.seconds is None


@settings(max_examples=200)
@given(st.integers(0, 10**7))
def test_values_are_what_pydantic_writes_for_a_timedelta(seconds: int) -> None:
    expected = TypeAdapter(timedelta).dump_json(timedelta(seconds=seconds)).decode().strip('"')
    assert iso_duration(Decimal(0), Decimal(seconds)) == expected


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(LOCALES),
    st.integers(2, 99),
    st.sampled_from([("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)]),
)
def test_a_unit_written_out_in_any_locale_is_read_back(locale: str, amount: int, unit: tuple[str, int]) -> None:
    text = format_unit(amount, f"duration-{unit[0]}", "long", locale=locale).strip("\u200e\u200f")
    found = parse_duration(text, conventions(locale))
    if any(char.isdigit() for char in text) and text[-1] not in "日일":  # "two hours" is one word; 2日 is a date too
        assert found is not None, text
        assert found.seconds == amount * unit[1]


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_any_text_is_survived(text: str) -> None:
    for found in find_durations(text):
        assert found.span.of(text).strip()


@pytest.mark.parametrize("unit", ["1", "1 h ", "1h", "1 1/2 ", "P1", "PT1", "½ ", "1 min and ", "1-", "1."])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    short, long = (_seconds(unit * (n // len(unit))) for n in (20_000, 160_000))
    assert long < 25 * short + 0.5


def _seconds(text: str) -> float:
    start = time.process_time()
    find_durations(text)
    return time.process_time() - start
