"""Words after a number that multiply it: `1.2 million`, `3 Mrd.`, `5万`, from Unicode's CLDR."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache

from babel.numbers import format_compact_decimal

from lookstruct.pipeline.values.locales import Conventions
from lookstruct.pipeline.values.text import is_unspaced
from lookstruct.schemas.document import Span

_CHARACTERS = {"万": 4, "萬": 4, "億": 8, "亿": 8, "兆": 12, "만": 4, "억": 8}
_LETTERS = {"k": 3, "K": 3, "M": 6, "m": 6, "B": 9, "bn": 9, "T": 12}
"""Believed only where they touch an amount of money ($1.2M): 5K may be a run, 4K a screen."""
_COUNTS = tuple(leading * 10**power for power in (3, 6, 9, 12) for leading in (1, 2, 5))
_NO_SCALE = {"bio"}
"""German short for 10**12, and what is written on eggs."""
_WORD = re.compile(r"[ \u00a0]?([^\W\d_]{1,14}\.?)(?![\w-])")


def scale_after(text: str, start: int, conventions: Conventions, *, money: bool) -> tuple[Decimal, Span] | None:
    """The factor written at `start` (one space may stand before it) and where; None if there is none.

    >>> from lookstruct.pipeline.values.locales import conventions
    >>> scale_after("5 Mio. Euro", 1, conventions("de"), money=False)
    (Decimal('1E+6'), Span(start=1, end=6))
    """
    if start < len(text) and text[start] in _CHARACTERS:
        return Decimal(1).scaleb(_CHARACTERS[text[start]]), Span(start, start + 1)
    power, end = _power(text, start, conventions.name)
    if power == 0 and money:
        power, end = _letter(text, start)
    elif power:  # "mil millones": one word after another
        more, further = _power(text, end, conventions.name)
        power, end = power + more, further if more else end
    return (Decimal(1).scaleb(power), Span(start, end)) if power else None


def _power(text: str, start: int, locale: str | None) -> tuple[int, int]:
    """The power of ten that the next word stands for, 0 where it stands for none, and the word's end."""
    found = _WORD.match(text, start)
    if found is None or is_unspaced(found[1][0]):
        return 0, start
    word = found[1].rstrip(".")
    abbreviated = found[1] != word and len(word) <= 5
    return _words(locale).get(word.casefold(), 0), found.start(1) + len(word) + abbreviated


def _letter(text: str, start: int) -> tuple[int, int]:
    """The same for a letter that touches the number."""
    found = _WORD.match(text, start)
    touching = found is not None and found.start(1) == start
    return (_LETTERS.get(found[1], 0), found.end(1)) if found is not None and touching else (0, start)


@lru_cache(maxsize=64)
def _words(locale: str | None) -> Mapping[str, int]:
    """Words in one language and in English -> power of ten; single letters are left out."""
    found: dict[str, int] = {}
    for language in ("en", *([locale] if locale else [])):
        for count in _COUNTS:
            for width in ("long", "short"):
                written = format_compact_decimal(count, format_type=width, locale=language, fraction_digits=0)
                digits = "".join(filter(str.isdigit, written))
                word = written.replace("\u00a0", " ").strip("0123456789 \u200f\u200e").rstrip(".").casefold()
                if len(word) > 1 and word.isalpha() and word not in _NO_SCALE and digits in ("1", "2", "5"):
                    found[word] = len(str(count)) - len(digits)
    return found
