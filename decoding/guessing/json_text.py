r"""Values -> JSON bytes as the grammar writes them: `": "` after keys, `", "` between members, no line breaks.

>>> dumps({"name": "Café \"No 5\"", "tags": ["a", None]}).decode()
'{"name": "Café \\"No 5\\"", "tags": ["a", null]}'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any


def dumps(value: Any) -> bytes:
    """The value as JSON in UTF-8, characters outside ASCII written as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": ")).encode("utf-8", "replace")


@lru_cache(maxsize=8192)
def string(text: str) -> bytes:
    r"""A JSON string, quotes included.

    >>> string('5" pipe')
    b'"5\\" pipe"'
    """
    return dumps(text)


def escape(text: str) -> bytes:
    r"""The inside of a JSON string that spells `text`.

    >>> escape('5" pipe')
    b'5\\" pipe'
    """
    return string(text)[1:-1]


def key_text(key: str) -> bytes:
    """A member's key and what stands before its value.

    >>> key_text("name")
    b'"name": '
    """
    return dumps(key) + b": "


_NUMBER = re.compile(r"[-+−]?\d[\d.,'’\s]*")
_GROUPED = re.compile(r"\d{1,3}(?:[,.'’\s]\d{3})+")


@lru_cache(maxsize=8192)
def plain_number(text: str) -> str | None:
    """The first number in `text` as JSON would write it, its written decimals kept; None where there is none.

    A lone comma or point before exactly three digits is read as a thousands separator only where it is a comma.

    >>> plain_number("€ 1,234.50"), plain_number("1.234,5 kg"), plain_number("12,50"), plain_number("1,140 words")
    ('1234.50', '1234.5', '12.50', '1140')
    >>> plain_number("−3"), plain_number("007"), plain_number("none")
    ('-3', '7', None)
    """
    found = _NUMBER.search(text)
    if found is None:
        return None
    raw = found.group().strip().rstrip(".,'’ \t\n")
    sign = "-" if raw[0] in "-−" else ""
    whole, fraction = _parts(raw.lstrip("-+−").replace("’", "'"))
    digits = whole.lstrip("0") or "0"
    return f"{sign}{digits}.{fraction}" if fraction else f"{sign}{digits}"


def _parts(raw: str) -> tuple[str, str]:
    """Digits before and after the decimal mark."""
    mark = _decimal_mark(raw)
    whole, _, fraction = raw.rpartition(mark) if mark else (raw, "", "")
    digits = "".join(char for char in whole if char.isascii() and char.isdigit())
    return digits, fraction if fraction.isascii() and fraction.isdigit() else ""


def _decimal_mark(raw: str) -> str:
    comma, point = raw.rfind(","), raw.rfind(".")
    if comma >= 0 and point >= 0:
        return "," if comma > point else "."
    if comma >= 0:
        return "" if _GROUPED.fullmatch(raw) else ","
    if point >= 0:
        return "" if raw.count(".") > 1 else "."
    return ""


def number_forms(text: str, integer: bool = False) -> tuple[str, ...]:
    """The ways a model may write the number that stands in `text`, as written first; () where there is none.

    >>> number_forms("212.50"), number_forms("15.00"), number_forms("3"), number_forms("15.00", integer=True)
    (('212.50', '212.5'), ('15.00', '15', '15.0'), ('3',), ('15',))
    >>> number_forms("about 5 or so", integer=True), number_forms("2.5", integer=True)
    (('5',), ())
    """
    plain = plain_number(text)
    if plain is None:
        return ()
    short = plain.rstrip("0").rstrip(".") if "." in plain else plain
    if integer:
        return () if "." in short else (short,)
    forms = [plain, short]
    if "." in plain and "." not in short:
        forms.append(f"{short}.0")
    return unique(forms)


def unique(values: Iterable[str]) -> tuple[str, ...]:
    """The values without repetitions, in order."""
    return tuple(dict.fromkeys(values))
