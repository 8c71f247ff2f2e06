"""Names of months and weekdays in many languages -> their numbers, from Unicode's CLDR."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

from babel import Locale

_LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sk", "sl", "hr", "sr", "bs", "hu", "ro", "bg", "mk",
    "uk", "ru", "be", "tr", "az", "kk", "el", "sv", "da", "nb", "fi", "et", "lv", "lt", "is", "ga", "cy", "mt",
    "ca", "eu", "gl", "sq", "ar", "ar_MA", "ar_DZ", "ar_SY", "he", "fa", "hi", "bn", "ta", "te", "mr", "th", "id",
    "ms", "fil", "sw", "af", "ka", "hy", "vi",
)  # fmt: skip
"""Languages that are tried where the page's own does not know a word; territory forms are other names."""
_OF = {"he": "ב"}
"""A preposition that is written together with the month."""


def month_number(word: str, locale: str | None, *, foreign: bool = True) -> int | None:
    """The month, 1 to 12, that `word` names in the page's language, in English, or, if they agree, in any other.

    Without `foreign`, a page whose language is known is not searched for months of others: "Box Set 2024".

    >>> month_number("août", None), month_number("Sept.", "en"), month_number("listopad", "hr")
    (8, 9, 10)
    >>> month_number("listopad", None) is None  # October in Croatian, November in Polish
    True
    """
    key = name_key(word)
    if not key:
        return None
    found = _months(locale).get(key) if locale else None
    found = found or _months("en").get(key)
    return found or (_shared_months().get(key) if foreign or locale is None else None)


def weekday_number(word: str, locale: str | None) -> int | None:
    """The weekday, 0 for Monday, that `word` names in the page's language or in English; None if none.

    >>> weekday_number("Mi.", "de"), weekday_number("Wednesday", "de"), weekday_number("Mi.", "en")
    (2, 2, None)
    """
    key = name_key(word)
    return _weekdays(locale or "en").get(key, _weekdays("en").get(key))


def name_key(word: str) -> str:
    """A name as it is looked up: composed, lower case, without full stops and combining dots of `İ`."""
    return unicodedata.normalize("NFC", word.casefold()).replace(".", "").replace("\u0307", "").strip()


@lru_cache(maxsize=256)
def _months(locale: str) -> Mapping[str, int]:
    found: dict[str, int] = {}
    contexts = Locale.parse(locale).months
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in contexts[context][width].items():
                for key in _spellings(str(name), locale):
                    found.setdefault(key, int(number))
    return found


def _spellings(name: str, locale: str) -> Iterator[str]:
    """How a name is looked up: names that are numbers (8月, tháng 8) are left to patterns."""
    key = name_key(name)
    if any(char.isdigit() for char in key) or len(key) < 2:
        return
    yield key
    if (prefix := _OF.get(locale.partition("_")[0])) is not None:
        yield prefix + key
    if locale.startswith("en") and key == "sep":
        yield "sept"


@lru_cache(maxsize=1)
def _shared_months() -> Mapping[str, int]:
    """What the names mean in every language that knows them; names on which languages differ are left out."""
    meanings: dict[str, set[int]] = {}
    for language in _LANGUAGES:
        for key, number in _months(language).items():
            meanings.setdefault(key, set()).add(number)
    return {key: numbers.pop() for key, numbers in meanings.items() if len(numbers) == 1}


@lru_cache(maxsize=256)
def _weekdays(locale: str) -> Mapping[str, int]:
    found: dict[str, int] = {}
    contexts = Locale.parse(locale).days
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated", "short"):
            for number, name in contexts[context].get(width, {}).items():
                found.setdefault(name_key(str(name)), int(number))
    return {key: number for key, number in found.items() if key}
