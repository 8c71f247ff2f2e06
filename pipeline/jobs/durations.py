"""Lengths of time as people write them: 90s, 15m, 6h, 1d, 1h30m."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_PART = re.compile(r"(\d+)\s*([smhdw])")


def parse_duration(text: str) -> timedelta:
    """The length that `text` spells; ValueError if it spells none.

    >>> parse_duration("1h30m")
    datetime.timedelta(seconds=5400)
    """
    parts = _PART.findall(text.strip().lower())
    if not parts or _PART.sub("", text.strip().lower()).strip():
        raise ValueError(f"{text!r} is no length of time; write 90s, 15m, 6h, 1d or 1h30m")
    return sum((timedelta(**{_UNITS[unit]: int(number)}) for number, unit in parts), timedelta())


def spell(length: timedelta) -> str:
    """The other way round, in whole seconds.

    >>> spell(timedelta(seconds=5400)), spell(timedelta())
    ('1h30m', '0s')
    """
    seconds, parts = round(length.total_seconds()), []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        number, seconds = divmod(seconds, size)
        parts += [f"{number}{unit}"] if number else []
    return "".join(parts) or "0s"


def _read(value: Any) -> Any:
    return parse_duration(value) if isinstance(value, str) else value


Length = Annotated[timedelta, BeforeValidator(_read), PlainSerializer(spell, return_type=str)]
"""A field that holds a length of time, written as text."""
