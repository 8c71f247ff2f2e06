"""A run of digits and separators -> the numbers it can mean.

1.234,56   one reading: the last mark, standing alone, is the decimal mark
1,234,567  one reading: a mark that repeats groups thousands
68,50      one reading: groups have three digits
1.226      two readings: 1226 and 1.226
1.2.3      none: a version, an address, a date
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_PARTS = re.compile(r"(\d+)|(\D+)")
_MARKS = {".": ",", ",": "."}
"""A mark that groups, and the decimal mark that goes with it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One meaning of a form; `decimal` is the decimal mark it takes for granted, None where it takes none."""

    value: Decimal
    decimal: str | None = None


def readings(form: str) -> tuple[Reading, ...]:
    """What `form` (ASCII digits with `.`, `,`, `'` or spaces between) can mean: none, one or two readings.

    >>> [str(reading.value) for reading in readings("1'234.50") + readings("1.226") + readings("1.2.3")]
    ['1234.50', '1226', '1.226']
    """
    whole, mark, fraction = _split_last_mark(form)
    if not mark:
        value = _grouped(form)
        return () if value is None else (Reading(value, _MARKS.get(_only_mark(form))),)
    found = []
    if (value := _grouped(form)) is not None:
        found.append(Reading(value, _MARKS[mark]))
    if mark not in whole and (integer := _grouped(whole or "0")) is not None:
        found.append(Reading(Decimal(f"{integer}.{fraction}"), mark))
    return tuple(found)


def _split_last_mark(form: str) -> tuple[str, str, str]:
    """What stands before and after the last `.` or `,`, and that mark; ("", "", "") where there is none.

    >>> _split_last_mark("1.234,56"), _split_last_mark("1 234")
    (('1.234', ',', '56'), ('', '', ''))
    """
    at = max(form.rfind("."), form.rfind(","))
    return ("", "", "") if at < 0 or not form[at + 1 :].isdigit() else (form[:at], form[at], form[at + 1 :])


def _only_mark(form: str) -> str:
    """The `.` or `,` that groups in `form`, "" where none does."""
    return next((char for char in form if char in _MARKS), "")


def _grouped(form: str) -> Decimal | None:
    """`form` as a whole number whose only separator groups thousands (or, in India, hundreds); None if it is not.

    >>> _grouped("12,34,567"), _grouped("1,23"), _grouped("0.500"), _grouped("1 234 567")
    (Decimal('1234567'), None, None, Decimal('1234567'))
    """
    if form.isdigit():
        return Decimal(form)
    digits = [digit for digit, _ in _PARTS.findall(form) if digit]
    marks = {mark for _, mark in _PARTS.findall(form) if mark}
    if len(marks) != 1 or not form[0].isdigit() or not form[-1].isdigit():
        return None
    first, middle, last = digits[0], digits[1:-1], digits[-1]
    western = len(first) <= 3 and all(len(part) == 3 for part in middle)
    indian = len(first) <= 2 and bool(middle) and all(len(part) == 2 for part in middle)
    if len(last) != 3 or first.startswith("0") or not (western or indian):
        return None
    return Decimal("".join(digits))
