"""Text -> the durations in it, in ISO 8601: `1 hr 20 min`, `45 Minuten`, `1h30`, `PT45M`, `2時間30分`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from babel.units import format_unit

from lookstruct.pipeline.values.locales import NEUTRAL, Conventions
from lookstruct.pipeline.values.month_names import name_key
from lookstruct.pipeline.values.text import glued, is_unspaced, plain
from lookstruct.schemas.document import Span

RANGE_LOW, RANGE_HIGH = "range-low", "range-high"
_SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_UNITS = ("year", "month", *_SECONDS)
"""From long to short: the parts of a duration stand in this order."""
_EXTRA = {
    "hr": "hour", "hrs": "hour", "h": "hour", "std": "hour", "u": "hour", "godz": "hour", "hod": "hour",
    "mins": "minute", "mn": "minute", "mts": "minute",
    "sec": "second", "secs": "second", "sek": "second", "seg": "second",
    "小时": "hour", "小時": "hour", "时间": "hour", "時間": "hour", "시간": "hour", "钟头": "hour",
    "分钟": "minute", "分鐘": "minute", "分": "minute", "분": "minute",
    "秒": "second", "초": "second", "天": "day", "日間": "day", "週間": "week", "周": "week",
    "個月": "month", "个月": "month", "ヶ月": "month", "か月": "month", "ชม": "hour",
}  # fmt: skip
_SHORT = {"m": "minute", "s": "second", "d": "day", "mo": "month", "y": "year", "j": "day", "p": "minute"}
"""Letters that mean many things: believed only after a longer unit (1h 30m) or, for days and years, before one."""
_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
"""Whose unit names are known on every page."""

_NUMBER = r"[0-9]+(?:[.,][0-9]{1,3})?"
_PART = re.compile(
    rf"(?P<number>{_NUMBER}(?:[ \u00a0](?P<over>[1-9])/(?P<under>[2-8]))?|[1-9]/[2-8])(?P<fraction>[ \u00a0]?[½¼¾⅓⅔])?"
    r"[ \u00a0]?-?(?:de[ \u00a0])?(?P<unit>[^\W\d_][^\s\d,;:()/|+–—-]{0,15})"
    r"|(?P<alone>[½¼¾])[ \u00a0](?P<unit_of_fraction>[^\W\d_]{1,15})"
)
_START = re.compile(r"[0-9½¼¾]")
_GLUE = re.compile(r"[ \u00a0]?,?[ \u00a0]?(?:(?:and|und|et|y|e|en|i|och|og|ja|a|и|ve|&|\+)[ \u00a0])?")
_BARE_MINUTES = re.compile(r"[ \u00a0]?([0-5]?[0-9])(?![0-9:/]|[.,][0-9]|[ \u00a0]?[^\W\d_]|[ \u00a0]?[%€$£])")
_LOW = re.compile(
    rf"(?<![0-9.,/:])({_NUMBER})(?:[ \u00a0]?[-–—~〜～][ \u00a0]?|[ \u00a0](?:to|or|bis|à|a|al|tot|do|до)[ \u00a0])\Z"
)
_ISO = re.compile(
    r"(?<![A-Za-z0-9])P(?=[0-9T])(?:[0-9]{1,4}Y)?(?:[0-9]{1,4}M)?(?:[0-9]{1,4}W)?(?:[0-9]{1,5}D)?"
    r"(?:T(?=[0-9])(?:[0-9]{1,5}H)?(?:[0-9]{1,6}M)?(?:[0-9]{1,6}(?:\.[0-9]{1,9})?S)?)?(?![A-Za-z0-9])"
)
_CLOCK = re.compile(r"(?<![0-9:.,])([0-9]{1,3}):([0-5][0-9])[ \u00a0]?(?:h|hrs?|hours?|Std|Stunden)\b\.?")
_ISO_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Z])")
_FRACTION = {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75"), "⅓": Decimal(1) / 3, "⅔": Decimal(2) / 3}


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time on the page. `value` is ISO 8601 with its parts carried over (90 minutes are PT1H30M), as
    pydantic writes a timedelta; `seconds` is None for years and months, whose length varies.
    """

    value: str
    span: Span
    seconds: Decimal | None = None
    flags: tuple[str, ...] = ()


def find_durations(text: str, conventions: Conventions = NEUTRAL) -> tuple[Duration, ...]:
    """Every duration in `text`, in order.

    >>> [found.value for found in find_durations("Prep: 1 hr 20 min, cook 45–60 minutes, 1h30, PT90M, 2 m wide")]
    ['PT1H20M', 'PT45M', 'PT1H', 'PT1H30M', 'PT1H30M']
    """
    even = plain(text)
    found = [*_Reader(even, _units(conventions.name)).all(), *_iso_durations(even), *_clock_durations(even)]
    return tuple(sorted(found, key=lambda duration: duration.span))


def parse_duration(text: str, conventions: Conventions = NEUTRAL) -> Duration | None:
    """The one duration in `text`; None if there is none or there are several.

    >>> parse_duration("PT45M").seconds, parse_duration("soon")
    (Decimal('2700'), None)
    """
    found = find_durations(text, conventions)
    return found[0] if len(found) == 1 else None


_LABEL = 24
_GLUED_LABEL = re.compile(r"(?<![^\W_])[^\W\d_]{4,}\Z")
"""A word that a page shows above or beside a time, and its markup right before it: `Préparation25 min`."""


class _Reader:
    """Reads one text; `units` are the names of units on its page."""

    def __init__(self, text: str, units: Mapping[str, str]) -> None:
        self.text = text
        self._units = units

    def all(self) -> Iterator[Duration]:
        at = 0
        while (digit := _START.search(self.text, at)) is not None:
            parts, end = self._parts(digit.start())
            if parts:
                span = Span(digit.start(), end)
                low = self._low(span, parts)
                if low is not None:
                    yield low
                yield _duration(parts, span, (RANGE_HIGH,) if low is not None else ())
            at = max(end, self._after_digits(digit.start()))

    def _after_digits(self, at: int) -> int:
        while at < len(self.text) and self.text[at] in "0123456789.,½¼¾":
            at += 1
        return at

    def _parts(self, start: int) -> tuple[dict[str, Decimal], int]:
        """The parts of a duration that begins at `start`, unit -> amount, and where it ends."""
        parts: dict[str, Decimal] = {}
        before = self.text[max(0, start - _LABEL) : start]
        if before and (before[-1] in ".,/:" or (glued(before[-1]) and not _GLUED_LABEL.search(before))):
            return {}, start
        at, end = start, start
        while (found := _PART.match(self.text, at)) is not None:
            unit, unit_end = self._unit(found, parts)
            if unit is None or (parts and _UNITS.index(unit) <= _UNITS.index(list(parts)[-1])):
                break
            parts[unit] = _amount(found)
            end = unit_end
            glue = _GLUE.match(self.text, end)
            at = glue.end() if glue is not None else end
        if list(parts) == ["hour"] and self.text[end - 1] in "hHu" and not self.text[end - 2].isalpha():
            minutes = _BARE_MINUTES.match(self.text, end)
            if minutes is not None:
                parts["minute"], end = Decimal(minutes[1]), minutes.end()
        cut_off = self.text[end : end + 1].isdigit() and self.text[end - 1 : end].isalpha()  # 12 h2o
        return ({}, start) if cut_off and not is_unspaced(self.text[end - 1]) else (parts, end)

    def _unit(self, found: re.Match[str], parts: Mapping[str, Decimal]) -> tuple[str | None, int]:
        """The unit that a part names, and where its name ends."""
        name = "unit" if found["unit"] else "unit_of_fraction"
        written, start = found[name], found.start(name)
        word = written.rstrip(".!?'\"”»]")
        key = name_key(word)
        unit = self._units.get(key)
        if unit is None and key in _SHORT and (parts or (key in "dj" and _PART.match(self.text, found.end()))):
            unit = _SHORT[key]
        if unit is None and is_unspaced(written[0]):
            lengths = (length for length in range(min(4, len(written)), 0, -1) if written[:length] in self._units)
            length = next(lengths, 0)
            return (self._units[written[:length]], start + length) if length else (None, start)
        dotted = written != word and written[len(word)] == "." and len(word) <= 5
        return unit, start + len(word) + dotted

    def _low(self, span: Span, parts: Mapping[str, Decimal]) -> Duration | None:
        """The low end of a range whose unit stands behind the high end: the 45 of `45–60 minutes`."""
        begin = max(0, span.start - 16)
        found = _LOW.search(self.text[begin : span.start])
        if found is None or len(parts) != 1:
            return None
        low = {next(iter(parts)): Decimal(found[1].replace(",", "."))}
        return _duration(low, Span(begin + found.start(1), begin + found.end(1)), (RANGE_LOW,))


def _amount(found: re.Match[str]) -> Decimal:
    if found["alone"]:
        return _FRACTION[found["alone"]]
    number, _, over = found["number"].replace("\u00a0", " ").partition(" ")
    if "/" in number:
        number, over = "0", number
    amount = Decimal(number.replace(",", "."))
    if over:
        amount += Decimal(over[0]) / Decimal(over[2])
    return amount + _FRACTION[found["fraction"].strip("\u00a0 ")] if found["fraction"] else amount


def _duration(parts: Mapping[str, Decimal], span: Span, flags: tuple[str, ...] = ()) -> Duration:
    months = parts.get("year", Decimal(0)) * 12 + parts.get("month", Decimal(0))
    seconds = sum((amount * _SECONDS[unit] for unit, amount in parts.items() if unit in _SECONDS), Decimal(0))
    rounded = round(seconds, 3)  # a third of an hour is 1199.999… seconds
    exact = Decimal(int(rounded)) if rounded == int(rounded) else rounded
    return Duration(iso_duration(months, exact), span, None if months else exact, flags)


def iso_duration(months: Decimal, seconds: Decimal) -> str:
    """Months and seconds as ISO 8601, carried over to years, days, hours and minutes.

    >>> iso_duration(Decimal(0), Decimal(5400)), iso_duration(Decimal(30), Decimal(0))
    ('PT1H30M', 'P2Y6M')
    """
    years, month = divmod(int(months), 12)
    minutes, rest = divmod(seconds, 60)
    hours, minute = divmod(int(minutes), 60)
    days, hour = divmod(hours, 24)
    second = format(rest.normalize(), "f")
    day_part = "".join(f"{amount}{unit}" for amount, unit in ((years, "Y"), (month, "M"), (days, "D")) if amount)
    time_part = "".join(f"{amount}{unit}" for amount, unit in ((hour, "H"), (minute, "M")) if amount)
    time_part += f"{second}S" if rest else ""
    return "P" + (day_part + ("T" + time_part if time_part else "") if day_part or time_part else "T0S")


def _iso_durations(text: str) -> Iterator[Duration]:
    for found in _ISO.finditer(text):
        dates, _, times = found[0][1:].partition("T")
        names = {"Y": "year", "M": "month", "W": "week", "D": "day"}
        parts = {names[unit]: Decimal(amount) for amount, unit in _ISO_PART.findall(dates)}
        names = {"H": "hour", "M": "minute", "S": "second"}
        parts |= {names[unit]: Decimal(amount) for amount, unit in _ISO_PART.findall(times)}
        if parts:
            yield _duration(parts, Span(*found.span()))


def _clock_durations(text: str) -> Iterator[Duration]:
    """`1:20 h`."""
    for found in _CLOCK.finditer(text):
        yield _duration({"hour": Decimal(found[1]), "minute": Decimal(found[2])}, Span(*found.span()))


@lru_cache(maxsize=64)
def _units(locale: str | None) -> Mapping[str, str]:
    """Names of units in the page's language and a few others -> unit."""
    found = dict(_EXTRA)
    for language in (*([locale] if locale else []), *_LANGUAGES):
        for unit in _UNITS:
            for key in _unit_names(language, unit):
                found.setdefault(key, unit)
    return found


def _unit_names(language: str, unit: str) -> Iterator[str]:
    """How CLDR writes a unit behind a number, in each plural; single letters are left out."""
    for width in ("long", "short", "narrow"):
        for count in (1, 2, 3, 5, 11, 1.5):
            written = format_unit(count, f"duration-{unit}", length=width, locale=language, numbering_system="latn")
            key = name_key(written.replace("\u00a0", " ").strip("0123456789,.\u200f\u200e "))
            if (len(key) > 1 and " " not in key and not any(char.isdigit() for char in key)) or key in (
                "ч",
                "分",
                "秒",
            ):
                yield key
