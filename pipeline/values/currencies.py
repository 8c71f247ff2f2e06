"""What stands beside a number -> an ISO 4217 code: signs, codes, and names from Unicode's CLDR."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from babel.core import get_global
from babel.numbers import get_currency_name, get_currency_precision, get_currency_symbol, get_territory_currencies

from lookstruct.pipeline.values.locales import Conventions
from lookstruct.pipeline.values.text import is_unspaced
from lookstruct.schemas.document import Span

SIGNS = "".join(chr(code) for code in range(0x10000) if unicodedata.category(chr(code)) == "Sc")
"""Every currency sign in use; those of dead scripts stand beyond."""

_MAJOR = (
    "USD", "EUR", "GBP", "JPY", "CNY", "CHF", "CAD", "AUD", "NZD", "HKD", "SGD", "SEK", "NOK", "DKK", "ISK", "PLN",
    "CZK", "HUF", "RON", "BGN", "RUB", "UAH", "TRY", "ILS", "INR", "KRW", "BRL", "MXN", "ZAR", "AED", "SAR", "EGP",
    "THB", "IDR", "MYR", "PHP", "VND", "TWD",
)  # fmt: skip
"""Currencies whose names are known in every language; others only at home."""

_SPELLINGS = {
    "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₺": "TRY", "₩": "KRW", "₪": "ILS", "₫": "VND", "₱": "PHP",
    "₴": "UAH", "₦": "NGN", "₵": "GHS", "₡": "CRC", "₲": "PYG", "₸": "KZT", "₾": "GEL", "₼": "AZN", "֏": "AMD",
    "฿": "THB", "₭": "LAK", "₮": "MNT", "৳": "BDT", "៛": "KHR", "﷼": "IRR", "r$": "BRL", "us$": "USD", "u$s": "USD",
    "ca$": "CAD", "c$": "CAD", "au$": "AUD", "a$": "AUD", "nz$": "NZD", "hk$": "HKD", "s$": "SGD", "nt$": "TWD",
    "mx$": "MXN", "cn¥": "CNY", "jp¥": "JPY", "sfr": "CHF", "zł": "PLN", "kč": "CZK", "лв": "BGN", "rp": "IDR",
    "руб": "RUB", "грн": "UAH", "円": "JPY", "원": "KRW", "บาท": "THB", "đ": "VND", "人民币": "CNY", "日元": "JPY",
    "欧元": "EUR", "美元": "USD", "ユーロ": "EUR", "ドル": "USD", "유로": "EUR", "달러": "USD", "ر.س": "SAR",
    "د.إ": "AED", "euro": "EUR", "euros": "EUR", "yen": "JPY", "yuan": "CNY", "franken": "CHF", "złotych": "PLN",
    "złote": "PLN", "korun": "CZK", "рублей": "RUB", "рубля": "RUB", "рубль": "RUB", "гривен": "UAH",
    "гривень": "UAH", "forint": "HUF", "lira": "TRY", "reais": "BRL", "rupiah": "IDR", "ريال": "SAR",
    "يورو": "EUR", "دولار": "USD",
}  # fmt: skip
"""Spellings that mean one currency everywhere (casefolded, no full stop at the end)."""

_SHARED = {
    "$": ("USD", "CAD AUD NZD HKD SGD TWD MXN ARS CLP COP UYU FJD BBD BSD BZD JMD TTD"),
    "¥": ("JPY", "CNY"),
    "kr": ("SEK", "NOK DKK ISK"),
    "rs": ("INR", "PKR LKR NPR MUR"),
    "元": ("CNY", "TWD HKD"),
    "р": ("RUB", "BYN"),
    "r": (None, "ZAR"),
    "fr": (None, "CHF"),
    "ft": (None, "HUF"),
    "lei": (None, "RON MDL"),
    "tl": (None, "TRY"),
    "rm": (None, "MYR"),
    "zl": (None, "PLN"),
    "kc": (None, "CZK"),
    "دينار": (None, "JOD IQD KWD BHD TND DZD LYD"),
    "درهم": ("AED", "MAD"),
}
"""Spellings that several currencies share, or that mean other things abroad (feet, teaspoons): the usual one (None:
believed only at home), and those that own it at home."""
_SHARED_WORDS = {
    "dollar": "$", "dollars": "$", "pound": "£", "pounds": "£", "rupee": "rs", "rupees": "rs", "kronor": "kr",
    "kroner": "kr", "krona": "kr", "krone": "kr", "دنانير": "دينار", "دراهم": "درهم", "圆": "元", "块": "元",
}  # fmt: skip
_WORDLIKE = {"ALL", "TOP", "TRY", "PEN", "CUP", "MOP", "MAD", "SOS", "COP", "GEL", "BAM", "LAK", "SEK", "MUR", "ANG"}
"""Codes that are words too: believed only beside a number that looks like an amount."""

_BEFORE = re.compile(rf"(?:([^\W\d_]{{0,3}})([{re.escape(SIGNS)}])|(?<![^\W_])([^\W\d_]{{1,7}})\.?)([ \u00a0]?)\Z")
_AFTER = re.compile(rf"[ \u00a0]?(?:([{re.escape(SIGNS)}])|((?:[^\W\d_]\.)?[^\W\d_][^\s\d,;:()/|]{{0,15}}))")
_COUNTRY_AFTER = re.compile(r"\$[ \u00a0]?(US|CA|AU|NZ|HK)\b")
_WORDS_AFTER = re.compile(r"[ \u00a0]?([^\W\d_]+(?:[ \u00a0][^\W\d_]+){0,2})")


@dataclass(frozen=True, slots=True)
class CurrencyMark:
    """A currency beside a number: its code, where it is written, and whether the page's country had to decide."""

    code: str
    span: Span
    shared: bool = False


class Currencies:
    """The currency words of one language and country."""

    def __init__(self, conventions: Conventions) -> None:
        self._home = _home_currency(conventions)
        self._names = _names(conventions.name)
        self._first_words = {name.partition(" ")[0] for name in self._names}

    def before(self, text: str, end: int, *, amount: bool) -> CurrencyMark | None:
        """The currency written before `end`, with at most one space between.

        `amount`: the number looks like one, so that a code that is a word too may be believed.

        >>> from lookstruct.pipeline.values.locales import NEUTRAL
        >>> Currencies(NEUTRAL).before("only US$ 5", 9, amount=False)
        CurrencyMark(code='USD', span=Span(start=5, end=8), shared=False)
        """
        start = max(0, end - 10)
        found = _BEFORE.search(text[start:end])
        if found is None:
            return None
        letters, sign, word, space = found.groups()
        stop = end - len(space)
        if sign:
            return self._sign_before(letters, sign, stop)
        code, shared = self._code(word, amount=amount)
        return CurrencyMark(code, Span(start + found.start(), stop), shared) if code else None

    def _sign_before(self, letters: str, sign: str, stop: int) -> CurrencyMark | None:
        """`US$`: the letters that belong to the sign, or the sign alone (`für€`)."""
        for skipped in range(len(letters) + 1):
            part = letters[skipped:]
            code, shared = self._code(part + sign, amount=True)
            if code:
                return CurrencyMark(code, Span(stop - len(part) - len(sign), stop), shared)
        return None

    def after(self, text: str, start: int, *, amount: bool) -> CurrencyMark | None:
        """The currency written from `start` on, with at most one space before it; `amount` as above.

        >>> from lookstruct.pipeline.values.locales import NEUTRAL
        >>> Currencies(NEUTRAL).after("5 zł.", 1, amount=False).span
        Span(start=2, end=4)
        """
        found = _AFTER.match(text, start)
        if found is None:
            return None
        if found[1] and (abroad := _COUNTRY_AFTER.match(text, found.start(1))) is not None:
            return CurrencyMark(_SPELLINGS[abroad[1].casefold() + "$"], Span(*abroad.span()))
        at, written = (found.start(1), found[1]) if found[1] else (found.start(2), found[2])
        word = found[1] or _first_part(written)
        code, shared = self._code(word, amount=amount)
        if code:
            return CurrencyMark(code, Span(at, at + len(word)), shared)
        if is_unspaced(written[0]):
            return self._unspaced(written, at)
        return self._phrase(text, start) if word.casefold() in self._first_words else None

    def _unspaced(self, written: str, at: int) -> CurrencyMark | None:
        for length in range(min(4, len(written)), 0, -1):
            code, shared = self._code(written[:length], amount=False)
            if code:
                return CurrencyMark(code, Span(at, at + length), shared)
        return None

    def _phrase(self, text: str, start: int) -> CurrencyMark | None:
        """A name of several words: `US dollars`."""
        found = _WORDS_AFTER.match(text, start)
        words = re.split("[ \u00a0]", found[1]) if found else []
        for n_words in range(len(words), 0, -1):
            phrase = " ".join(words[:n_words])
            if found and (code := self._names.get(phrase.casefold())):
                return CurrencyMark(code, Span(found.start(1), found.start(1) + len(phrase)))
        return None

    def _code(self, written: str, *, amount: bool) -> tuple[str | None, bool]:
        """The code of a sign, code or word, and whether the country had to decide."""
        if written in _iso_codes():
            return (written if amount or written not in _WORDLIKE else None), False
        key = written.casefold().rstrip(".")
        key = _SHARED_WORDS.get(key, key)
        if key in _SHARED:
            usual, owners = _SHARED[key]
            return (self._home if self._home in owners.split() else usual), self._home is None
        return _SPELLINGS.get(key) or self._names.get(key), False


def fraction_digits(code: str) -> int:
    """How many decimals amounts of a currency have: 2 for EUR, 0 for JPY, 3 for KWD."""
    return int(get_currency_precision(code))


@lru_cache(maxsize=64)
def currencies(conventions: Conventions) -> Currencies:
    """The currency words to look for on a page with these conventions."""
    return Currencies(conventions)


def _first_part(written: str) -> str:
    """`written` up to punctuation that does not belong to a word: `EUR.` -> `EUR`; `ر.س` and `US-Dollar` stay."""
    cut = next((at for at, char in enumerate(written) if not char.isalnum() and char not in ".$-"), len(written))
    return written[:cut].rstrip(".-")


@lru_cache(maxsize=1)
def _iso_codes() -> frozenset[str]:
    """Codes of money that somebody can still pay with."""
    return frozenset(
        code
        for used in get_global("territory_currencies").values()
        for code, _, until, tender in used
        if tender and not until
    )


def _home_currency(conventions: Conventions) -> str | None:
    """The currency of the page's country, or of the country where its language is mostly spoken."""
    if conventions.name is None:
        return None
    territory = conventions.territory
    if territory is None:
        likely = str(get_global("likely_subtags").get(conventions.language or "", ""))
        territory = likely.rpartition("_")[2]
    used = get_territory_currencies(territory) if len(territory) == 2 else []
    return str(used[0]) if used else None


@lru_cache(maxsize=64)
def _names(locale: str | None) -> Mapping[str, str]:
    """Names in one language and in English, and signs in that language -> code."""
    found: dict[str, str] = {}
    for language in ("en", *([locale] if locale else [])):
        for code in _MAJOR:
            for count in (1, 2, 5):
                found[get_currency_name(code, count, language).replace("\u00a0", " ").casefold()] = code
    if locale:
        home = _home_currency(Conventions(name=locale))
        for code in (*_MAJOR, *([home] if home else [])):
            found.setdefault(get_currency_symbol(code, locale).casefold().rstrip("."), code)
            found.setdefault(get_currency_name(code, 2, locale).casefold(), code)
    return found
