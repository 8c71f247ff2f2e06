"""Text -> the dates in it, in ISO 8601, whatever language and order they are written in.

A date whose order can be read two ways (03/04/2025) follows the weekday beside it, then the unmistakable dates of its
column, then those of the page, then the page's language. It keeps both readings, and never hides that there was a
choice: the flag is "ambiguous-date", or "order-from-siblings" where other dates made it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from lookstruct.pipeline.values.clock import ClockTime, find_times
from lookstruct.pipeline.values.date_forms import DMY, MDY, YMD, DateForm, date_forms
from lookstruct.pipeline.values.locales import NEUTRAL, Conventions
from lookstruct.pipeline.values.month_names import weekday_number
from lookstruct.pipeline.values.siblings import NO_COLUMNS, Ballot, Columns
from lookstruct.pipeline.values.spans import Cover
from lookstruct.pipeline.values.text import plain
from lookstruct.schemas.document import Span

AMBIGUOUS = "ambiguous-date"
FROM_SIBLINGS = "order-from-siblings"
_WEEKDAY_BEFORE = re.compile(r"(?<!\w)([^\W\d_]+)\.?[ \u00a0]?[,(]?[ \u00a0]?\Z")
_WEEKDAY_AFTER = re.compile(r"[ \u00a0]?[,(][ \u00a0]?([^\W\d_]+)\.?\)?")
_BEFORE_TIME = re.compile(
    r"[ \u00a0]?(?:[T,·|–-]|\([^\W\d_]{1,9}\))?[ \u00a0]?"
    r"(?:(?:at|um|à|a las|a les|às|as|alle|alle ore|ore|om|kl\.?|klo|o|в|у)[ \u00a0])?"
)
_AFTER_TIME = re.compile(r"[ \u00a0]?,?[ \u00a0]?(?:on[ \u00a0])?\Z")


@dataclass(frozen=True, slots=True)
class Moment:
    """A date (`kind` "date"), date and time ("datetime"), time of day ("time") or month ("month") on the page.

    `value` is ISO 8601: 2024-08-21, 2024-08-21T10:30:00, 10:30:00, 2024-08. `alternatives` are its other readings.
    A datetime stands beside the date that it contains. `flags`: "ambiguous-date",
    "order-from-siblings", "two-digit-year", "year-from-above".
    """

    value: str
    span: Span
    kind: str = "date"
    flags: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()

    @property
    def is_ambiguous(self) -> bool:
        """Whether the order of its numbers allows another date, and nothing on the page settles it."""
        return AMBIGUOUS in self.flags


def find_dates(text: str, conventions: Conventions = NEUTRAL, *, columns: Columns = NO_COLUMNS) -> tuple[Moment, ...]:
    """Every date, datetime, time and month-with-year in `text`, in order.

    >>> [moment.value for moment in find_dates("Published 21. August 2024, 10:30; due 28/11/2022")]
    ['2024-08-21', '2024-08-21T10:30:00', '2022-11-28']
    """
    even = plain(text)
    forms = date_forms(even, conventions)
    ballot: Ballot[str] = Ballot()
    for form in forms:
        if form.separator and len(form.readings) == 1:
            ballot.vote(next(iter(form.readings)), columns.at(form.span.start))
    decided = [_decided(form, even, ballot.winner(columns.at(form.span.start)), conventions) for form in forms]
    return _with_times(decided, find_times(even), even)


def parse_date(text: str, conventions: Conventions = NEUTRAL) -> Moment | None:
    """The one date, or the one datetime, in `text`; None if there is none or there are several.

    >>> parse_date("on Aug 21, 2024").value, parse_date("2024-08-21T10:30Z").value
    ('2024-08-21', '2024-08-21T10:30:00Z')
    """
    found = find_dates(text, conventions)
    dates = [moment for moment in found if moment.kind == "date"]
    whole = [moment for moment in found if moment.kind == "datetime"] or dates or list(found)
    return whole[0] if len(whole) == 1 and len(dates) <= 1 else None


def _decided(form: DateForm, text: str, page_order: str | None, conventions: Conventions) -> Moment:
    """The date a form stands for; `page_order` is the order of its unmistakable siblings."""
    values = list(dict.fromkeys(form.readings.values()))
    weekday = _weekday_beside(form.span, text, conventions) if len(values) > 1 else None
    right = [value for value in values if weekday is not None and date.fromisoformat(value).weekday() == weekday]
    if len(values) == 1 or len(right) == 1:
        return Moment((right or values)[0], form.span, form.kind, form.flags)
    from_siblings = form.readings.get(page_order or "")
    chosen = from_siblings or form.readings.get(_usual_order(conventions), values[0])
    others = tuple(value for value in values if value != chosen)
    flag = FROM_SIBLINGS if from_siblings else AMBIGUOUS
    return Moment(chosen, form.span, form.kind, (*form.flags, flag), others)


def _usual_order(conventions: Conventions) -> str:
    """The order of a date whose year may stand on either side, day first where nothing is known."""
    if conventions.year_first:
        return YMD
    return MDY if conventions.day_first is False else DMY


def _weekday_beside(span: Span, text: str, conventions: Conventions) -> int | None:
    """The weekday named right before or after a date."""
    before = _WEEKDAY_BEFORE.search(text[max(0, span.start - 24) : span.start])
    after = _WEEKDAY_AFTER.match(text, span.end)
    for found in (before, after):
        if found is not None and (number := weekday_number(found[1], conventions.name)) is not None:
            return number
    return None


def _with_times(dates: Sequence[Moment], times: Sequence[ClockTime], text: str) -> tuple[Moment, ...]:
    """Dates, times of day, and a datetime for each date with a time beside it, in page order."""
    pairs = _pairs(dates, times, text)
    taken = Cover([*(moment.span for moment in dates), *(time.span for _, time in pairs)])
    alone = [
        Moment(time.iso, time.span, "time")
        for time in times
        if not time.doubtful and not taken.touches(time.span.start, time.span.end)
    ]
    found = [*dates, *alone, *(_joined(day, time) for day, time in pairs)]
    return tuple(sorted(found, key=lambda moment: (moment.span.start, moment.span.end)))


def _pairs(dates: Sequence[Moment], times: Sequence[ClockTime], text: str) -> list[tuple[Moment, ClockTime]]:
    """Each full date with the time of day that follows it, else with the one before it."""
    starts = {time.span.start: time for time in times}
    ends = {time.span.end: time for time in times}
    found = []
    for day in dates:
        time = _time_after(day, starts, text) or _time_before(day, ends, text)
        if day.kind == "date" and time is not None:
            found.append((day, time))
    return found


def _time_after(day: Moment, starts: dict[int, ClockTime], text: str) -> ClockTime | None:
    gap = _BEFORE_TIME.match(text, day.span.end)
    return starts.get(gap.end()) if gap is not None and gap.end() > day.span.end else None


def _time_before(day: Moment, ends: dict[int, ClockTime], text: str) -> ClockTime | None:
    begin = max(0, day.span.start - 6)
    gap = _AFTER_TIME.search(text[begin : day.span.start])
    return ends.get(begin + gap.start()) if gap is not None and gap[0] else None


def _joined(day: Moment, time: ClockTime) -> Moment:
    span = Span(min(day.span.start, time.span.start), max(day.span.end, time.span.end))
    others = tuple(f"{other}T{time.iso}" for other in day.alternatives)
    return Moment(f"{day.value}T{time.iso}", span, "datetime", day.flags, others)
