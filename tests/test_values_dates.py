"""Dates on a page: any language, any order; an ambiguous one follows its surroundings and says so."""

from __future__ import annotations

import time
from datetime import date

import pytest
from babel.dates import format_date
from hypothesis import given, settings
from hypothesis import strategies as st

from lookstruct.pipeline.values.dates import Moment, find_dates, parse_date
from lookstruct.pipeline.values.locales import conventions
from lookstruct.pipeline.values.siblings import Columns
from lookstruct.schemas.document import Span

LOCALES = (
    "en", "en_GB", "en_CA", "de", "de_CH", "fr", "fr_CA", "es", "es_MX", "it", "pt", "pt_BR", "nl", "pl", "cs",
    "sk", "sl", "hr", "hu", "ro", "bg", "ru", "uk", "sv", "da", "nb", "fi", "et", "lv", "lt", "tr", "el", "he",
    "ar", "ar_EG", "ar_MA", "ar_SY", "hi", "bn", "th", "ja", "zh", "zh_Hant", "ko", "vi", "id", "ca", "gl", "af",
    "is",
)  # fmt: skip
ORDERS_OF_NUMBERS = (
    "en", "en_GB", "de", "fr", "es", "it", "pt", "pt_BR", "nl", "pl", "cs", "ru", "sv", "da", "fi", "tr", "ja",
    "zh", "ko", "hu",
)  # fmt: skip


def one(text: str, lang: str | None = None) -> Moment:
    found = parse_date(text, conventions(lang))
    assert found is not None, find_dates(text, conventions(lang))
    return found


@pytest.mark.parametrize(
    "text",
    [
        "2024-08-21", "2024/08/21", "2024.08.21", "2024. 8. 21.", "21/08/2024", "08/21/2024", "21.08.2024", "21.8.2024",
        "21. 8. 2024", "21-08-2024", "21 August 2024", "21. August 2024", "21st of August, 2024", "August 21, 2024",
        "August 21st 2024", "Aug 21, 2024", "Aug. 21, 2024", "21-Aug-2024", "21/Aug/2024", "2024-Aug-21",
        "Wednesday, 21 August 2024", "Wed, Aug 21, 2024", "21 août 2024", "21 de agosto de 2024", "21 agosto 2024",
        "21 augustus 2024", "21 sierpnia 2024 r.", "21. srpna 2024", "21 августа 2024 г.", "21 Ağustos 2024",
        "21 elokuuta 2024", "2024. augusztus 21.", "2024 m. rugpjūčio 21 d.", "21 Αυγούστου 2024", "21 באוגוסט 2024",
        "21 أغسطس 2024", "٢١ أغسطس ٢٠٢٤", "21 غشت 2024", "21 آب 2024", "21 अगस्त 2024", "21 สิงหาคม 2567",
        "21 ส.ค. 2567", "2024年8月21日", "２０２４年８月２１日", "令和6年8月21日", "民國113年8月21日",
        "2024년 8월 21일", "21 tháng 8, 2024",
        "ngày 21 tháng 8 năm 2024",
    ],
)  # fmt: skip
def test_a_date_is_read_without_knowing_the_language(text: str) -> None:
    found = one(text)
    assert (found.value, found.kind, found.alternatives) == ("2024-08-21", "date", ())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("28.11.22", "2022-11-28"), ("28/11/22", "2022-11-28"), ("21 Aug '24", "2024-08-21"),
        ("21-Aug-24", "2024-08-21"), ("31.12.99", "1999-12-31"),
    ],
)  # fmt: skip
def test_a_year_of_two_digits_is_flagged(text: str, value: str) -> None:
    assert (one(text).value, one(text).flags) == (value, ("two-digit-year",))


def test_28_11_2022_is_the_28th_of_november() -> None:
    assert one("Rechnungsdatum: 28/11/2022", "en").value == "2022-11-28"


@pytest.mark.parametrize("lang", ["de", "fr", "en", "en-GB", "sv", "ja", None])
def test_an_iso_date_is_never_flipped_whatever_the_language(lang: str | None) -> None:
    assert (one("2022-11-05", lang).value, one("2022-11-05", lang).flags) == ("2022-11-05", ())


@pytest.mark.parametrize(
    ("lang", "value", "other"),
    [
        ("en-US", "2025-03-04", "2025-04-03"),
        ("en-GB", "2025-04-03", "2025-03-04"),
        ("fr", "2025-04-03", "2025-03-04"),
        ("sv", "2025-04-03", "2025-03-04"),
        (None, "2025-04-03", "2025-03-04"),
    ],
)
def test_an_ambiguous_date_follows_the_language_and_keeps_both_readings(
    lang: str | None, value: str, other: str
) -> None:
    found = one("03/04/2025", lang)
    assert (found.value, found.alternatives, found.flags) == (value, (other,), ("ambiguous-date",))


def test_full_stops_between_numbers_mean_day_first_where_days_come_first() -> None:
    assert (one("03.04.2025", "de").value, one("03.04.2025", "de").flags) == ("2025-04-03", ())


def test_the_same_day_either_way_is_not_ambiguous() -> None:
    assert one("05/05/2025").flags == ()


def test_unmistakable_siblings_decide_the_order_against_the_language() -> None:
    ambiguous, _, sibling = find_dates("08/09/2024, 31/08/2024, 25/09/2024", conventions("en-US"))
    assert (ambiguous.value, sibling.value) == ("2024-09-08", "2024-09-25")
    assert (ambiguous.flags, ambiguous.alternatives) == (("order-from-siblings",), ("2024-08-09",))
    assert (ambiguous.is_ambiguous, sibling.flags) == (False, ())


def test_the_order_does_not_flip_within_a_column() -> None:
    text = "01/02/2024\n03/02/2024\n25/02/2024\n02/28/2024\n02/27/2024\n02/26/2024"
    columns = Columns(((0, 10, (0, 0)), (11, 21, (0, 0)), (22, 32, (0, 0))))
    values = [moment.value for moment in find_dates(text, conventions("en-US"), columns=columns)]
    assert values[:3] == ["2024-02-01", "2024-02-03", "2024-02-25"]


@pytest.mark.parametrize("text", ["Thursday, 03/04/2025", "03/04/2025 (Thu)", "Thu 03/04/2025"])
def test_the_weekday_beside_an_ambiguous_date_settles_it(text: str) -> None:
    found = one(text, "en-US")
    assert (found.value, found.flags) == ("2025-04-03", ())


def test_a_weekday_in_the_pages_language_settles_it_too() -> None:
    assert one("jeudi 03/04/2025", "fr").flags == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-08-21T10:30:00Z", "2024-08-21T10:30:00Z"),
        ("2024-08-21 10:30", "2024-08-21T10:30:00"),
        ("21/08/2024, 10:30 PM", "2024-08-21T22:30:00"),
        ("Aug 21, 2024 at 9 am", "2024-08-21T09:00:00"),
        ("21. August 2024 um 14.05 Uhr", "2024-08-21T14:05:00"),
        ("le 21 août 2024 à 10h30", "2024-08-21T10:30:00"),
        ("Wed, 21 Aug 2024 10:30:00 +0200", "2024-08-21T10:30:00+02:00"),
        ("10:30, 21 August 2024", "2024-08-21T10:30:00"),
        ("2024年8月21日 午後3時5分", "2024-08-21T15:05:00"),
        ("2024年8月21日(水) 10:30", "2024-08-21T10:30:00"),
    ],
)
def test_a_time_beside_a_date_makes_a_datetime(text: str, value: str) -> None:
    found = one(text)
    assert (found.value, found.kind) == (value, "datetime")
    assert value.startswith(next(moment.value for moment in find_dates(text) if moment.kind == "date"))


def test_12_am_is_midnight_and_12_pm_noon() -> None:
    assert [moment.value for moment in find_dates("12:15 am, 12:15 pm")] == ["00:15:00", "12:15:00"]


def test_a_month_with_its_year_is_known_for_what_it_is() -> None:
    assert [(m.value, m.kind) for m in find_dates("March 2021 bis Mai 2024, 2024年8月")] == [
        ("2021-03", "month"),
        ("2024-05", "month"),
        ("2024-08", "month"),
    ]


def test_words_of_other_languages_are_no_months_of_this_page() -> None:
    assert find_dates("Box Set 2024", conventions("en")) == ()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("5–7 May 2024", ["2024-05-05", "2024-05-07"]),
        ("May 5–7, 2024", ["2024-05-05", "2024-05-07"]),
        ("May 30 – June 2, 2024", ["2024-05-30", "2024-06-02"]),
        ("30 May to 2 June 2024", ["2024-05-30", "2024-06-02"]),
        ("07.05.2024-08.05.2024", ["2024-05-07", "2024-05-08"]),
        ("7 May 2024 - 8 May 2024", ["2024-05-07", "2024-05-08"]),
    ],
)
def test_a_range_is_two_dates_even_where_the_first_has_no_year(text: str, values: list[str]) -> None:
    assert [moment.value for moment in find_dates(text)] == values


@pytest.mark.parametrize(
    "text",
    [
        "1.2.3", "v28.11.2022", "192.168.1.10", "31/02/2024", "2024-13-01", "12 Monkeys 1995", "2010–2015", "1/2/3",
        "978-3-16-148410-0", "00/00/0000", "99/99/9999", "3:75", "25:00", "call 555-12-34",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert [moment for moment in find_dates(text) if moment.kind != "time"] == []


def test_years_of_another_calendar_are_not_taken_for_ours() -> None:
    assert find_dates("۱۴۰۳/۰۵/۳۱", conventions("fa")) == ()


def test_several_dates_are_no_single_date() -> None:
    assert (parse_date("1 May 2024 and 2 May 2024"), parse_date("soon")) == (None, None)


DAYS = st.dates(date(1975, 1, 1), date(2060, 12, 31))


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(LOCALES), DAYS, st.sampled_from(["long", "full"]))
def test_a_date_in_words_of_any_locale_is_read_back(locale: str, day: date, width: str) -> None:
    text = format_date(day, format=width, locale=locale)
    found = [moment.value for moment in find_dates(text, conventions(locale)) if moment.kind == "date"]
    assert found == [day.isoformat()], text


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(ORDERS_OF_NUMBERS), DAYS)
def test_a_date_in_numbers_of_any_locale_is_read_back(locale: str, day: date) -> None:
    text = format_date(day, format="short", locale=locale)
    found = one(text, locale)
    assert found.value == day.isoformat() or (found.flags and day.isoformat() in found.alternatives), text
    assert found.value == day.isoformat() or day.year not in range(1970, 2070), text


@settings(max_examples=300)
@given(st.text(max_size=80))
def test_any_text_is_survived(text: str) -> None:
    for moment in find_dates(text):
        assert moment.span.of(text).strip()


@pytest.mark.parametrize(
    "unit",
    ["1", "1/", "1.1.", "May ", "a", "1 May ", "2024 ", "2024-", "5–", "10:", "1 of ", "de ", "1年", "1 a ", "Mon, "],
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    short, long = (_seconds(unit * (n // len(unit))) for n in (20_000, 160_000))
    assert long < 25 * short + 0.5


def _seconds(text: str) -> float:
    start = time.process_time()
    find_dates(text)
    return time.process_time() - start


def test_spans_are_offsets_of_the_text_given() -> None:
    text = "\U0001f600 e\u0301 — 21\u00a0août 2024"
    assert one(text).span == Span(7, 19)
    assert one(text).span.of(text) == "21\u00a0août 2024"
