"""A page's language and address -> how numbers and dates are written there (`Conventions`), from Unicode's CLDR."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from babel import Locale, UnknownLocaleError
from babel.numbers import get_decimal_symbol, get_group_symbol

from lookstruct.schemas.document import Document

_NOT_A_COUNTRY = {"io", "co", "ai", "tv", "me", "cc", "fm", "ly", "to", "gg", "ws", "sh", "im", "so", "la", "eu", "su"}
"""Top-level domains of two letters that say nothing about the reader."""
_LANGUAGE_SUBTAG = re.compile(r"[A-Za-z]{2,3}\Z")
_SCRIPT_SUBTAG = re.compile(r"[A-Za-z]{4}\Z")
_TERRITORY_SUBTAG = re.compile(r"(?:[A-Za-z]{2}|\d{3})\Z")


@dataclass(frozen=True, slots=True)
class Conventions:
    """How one language and country write numbers and dates; None where nothing is known.

    `name` is CLDR's ("de_CH"). `decimal` is "." or ",". `groups_by_space`: 1 234. `day_first`: 3/4 is 3 April.
    `year_first`: 24/4/3 is 3 April 2024. `symbol_first`: €5.
    """

    name: str | None = None
    decimal: str | None = None
    groups_by_space: bool = False
    day_first: bool | None = None
    year_first: bool = False
    date_separator: str | None = None
    symbol_first: bool | None = None

    @property
    def language(self) -> str | None:
        """The bare language: "de"."""
        return self.name.partition("_")[0] if self.name else None

    @property
    def territory(self) -> str | None:
        """The country, where the page or its address names one: "CH"."""
        return Locale.parse(self.name).territory if self.name else None


NEUTRAL = Conventions()
"""Nothing is known of the page."""


@lru_cache(maxsize=256)
def conventions(lang: str | None, country: str | None = None) -> Conventions:
    """The conventions of a language tag (`de-CH`, `en_US`, `zh-Hant-TW`), refined by a country where it names none.

    >>> conventions("de").decimal, conventions("en").day_first, conventions("en", "GB").day_first
    (',', False, True)
    >>> conventions("x-default")
    Conventions(name=None, decimal=None, ...)
    """
    locale = _locale(lang, country)
    if locale is None:
        return NEUTRAL
    short, medium = str(locale.date_formats["short"].pattern), str(locale.date_formats["medium"].pattern)
    year_first = short.lstrip("\u200e\u200f").startswith("y")
    order = medium if year_first else short  # sv: y-MM-dd, but 3/4 there is read like "d MMM y"
    return Conventions(
        name=str(locale),
        decimal=get_decimal_symbol(locale, numbering_system="latn"),
        groups_by_space=get_group_symbol(locale, numbering_system="latn").isspace(),
        day_first=order.index("d") < order.index("M"),
        year_first=year_first,
        date_separator=next((char for char in short if char in "./-"), None),
        symbol_first=str(locale.currency_formats["standard"].pattern).lstrip("\u200e\u200f").startswith("¤"),
    )


def conventions_of(document: Document) -> Conventions:
    """The conventions of a page: its `lang`, refined by its domain, and for bare English by its currency.

    >>> conventions_of(Document("https://shop.example.co.uk/", "", (), lang="en")).name
    'en_GB'
    """
    country = _country(document.url)
    found = conventions(document.lang, country)
    if found.name == "en":
        return conventions("en", _english_country(document.text))
    return found


def _english_country(text: str) -> str | None:
    """Where English is written, by the only currency sign that the text uses."""
    used = [country for sign, country in (("£", "GB"), ("€", "IE"), ("₹", "IN"), ("$", "US")) if sign in text]
    return used[0] if len(used) == 1 else None


def _country(url: str) -> str | None:
    """The country of a web address, by its top-level domain."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return None
    last = host.rpartition(".")[2]
    if len(last) != 2 or not last.isalpha() or last in _NOT_A_COUNTRY or "." not in host:
        return None
    return "GB" if last == "uk" else last.upper()


def _locale(lang: str | None, country: str | None) -> Locale | None:
    language, script, territory = _subtags(lang or "")
    if language is None:
        return _parse("und", country) if country else None
    for parts in ((language, script, territory or country), (language, territory or country), (language, script)):
        if (found := _parse(*parts)) is not None:
            return found
    return _parse(language)


def _subtags(lang: str) -> tuple[str | None, str | None, str | None]:
    """Language, script and territory of a tag; extensions and private use are dropped."""
    parts = [part for part in re.split(r"[-_.@]", lang.strip()) if part]
    if not parts or not _LANGUAGE_SUBTAG.match(parts[0]) or parts[0].lower() == "und":
        return None, None, None
    script = territory = None
    for part in parts[1:]:
        if len(part) == 1:
            break
        if script is None and territory is None and _SCRIPT_SUBTAG.match(part):
            script = part.title()
        elif territory is None and _TERRITORY_SUBTAG.match(part):
            territory = part.upper()
    return parts[0].lower(), script, territory


def _parse(*parts: str | None) -> Locale | None:
    try:
        return Locale.parse("_".join(part for part in parts if part))
    except (UnknownLocaleError, ValueError):
        return None
