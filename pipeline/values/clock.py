"""Text -> the times of day in it: `10:30`, `3 pm`, `14.00 Uhr`, `10時30分`, `下午3:30`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lookstruct.schemas.document import Span

_HALF_BEFORE = r"(?P<before>午前|午後|上午|下午|오전|오후)?[ \u00a0]?"
_HALF = r"(?:[ \u00a0]?(?P<half>[AaPp](?:\.[ \u00a0]?)?[Mm]\b\.?|午前|午後|上午|下午|صباح|مساء))?"
_ZONE = r"(?:[ \u00a0]?(?P<zone>Z\b|UTC\b|GMT\b|[+-][0-9]{2}:?[0-9]{2}(?![0-9])))?"
_PATTERNS = (
    re.compile(
        rf"{_HALF_BEFORE}(?<![0-9:.,/-])(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-5][0-9])"
        rf"(?::(?P<second>[0-5][0-9])(?:[.,][0-9]{{1,9}})?)?(?![0-9:]){_HALF}{_ZONE}"
    ),
    re.compile(
        r"(?<![0-9:.,/-])(?P<hour>1[0-2]|0?[1-9])(?:\.(?P<minute>[0-5][0-9]))?[ \u00a0]?(?P<half>[AaPp]\.?[Mm]\b\.?)"
    ),
    re.compile(r"(?<![0-9:.,/-])(?P<hour>[0-9]{1,2})(?:[.:](?P<minute>[0-5][0-9]))?[ \u00a0]?(?:Uhr|uur|klo)\b"),
    re.compile(r"(?<![0-9:.,/-])(?P<hour>[0-9]{1,2})[ \u00a0]?[hH][ \u00a0]?(?P<minute>[0-5][0-9])(?![0-9A-Za-z])"),
    re.compile(
        rf"{_HALF_BEFORE}(?<![0-9])(?P<hour>[0-9]{{1,2}})(?:時(?!間)|点(?!击)|點|시(?!간))"
        r"(?:[ \u00a0]?(?P<minute>[0-5]?[0-9])(?:分|분))?"
    ),
)
_H_FORM = 3
"""The index of `10h30`, which is a time of day only beside a date: alone it is a duration."""


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day; `iso` is hh:mm:ss, with a zone where one is written. `doubtful`: it may be a duration."""

    iso: str
    span: Span
    doubtful: bool = False


def find_times(text: str) -> tuple[ClockTime, ...]:
    """The times of day in `text` (as `text.plain` returns it), in order, none inside another.

    >>> [time.iso for time in find_times("10:30 PM, 14.00 Uhr, 9時5分, 12:30:15Z, 3:75")]
    ['22:30:00', '14:00:00', '09:05:00', '12:30:15Z']
    """
    found = sorted(_all(text), key=lambda time: (time.span.start, -time.span.end))
    kept: list[ClockTime] = []
    for time in found:
        if not kept or time.span.start >= kept[-1].span.end:
            kept.append(time)
    return tuple(kept)


def _all(text: str) -> Iterator[ClockTime]:
    for number, pattern in enumerate(_PATTERNS):
        for match in pattern.finditer(text):
            iso = _iso(match)
            if iso is not None:
                start = match.start("before") if _part(match, "before") else match.start("hour")
                yield ClockTime(iso, Span(start, match.end()), number == _H_FORM)


def _iso(match: re.Match[str]) -> str | None:
    hour, minute, second = (int(_part(match, name) or 0) for name in ("hour", "minute", "second"))
    half = _part(match, "half") or _part(match, "before")
    if half:
        if not 1 <= hour <= 12:
            half = ""
        elif half[0] in "Pp下" or half in ("午後", "오후", "مساء"):
            hour = hour % 12 + 12
        else:
            hour %= 12
    if hour > 23 or minute > 59:
        return None
    return f"{hour:02}:{minute:02}:{second:02}{_zone(_part(match, 'zone'))}"


def _part(match: re.Match[str], name: str) -> str:
    return match.groupdict().get(name) or ""


def _zone(written: str) -> str:
    """A zone as ISO 8601 has it.

    >>> _zone("+0200"), _zone("GMT"), _zone("")
    ('+02:00', 'Z', '')
    """
    if not written or written in ("Z", "UTC", "GMT"):
        return "Z" if written else ""
    return written if ":" in written else f"{written[:3]}:{written[3:]}"
