"""Numbers on a page: every way of writing them is read, and what can mean two things says so."""

from __future__ import annotations

import time
from decimal import Decimal
from itertools import pairwise

import pytest
from babel.numbers import format_currency, format_decimal, format_percent
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lookstruct.pipeline.values.locales import conventions
from lookstruct.pipeline.values.numbers import Number, find_numbers, parse_number
from lookstruct.pipeline.values.siblings import Columns
from lookstruct.schemas.document import Span

LOCALES = (
    "en", "en_GB", "en_IN", "de", "de_CH", "de_AT", "fr", "fr_CA", "fr_CH", "es", "es_MX", "it", "pt", "pt_BR",
    "nl", "pl", "cs", "sk", "hu", "ro", "bg", "ru", "uk", "sv", "da", "nb", "fi", "et", "lv", "lt", "tr", "el",
    "he", "ar", "ar_EG", "fa", "hi", "bn", "th", "ja", "zh", "zh_Hant", "ko", "vi", "id",
)  # fmt: skip

CENTS = st.integers(0, 10**8)


def one(text: str, lang: str | None = None) -> Number:
    found = find_numbers(text, conventions(lang))
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.234,56", "1234.56"),
        ("1,234.56", "1234.56"),
        ("1 234,56", "1234.56"),
        ("1\u00a0234,56", "1234.56"),
        ("1\u2009234,56", "1234.56"),
        ("1\u202f234,56", "1234.56"),
        ("1'234.50", "1234.50"),
        ("1’234.50", "1234.50"),
        ("1,234,567.890", "1234567.890"),
        ("1.234.567", "1234567"),
        ("12,34,567.50", "1234567.50"),
        (",89", "0.89"),
        (".89", "0.89"),
        ("0.500", "0.500"),
        ("1 234 567", "1234567"),
        ("2879.2", "2879.2"),
        ("12,-", "12"),
        ("12.–", "12"),
        ("1½", "1.5"),
        ("¾", "0.75"),
    ],
)
def test_a_form_with_one_meaning_is_read_without_knowing_the_language(text: str, value: str) -> None:
    found = one(text)
    assert (found.value, found.flags) == (Decimal(value), ())
    assert found.span == Span(0, len(text))


@pytest.mark.parametrize("text", ["١٬٢٣٤٫٥٦", "１,２３４.５６", "१,२३४.५६", "১,২৩৪.৫৬", "１，２３４．５６"])
def test_digits_of_any_script_are_digits(text: str) -> None:
    assert one(text).value == Decimal("1234.56")


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("€68,50", "68.50", "EUR"),
        ("1.226 €", "1226", "EUR"),
        ("140.000 €", "140000", "EUR"),
        (",89 €", "0.89", "EUR"),
        ("£1,234", "1234", "GBP"),
        ("１,２３４円", "1234", "JPY"),
        ("価格1,234円(税込)", "1234", "JPY"),
        ("US$ 5.00", "5.00", "USD"),
        ("$5.00 CAD", "5.00", "CAD"),
        ("R$ 1.234,56", "1234.56", "BRL"),
        ("EUR12.50", "12.50", "EUR"),
        ("12,50 zł", "12.50", "PLN"),
        ("1 234 Kč", "1234", "CZK"),
        ("99,90 Euro.", "99.90", "EUR"),
        ("5 US dollars a head", "5", "USD"),
        ("12.– CHF", "12", "CHF"),
        ("5万円", "50000", "JPY"),
    ],
)
def test_money_is_known_by_sign_code_or_name(text: str, value: str, currency: str) -> None:
    found = one(text)
    assert (found.value, found.currency) == (Decimal(value), currency)
    assert found.currency_span is not None


@pytest.mark.parametrize(
    ("text", "lang", "currency"),
    [
        ("$5", "en-CA", "CAD"),
        ("$5", "en-US", "USD"),
        ("5 kr", "da", "DKK"),
        ("5 kr", "sv", "SEK"),
        ("5元", "zh-TW", "TWD"),
        ("5 руб.", "ru", "RUB"),
        ("5 ft", "en", None),
        ("5 ft", "hu", "HUF"),
        ("2 TL Zucker", "de", None),
        ("TOP 10", "en", None),
    ],
)
def test_a_sign_that_currencies_share_is_that_of_the_pages_country(text: str, lang: str, currency: str | None) -> None:
    assert one(text, lang).currency == currency


def test_a_shared_sign_on_a_page_of_no_known_country_is_flagged() -> None:
    assert (one("$5").currency, one("$5").flags) == ("USD", ("ambiguous-currency",))


@pytest.mark.parametrize("text", ["-5.00", "−5.00", "–5.00", "-$5.00", "$-5.00", "−5,00 €", "5,00-", "5,00- €"])
def test_a_minus_in_any_spelling_and_place_makes_it_negative(text: str) -> None:
    assert one(text).value == Decimal("-5.00")


def test_a_dash_of_a_list_or_a_word_is_no_minus() -> None:
    assert [number.value for number in find_numbers("- 5 eggs, size 3-4, a 12-inch pan")] == [5, 3, 4, 12]


@pytest.mark.parametrize("text", ["(1,234.50)", "Refund | (1,234.50) | x", "Refund\n($1,234.50)"])
def test_an_amount_in_brackets_that_fills_its_field_is_negative(text: str) -> None:
    assert one(text, "en").value == Decimal("-1234.50")


def test_an_amount_in_brackets_within_a_sentence_may_be_negative() -> None:
    found = one("a new one ($1,234.50) today", "en-US")
    assert (found.value, found.alternatives) == (Decimal("1234.50"), (Decimal("-1234.50"),))


@pytest.mark.parametrize("text", ["12%", "12 %", "12\u00a0%", "１２％", "١٢٪"])
def test_a_percentage_keeps_its_number_and_offers_the_fraction(text: str) -> None:
    found = one(text)
    assert (found.value, found.percent, found.alternatives) == (12, True, (Decimal("0.12"),))


@pytest.mark.parametrize("text", ["3–5", "3-5", "3 – 5", "3 to 5", "３〜５", "3 bis 5"])
def test_a_range_is_two_numbers_that_know_each_other(text: str) -> None:
    low, high = find_numbers(text)
    assert (low.value, low.flags, high.value, high.flags) == (3, ("range-low",), 5, ("range-high",))


def test_the_low_end_of_a_price_range_has_the_currency_of_the_high_end() -> None:
    assert [(n.value, n.currency) for n in find_numbers("10–20 €")] == [(10, "EUR"), (20, "EUR")]


def test_1226_euro_is_not_taken_for_one_euro_even_on_a_page_that_claims_to_be_english() -> None:
    found = one("1.226 €", "en")
    assert (found.value, found.flags, found.alternatives) == (1226, ("ambiguous-number",), (Decimal("1.226"),))


@pytest.mark.parametrize(
    ("lang", "value", "flags"),
    [("de", "1226", ()), ("en", "1.226", ("ambiguous-number",)), (None, "1.226", ("ambiguous-number",))],
)
def test_the_pages_language_decides_an_ambiguous_number(lang: str | None, value: str, flags: tuple[str, ...]) -> None:
    found = one("1.226", lang)
    assert (found.value, found.flags) == (Decimal(value), flags)


def test_unmistakable_siblings_overrule_the_declared_language() -> None:
    found = find_numbers("12,50 and 7,99 and 1.226", conventions("en"))[-1]
    assert (found.value, found.flags, found.alternatives) == (1226, (), (Decimal("1.226"),))


def test_a_column_is_read_one_way_whatever_the_page_does() -> None:
    text = "1.226|12,50|1.50|2.75|3.25"
    columns = Columns(((0, 5, (0, 0)), (6, 11, (0, 0))))
    assert find_numbers(text, columns=columns)[0].value == 1226
    assert find_numbers(text)[0].value == Decimal("1.226")


def test_fuel_prices_keep_their_three_decimals_in_their_own_language() -> None:
    assert (one("1,459 €", "de").value, one("$3.459", "en").value) == (Decimal("1.459"), Decimal("3.459"))


def test_2879_2_and_2879_20_are_one_price() -> None:
    assert one("$2879.2").value == one("$2879.20").value


@pytest.mark.parametrize(
    ("text", "value"), [("€ 68 50", "68.50"), ("$ 19 .99", "19.99"), ("€68 ,50", "68.50"), ("£ 5 , 25", "5.25")]
)
def test_a_price_split_over_elements_is_put_together_and_flagged(text: str, value: str) -> None:
    found = one(text)
    assert (found.value, "split-price" in found.flags, found.span.end) == (Decimal(value), True, len(text))


def test_a_sign_behind_one_number_is_not_the_sign_before_the_next() -> None:
    first, second, third = find_numbers("18,50 € 17,58 € 12")
    assert (first.currency_span, second.currency_span, third.currency) == (Span(6, 7), Span(14, 15), None)


@pytest.mark.parametrize("text", ["€ 68 50 ml", "€ 68 500 pieces", "¥ 68 50"])
def test_a_price_before_another_number_stays_alone(text: str) -> None:
    assert find_numbers(text)[0].value in (68, 68500)


@pytest.mark.parametrize(
    "text",
    [
        "A4", "H2O", "COVID-19", "INV-2022-001", "3f2a9c", "v1.2.3", "192.168.1.10", "10:30", "16:9", "x86_64",
        "978-3-16-148410-0", "28.11.2022", "2022-11-28", "user12@example.com", "1h30",
    ],
)  # fmt: skip
def test_digits_of_names_codes_times_and_dates_are_no_numbers(text: str) -> None:
    assert find_numbers(text) == ()


def test_nothing_is_found_inside_the_spans_that_are_to_be_skipped() -> None:
    assert [number.value for number in find_numbers("5 May 2024, 7", skip=[Span(0, 10)])] == [7]


def test_a_receipt_line_keeps_its_quantity_apart_from_its_price() -> None:
    assert [number.value for number in find_numbers("Qty 2 150.00 300.00", conventions("en"))] == [2, 150, 300]


@pytest.mark.parametrize(
    ("text", "lang", "value"),
    [
        ("1.2 million", "en", "1200000"),
        ("3,5 Mio. Euro", "de", "3500000"),
        ("$1.2M", "en", "1200000"),
        ("3 mil millones", "es", "3000000000"),
        ("2 млн", "ru", "2000000"),
    ],
)
def test_words_that_multiply_are_carried_out(text: str, lang: str, value: str) -> None:
    found = one(text, lang)
    assert (found.value, "scaled" in found.flags) == (Decimal(value), True)


def test_organic_eggs_are_not_trillions() -> None:
    assert one("100 Bio-Eier", "de").value == one("100 Bio", "de").value == 100


def test_several_numbers_are_no_single_number() -> None:
    assert (parse_number("3 to 5"), parse_number("none")) == (None, None)


def _without_marks(text: str) -> str:
    """As cleaning leaves it: without direction marks."""
    return text.translate(dict.fromkeys(map(ord, "\u200e\u200f\u061c")))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(LOCALES), st.decimals("-999999.99", "999999.99", places=2))
@example("en", Decimal("-0.05"))
def test_a_number_formatted_in_any_locale_is_read_back(locale: str, value: Decimal) -> None:
    found = one(_without_marks(format_decimal(value, locale=locale)), locale)
    assert value in (found.value, *found.alternatives)
    assert found.value == value or found.is_ambiguous


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(LOCALES), CENTS.map(lambda cents: Decimal(cents) / 100), st.sampled_from(["EUR", "USD", "CHF"]))
def test_money_formatted_in_any_locale_is_read_back(locale: str, value: Decimal, code: str) -> None:
    text = _without_marks(format_currency(value, code, locale=locale))
    found = one(text, locale)
    assert (found.value, found.currency) == (value, code), text


@settings(deadline=None)
@given(st.sampled_from(LOCALES), st.integers(0, 100))
def test_a_percentage_formatted_in_any_locale_is_read_back(locale: str, percent: int) -> None:
    found = one(format_percent(percent / 100, locale=locale), locale)
    assert (found.value, found.percent) == (percent, True)


@settings(max_examples=200)
@given(st.text(max_size=80))
def test_any_text_is_survived_and_spans_are_in_it(text: str) -> None:
    for number in find_numbers(text):
        assert any(char.isnumeric() for char in number.span.of(text))


@settings(max_examples=200)
@given(st.text(alphabet="0123456789.,'- €$%\u00a0½x(:|", max_size=60))
def test_numbers_never_overlap(text: str) -> None:
    found = find_numbers(text)
    assert all(a.span.end <= b.span.start for a, b in pairwise(found))


@pytest.mark.parametrize(
    "unit", ["1", "1,", "1.", "1 ", "123 ", "1'", "€", "a1", "1-", "1/", "--", "½", "1 000 ", "a-", "x", "1%", "12.50 "]
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    short, long = (_seconds(unit * (n // len(unit))) for n in (20_000, 160_000))
    assert long < 25 * short + 0.5


def _seconds(text: str) -> float:
    start = time.process_time()
    find_numbers(text)
    return time.process_time() - start
