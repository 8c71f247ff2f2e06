"""Text -> its words with their offsets, spelled so that the same word always compares equal.

A word is a run of letters, a run of digits, one character of a script without spaces, or one symbol; punctuation and
white space stand between words. Its key is composed (NFC), lower case, and free of invisible characters, ligatures
and full-width forms; accents stay, superscripts are no digits, and 1/2 is the same word as ½.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from lookstruct.pipeline.values.text import is_unspaced

_KEPT_APART = ("<super>", "<sub>", "<fraction>", "<circle>")
"""Compatibility forms that mean something else than what they decompose to: 10² is not 102."""
_FRACTIONS = {
    **{"1/2": "½", "1/3": "⅓", "2/3": "⅔", "1/4": "¼", "3/4": "¾", "1/5": "⅕", "2/5": "⅖", "3/5": "⅗", "4/5": "⅘"},
    **{"1/6": "⅙", "5/6": "⅚", "1/8": "⅛", "3/8": "⅜", "5/8": "⅝", "7/8": "⅞"},
}
_ASCII_SYMBOLS = "$+<=>^`~"
_ASCII_PARTS = re.compile("[A-Za-z]+|[0-9]+")


class Token(NamedTuple):
    """One word: its key and the range [start, end) of the text it was read from."""

    key: str
    start: int
    end: int


def tokenize(text: str) -> Iterator[Token]:
    """The words of `text`, in order.

    >>> [token.key for token in tokenize("Café ﬁn, 5kg 10² €3.5 東京")]
    ['café', 'fin', '5', 'kg', '10', '²', '€', '3', '5', '東', '京']
    """
    for found in _runs().finditer(text):
        run, start = found[0], found.start()
        if run in _FRACTIONS:
            yield Token(_FRACTIONS[run], start, found.end())
        elif not run.isascii():
            yield from _split(run, start)
        elif run.isalpha() or run.isdigit() or not run.isalnum():
            yield Token(run.lower(), start, found.end())
        else:
            yield from (Token(p[0].lower(), start + p.start(), start + p.end()) for p in _ASCII_PARTS.finditer(run))


def _split(run: str, offset: int) -> Iterator[Token]:
    """The words of a run that is not ASCII: characters that go together stay together."""
    begin, kind = 0, ""
    for at, char in enumerate(run):
        next_kind = _kind(char)
        if next_kind == "mark":
            continue
        if at > begin and (next_kind != kind or kind == "single"):
            yield Token(_key(run[begin:at]), offset + begin, offset + at)
            begin = at
        kind = next_kind
    if run:
        yield Token(_key(run[begin:]), offset + begin, offset + len(run))


@lru_cache(maxsize=8192)
def _kind(char: str) -> str:
    """What a character does to its word: "mark" stays with it, "letter" and "digit" run on, "single" stands alone."""
    category = unicodedata.category(char)
    if category[0] == "M" or category == "Cf" or _joins_hangul(char):
        return "mark"
    if category == "Nd":
        return "digit"
    return "letter" if category[0] == "L" and not is_unspaced(char) else "single"


def _joins_hangul(char: str) -> bool:
    """Whether `char` is a vowel or final that composes with the Hangul letter before it."""
    return "\u1160" <= char <= "\u11ff"


@lru_cache(maxsize=65536)
def _key(word: str) -> str:
    return unicodedata.normalize("NFC", "".join(map(_folded, unicodedata.normalize("NFC", word))))


@lru_cache(maxsize=8192)
def _folded(char: str) -> str:
    """One character of a key; "" for what is invisible."""
    if unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f":
        return ""
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if unicodedata.decomposition(char).startswith(_KEPT_APART):
        return char
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold())


@lru_cache(maxsize=1)
def _runs() -> re.Pattern[str]:
    """Matches a simple fraction, a run of letters, digits and marks, or one symbol with its marks."""
    categories = {chr(code): unicodedata.category(chr(code)) for code in range(0x80, 0x10000)}
    marks = _ranges(char for char, category in categories.items() if category[0] == "M" or category == "Cf")
    symbols = re.escape(_ASCII_SYMBOLS) + _ranges(char for char, category in categories.items() if category[0] == "S")
    symbols += "\U0001f000-\U0001faff"
    marks += "\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef"  # skin tones, variation selectors
    fractions = r"(?<![\w/.,-])[1-7]/[2-8](?![\w/-]|[.,]\d)"
    return re.compile(rf"{fractions}|[^\W_]+(?:[{marks}]+[^\W_]*)*|[{symbols}][{marks}]*")


def _ranges(chars: Iterator[str]) -> str:
    """Characters in order -> the ranges of a regular expression's character class."""
    found: list[list[int]] = []
    for code in map(ord, chars):
        if found and code == found[-1][1] + 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in found)
