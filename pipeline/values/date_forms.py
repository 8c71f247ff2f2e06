"""Text -> the dates written in it (`DateForm`), each with what it means by every possible order of its parts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from lookstruct.pipeline.values.locales import Conventions
from lookstruct.pipeline.values.month_names import month_number
from lookstruct.pipeline.values.spans import Cover
from lookstruct.pipeline.values.text import glued
from lookstruct.schemas.document import Span

DMY, MDY, YMD = "dmy", "mdy", "ymd"
TWO_DIGIT_YEAR, YEAR_ABOVE = "two-digit-year", "year-from-above"
_BUDDHIST = 543
"""Years of the Buddhist era count from here: 2567 is 2024."""

_NAME = r"[^\s\d,;:/()|\[\]<>\"–—-]{2,20}?(?:[ \u00a0](?:الثاني|الأول))?"
_ORDINAL = r"(?:st|nd|rd|th|er|[ºª°]|\.)?"
_OF = r"(?:[ \u00a0](?:de|del|di|do|da|of|the|i|den|der)(?=[ \u00a0]))?(?:[ \u00a0]?d')?"
_FULL_YEAR = r"(?:1[0-9]|2[0-6])[0-9]{2}"
_YEAR = rf"(?:{_FULL_YEAR}|'[0-9]{{2}})"
_DASH = r"[ \u00a0]?(?:[-–—~〜～]|to|bis|au|al)[ \u00a0]?"
_NUMERIC = re.compile(
    r"(?<![0-9.,/])([0-9]{1,4})([ \u00a0]?)([./-])([ \u00a0]?)([0-9]{1,2})\2\3\4([0-9]{1,4})(?![0-9]|\3[0-9])"
)
_DAY_NAME_YEAR = re.compile(
    rf"(?<![0-9.,/])([0-9]{{1,2}}){_ORDINAL}{_OF}[ \u00a0./-]{{0,2}}({_NAME})\.?{_OF}[ \u00a0,./-]{{1,2}}"
    rf"(?:(?:ค\.ศ\.|พ\.ศ\.)[ \u00a0]?)?(?:({_YEAR})|([0-9]{{2}}))(?![0-9]|[.,][0-9])"
)
_DAY_YEAR = re.compile(
    rf"(?<![0-9.,/])([0-9]{{1,2}}){_ORDINAL}(?:[ \u00a0]?,[ \u00a0]?|[ \u00a0-])({_YEAR})(?![0-9]|[.,][0-9])"
)
_YEAR_NAME_DAY = re.compile(
    rf"(?<![0-9.,/-])([12][0-9]{{3}})(?:\.|[ \u00a0][^\W\d_]{{1,4}}\.?)?[ \u00a0-]({_NAME})"
    r"[ \u00a0-]([0-9]{1,2})(?![0-9])"
)
_YEAR_DAY_NAME = re.compile(rf"(?<![0-9.,/-])([12][0-9]{{3}})\. gada ([0-9]{{1,2}})\. ({_NAME})(?![^\W\d_])")
_YEAR_ALONE = re.compile(rf"(?<=[ \u00a0])({_FULL_YEAR})(?![0-9]|[.,][0-9])")
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}
_CJK = re.compile(
    rf"(?:(?<![0-9])([0-9]{{4}})|({'|'.join(_ERAS)})[ \u00a0]?([0-9]{{1,3}}|元))[ \u00a0]?[年년]"
    r"[ \u00a0]?([0-9]{1,2})[ \u00a0]?[月월](?:[ \u00a0]?([0-9]{1,2})[ \u00a0]?[日일号號])?"
)
_VIETNAMESE = re.compile(r"(?<![0-9])([0-9]{1,2})[ ,][tT]háng ([0-9]{1,2})(?: năm|,)? ([12][0-9]{3})(?![0-9])")
_NAME_BEFORE = re.compile(rf"(?<!\w)({_NAME})\.?(?:[ \u00a0.-]|[ \u00a0]the[ \u00a0])\Z")
_NAME_BEFORE_YEAR = re.compile(rf"(?<![\w.,/-])({_NAME})\.?,?(?:[ \u00a0](?:de|del|di|do|of))?[ \u00a0]\Z")
_DAY_BEFORE_DASH = re.compile(rf"(?<![0-9.,/])([0-9]{{1,2}}){_ORDINAL}(?:{_OF}[ \u00a0]({_NAME})\.?)?{_DASH}\Z")
_NAME_DAY_DASH = re.compile(rf"(?<!\w)({_NAME})\.?[ \u00a0]([0-9]{{1,2}}){_ORDINAL}{_DASH}\Z")
_DAY_NAME = re.compile(
    rf"(?<![0-9.,/-])([0-9]{{1,2}}){_ORDINAL}{_OF}[ \u00a0]({_NAME})(?![^\W_])(?!\.?[ \u00a0,]{{1,2}}[0-9])"
)
_DAY_ALONE = re.compile(rf"(?<=[ \u00a0])([0-9]{{1,2}}){_ORDINAL}(?![0-9]|[.,:/-][0-9]|[ \u00a0,]{{1,2}}[0-9]{{4}})")
_END_OF_FIELD = re.compile(r"[ \u00a0]?(?:\Z|[\n|,;)]|[0-9]{1,2}:[0-9]{2})")
_WINDOW = 30
"""How many code points before a date its month or the start of its range is looked for."""


@dataclass(frozen=True, slots=True)
class DateForm:
    """A date as written. `readings` maps an order of parts to the ISO date it makes; `separator` is "" for dates with
    a month's name. `kind` is "date" or "month"."""

    span: Span
    readings: Mapping[str, str]
    separator: str = ""
    kind: str = "date"
    flags: tuple[str, ...] = ()


def date_forms(text: str, conventions: Conventions) -> list[DateForm]:
    """The dates written in `text` (as `text.plain` returns it), in order, the longest of those that overlap."""
    finder = _Finder(text, conventions)
    found = [*finder.numeric(), *finder.named(), *finder.numbered_months(), *finder.months()]
    kept: list[DateForm] = []
    for form in sorted(found, key=lambda form: (form.span.start, -form.span.end)):
        if not kept or form.span.start >= kept[-1].span.end:
            kept.append(form)
        elif len(form.span) > len(kept[-1].span):
            kept[-1] = form
    return finder.with_years_from_above(kept)


class _Finder:
    """Goes through one text once for each kind of date."""

    def __init__(self, text: str, conventions: Conventions) -> None:
        self.text = text
        self.conventions = conventions

    def numeric(self) -> Iterator[DateForm]:
        """`28/11/2022`, `2022-11-28`, `28. 11. 22`."""
        for found in _NUMERIC.finditer(self.text):
            first, before, separator, after, second, third = found.groups()
            if before or (after and separator != ".") or self._joined_before(found.start(), separator):
                continue
            readings = self._readings(first, second, third, separator)
            if readings:
                flags = (TWO_DIGIT_YEAR,) if max(len(first), len(third)) < 3 else ()
                yield DateForm(Span(*found.span()), readings, separator, flags=flags)

    def _joined_before(self, start: int, separator: str) -> bool:
        """Whether the digits go on to the left: a word, or a longer row of numbers."""
        before = self.text[start - 1 : start]
        return bool(before) and (glued(before) or before == separator)

    def _readings(self, first: str, second: str, third: str, separator: str) -> dict[str, str]:
        """Which date the three parts make by each order that is possible."""
        orders = {DMY: (third, second, first), MDY: (third, first, second), YMD: (first, second, third)}
        if len(first) == 4 and len(third) <= 2:
            del orders[DMY], orders[MDY]
        elif len(third) == 4 and len(first) <= 2:
            del orders[YMD]
        elif len(first) > 2 or not self._may_have_short_year(first, second, third, separator):
            return {}
        elif not self.conventions.year_first:
            del orders[YMD]
        if separator == "." and self.conventions.day_first is not False:
            orders.pop(MDY, None)  # who writes days first sets no full stop between month and day
        made = {order: self._iso(*parts) for order, parts in orders.items()}
        return {order: value for order, value in made.items() if value}

    def _may_have_short_year(self, first: str, second: str, third: str, separator: str) -> bool:
        """Whether `1.2.24` can be a date, and not a version, a section or a score."""
        if len(third) != 2:
            return self.conventions.year_first and len(first) == 2 and separator == self.conventions.date_separator
        if separator in (self.conventions.date_separator, "/"):
            return True
        return len(first) == len(second) == 2 and (separator == "." or int(first) > 12 or int(second) > 12)

    def named(self) -> Iterator[DateForm]:
        """Dates with a month's name: day first, month first, year first; with the start of a range before them."""
        for found in _DAY_NAME_YEAR.finditer(self.text):
            day, name, year, short = found.groups()
            if short is None or found[0][-3] in "-/." or _END_OF_FIELD.match(self.text, found.end()):
                yield from self._with_range(found.span(), year or short, self._month(name), day)
        for found in _DAY_YEAR.finditer(self.text):
            start, name = self._month_before(found.start())
            yield from self._with_range((start, found.end()), found[2], self._month(name), found[1])
        for found in _YEAR_NAME_DAY.finditer(self.text):
            yield from self._form(found.span(), found[1], self._month(found[2]), found[3])
        for found in _YEAR_DAY_NAME.finditer(self.text):
            yield from self._form(found.span(), found[1], self._month(found[3]), found[2])

    def _month(self, name: str) -> int | None:
        return month_number(name, self.conventions.name) if name else None

    def _month_before(self, end: int) -> tuple[int, str]:
        """The word right before a day, and where it begins; before `5–7` for `May 5–7, 2024`."""
        begin = max(0, end - _WINDOW)
        before = self.text[begin:end]
        found = _NAME_BEFORE.search(before)
        if found is not None:
            return begin + found.start(1), found[1]
        ranged = _NAME_DAY_DASH.search(before)
        return (end, ranged[1]) if ranged is not None else (end, "")

    def _with_range(self, span: tuple[int, int], year: str, month: int | None, day: str) -> Iterator[DateForm]:
        """A date, after the day that a range before it begins with: `5–7 May 2024`, `May 5 – May 7, 2024`."""
        if month is None:
            return
        begin = max(0, span[0] - _WINDOW)
        before = self.text[begin : span[0]]
        if (low := _NAME_DAY_DASH.search(before)) is not None and (earlier := self._month(low[1])) is not None:
            yield from self._form((begin + low.start(1), begin + low.end(2)), year, earlier, low[2])
        elif (low := _DAY_BEFORE_DASH.search(before)) is not None:
            earlier = self._month(low[2]) if low[2] else month
            end = low.end(2) if low[2] else low.end(1)
            yield from self._form((begin + low.start(1), begin + end), year, earlier, low[1])
        yield from self._form(span, year, month, day)

    def _form(self, span: tuple[int, int], year: str, month: int | None, day: str) -> Iterator[DateForm]:
        digits = year.lstrip("'")
        if month is None or (span[0] > 0 and glued(self.text[span[0] - 1])):
            return
        value = self._iso(digits, str(month), day)
        if value:
            yield DateForm(Span(*span), {YMD: value}, flags=(TWO_DIGIT_YEAR,) if len(digits) == 2 else ())

    def numbered_months(self) -> Iterator[DateForm]:
        """`2024年8月21日`, `令和6年8月21日`, `2024년 8월`, `21 tháng 8, 2024`."""
        for found in _CJK.finditer(self.text):
            western, era, era_year, month, day = found.groups()
            year = western or str(_ERAS[era] + (1 if era_year == "元" else int(era_year)))
            value = self._iso(year, month, day or "1")
            if value and day:
                yield DateForm(Span(*found.span()), {YMD: value})
            elif value:
                yield DateForm(Span(*found.span()), {YMD: value[:7]}, kind="month")
        for found in _VIETNAMESE.finditer(self.text):
            yield from self._form(found.span(), found[3], int(found[2]), found[1])

    def months(self) -> Iterator[DateForm]:
        """`August 2024`."""
        for found in _YEAR_ALONE.finditer(self.text):
            begin = max(0, found.start() - _WINDOW)
            name = _NAME_BEFORE_YEAR.search(self.text[begin : found.start()])
            month = month_number(name[1], self.conventions.name, foreign=False) if name is not None else None
            if name is not None and month is not None and (value := self._iso(found[1], str(month), "1")):
                yield DateForm(Span(begin + name.start(1), found.end()), {YMD: value[:7]}, kind="month")

    def with_years_from_above(self, forms: list[DateForm]) -> list[DateForm]:
        """The forms, and days without a year below a heading that names month and year: `3 Apr` below `April 2025`."""
        headings = [form for form in forms if form.kind == "month"]
        if not headings:
            return forms
        taken = Cover(form.span for form in forms)
        free = (one for one in self._days() if not taken.touches(one[0].start, one[0].end))
        found = [form for span, month, day in free if (form := self._below(headings, span, month, day)) is not None]
        return sorted([*forms, *found], key=lambda form: form.span)

    def _days(self) -> Iterator[tuple[Span, int, str]]:
        """Days without a year: where they stand, their month and day. None stands within another."""
        end = 0
        days = [(found.start(), found.end(), found[2], found[1]) for found in _DAY_NAME.finditer(self.text)]
        for found in _DAY_ALONE.finditer(self.text):
            begin = max(0, found.start() - _WINDOW)
            if (before := _NAME_BEFORE.search(self.text[begin : found.start()])) is not None:
                days.append((begin + before.start(1), found.end(), before[1], found[1]))
        for start, stop, name, day in sorted(days):
            month = month_number(name, self.conventions.name, foreign=False)
            if month is not None and start >= end:
                yield Span(start, stop), month, day
                end = stop

    def _below(self, headings: list[DateForm], span: Span, month: int, day: str) -> DateForm | None:
        """A day with the year of the last month-with-year above it, if that is its month."""
        at = bisect_left(headings, span, key=lambda form: form.span) - 1
        year, _, named = headings[at].readings[YMD].partition("-") if at >= 0 else ("", "", "")
        value = self._iso(year, str(month), day) if named == f"{month:02}" else ""
        return DateForm(span, {YMD: value}, flags=(YEAR_ABOVE,)) if value else None

    def _iso(self, year: str, month: str, day: str) -> str:
        """The ISO form of a date, "" if there is no such day; two-digit years lie between 1970 and 2069."""
        full = int(year)
        if len(year) == 2:
            full += 2000 if full < 70 else 1900
        elif full > 2400:
            full -= _BUDDHIST
        if self.conventions.language == "fa" and full < 1583:
            return ""  # a Persian year: another calendar
        try:
            return date(full, int(month), int(day)).isoformat() if 1000 <= full <= 2199 else ""
        except ValueError:
            return ""
