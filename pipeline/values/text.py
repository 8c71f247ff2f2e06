"""Text -> the same text with one spelling for digits, spaces and signs, code point for code point."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

WIDE_SPACE = "\u00a0"
"""What `plain` makes of every space that holds a number together: no-break, narrow, thin and figure spaces."""
_WIDE_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_SAME_LENGTH = {
    **dict.fromkeys("\u2212\u2010\u2011\ufe63\uff0d", "-"),  # minus sign, hyphens, small and full-width hyphen-minus
    **dict.fromkeys("\u2019\u2018\u02bc\uff07\u00b4", "'"),
    **dict.fromkeys(_WIDE_SPACES, WIDE_SPACE),
    "\uff0c": ",",
    "\uff0e": ".",
    "\u066b": ".",  # Arabic decimal separator
    "\u066c": "'",  # Arabic thousands separator: groups, and never marks decimals
    "\uff1a": ":",
    "\uff0f": "/",
    "\uff05": "%",
    "\u066a": "%",
    "\uff08": "(",
    "\uff09": ")",
    "\uff0b": "+",
    "\uff20": "@",
    "\uff04": "$",
    "\uffe1": "£",
    "\uffe5": "¥",
}


@lru_cache(maxsize=1)
def _table() -> dict[int, str]:
    digits = (
        chr(code) for code in range(128, 0x1FC00) if unicodedata.category(chr(code)) == "Nd"
    )  # the last is 0x1FBF9
    return {ord(digit): str(unicodedata.digit(digit)) for digit in digits} | {
        ord(char): same for char, same in _SAME_LENGTH.items()
    }


def plain(text: str) -> str:
    """`text` with ASCII digits, signs and apostrophes: as long as before, so that every offset still fits.

    >>> plain("١٢٫٥ − １２'３４５"), len(plain("१२\u202f000"))
    ("12.5 - 12'345", 6)
    """
    return text if text.isascii() else text.translate(_table())


def is_unspaced(char: str) -> bool:
    """Whether `char` belongs to a script that writes words without spaces between them.

    Chinese, Japanese, Thai, Lao, Khmer, Burmese and Tibetan; Hangul too, whose endings hang on to digits.

    >>> is_unspaced("年"), is_unspaced("é"), is_unspaced("9"), is_unspaced("개")
    (True, False, False, True)
    """
    code = ord(char)
    if code < 0x0E00:
        return False
    return (
        code <= 0x109F
        or 0x1100 <= code <= 0x11FF
        or 0x1780 <= code <= 0x17FF
        or 0x2E80 <= code <= 0xD7AF
        or 0xF900 <= code <= 0xFAFF
        or 0xFF66 <= code <= 0xFFDC
        or 0x1B000 <= code <= 0x1B16F
        or 0x20000 <= code <= 0x323AF
    )


def glued(char: str) -> bool:
    """Whether `char`, next to a number, makes the two one word: a letter of a spaced script, a digit, `_`.

    >>> [char for char in "A9_é年 €-" if glued(char)]
    ['A', '9', '_', 'é']
    """
    return (char.isalnum() or char == "_") and not is_unspaced(char)
