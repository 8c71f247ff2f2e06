"""A page's language and address say how it writes numbers and dates."""

from __future__ import annotations

import pytest

from lookstruct.pipeline.values.locales import NEUTRAL, conventions, conventions_of
from lookstruct.schemas.document import Document


@pytest.mark.parametrize(
    ("lang", "name"),
    [
        ("de", "de"), ("de-CH", "de_CH"), ("EN-us", "en_US"), ("pt_BR", "pt_BR"), ("zh-Hant-TW", "zh_Hant_TW"),
        ("en-US-u-ca-gregory", "en_US"), ("de_DE@euro", "de_DE"), ("en-XX", "en"), ("iw", "he_IL"),
        ("sr-Latn", "sr_Latn"),
        ("x-default", None), ("english", None), ("mul", None), ("und", None), ("", None), (None, None), ("-", None),
    ],
)  # fmt: skip
def test_any_language_tag_is_read_as_far_as_it_is_known(lang: str | None, name: str | None) -> None:
    assert conventions(lang).name == name


@pytest.mark.parametrize(
    ("lang", "decimal", "day_first", "year_first"),
    [
        ("en-US", ".", False, False), ("en-GB", ".", True, False), ("de", ",", True, False),
        ("de-CH", ".", True, False),
        ("fr", ",", True, False), ("ja", ".", False, True), ("sv", ",", True, True), ("en-CA", ".", False, True),
        ("es-MX", ".", True, False), ("hu", ",", False, True),
    ],
)  # fmt: skip
def test_conventions_are_those_of_the_country(lang: str, decimal: str, day_first: bool, year_first: bool) -> None:
    found = conventions(lang)
    assert (found.decimal, found.day_first, found.year_first) == (decimal, day_first, year_first)


@pytest.mark.parametrize(
    ("url", "lang", "text", "name"),
    [
        ("https://shop.example.co.uk/", "en", "", "en_GB"),
        ("https://example.de/", None, "", "de_DE"),
        ("https://example.de/", "en", "", "en_DE"),
        ("https://example.io/", "en", "", "en"),
        ("https://example.com/", "en", "from £5", "en_GB"),
        ("https://example.com/", "en", "from £5 or $6", "en"),
        ("https://example.com/", "en-US", "from £5", "en_US"),
        ("file:///page.de", None, "", None),
        ("https://192.168.0.1/", None, "", None),
        ("http://[broken", "fr", "", "fr"),
        ("", None, "", None),
    ],
)
def test_the_domain_and_the_currency_say_where_a_language_is_written(
    url: str, lang: str | None, text: str, name: str | None
) -> None:
    assert conventions_of(Document(url, text, (), lang=lang)).name == name


def test_a_page_that_says_nothing_has_no_conventions() -> None:
    assert conventions_of(Document("", "", ())) == NEUTRAL
    assert (NEUTRAL.language, NEUTRAL.territory) == (None, None)
