"""Page text -> what on it could be a value (`Candidate`): numbers, prices, dates, addresses, and labelled lines.

A quick look by regular expressions, for pages that come without candidates of their own and as a complement to
those that do. A wrong guess costs a row of a forward pass and nothing else, so both readings of an ambiguous date
are given, and every line is offered as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lookstruct.decoding.guessing.json_text import plain_number
from lookstruct.decoding.guessing.page_text import Line, PageText
from lookstruct.decoding.request import Candidate

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<{}>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_ISO = re.compile(r"\b(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)\b")
_DAY_FIRST = re.compile(
    r"\b(?P<d>\d{1,2})(?:st|nd|rd|th|\.)? (?:of )?" + _MONTH.format("mon") + r",? (?P<y>\d{4})\b", re.I
)
_MONTH_FIRST = re.compile(r"\b" + _MONTH.format("mon") + r" (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>\d{4})\b", re.I)
_NUMERIC = re.compile(r"\b(?P<a>\d{1,2})(?P<sep>[./-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})\b")
_CJK = re.compile(r"(?P<y>\d{4})\s?[年년]\s?(?P<m>\d{1,2})\s?[月월]\s?(?P<d>\d{1,2})\s?[日일]")
_CLOCK = re.compile(r"\b(?P<h>\d{1,2})[:.](?P<min>\d\d)(?:[:.]\d\d)?\s*(?P<half>[ap]\.?m\b)?", re.I)
_EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"')\]|]+")
_PHONE = re.compile(r"(?<![\w.,/-])(?:\+|\(0|0)[\d ()/.-]{6,18}\d(?![\w-])")
_CURRENCY = r"[$€£¥₹₩₽₺฿]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR|CNY|BRL|kr|zł)\b"
_AMOUNT = re.compile(
    rf"(?P<pre>{_CURRENCY})?\s?"
    r"(?P<n>(?:(?<!\w)[-−])?(?<![\w.,])\d+(?:[.,'’\u00a0\u202f]\d+|[ \u00a0\u202f]\d{3}(?!\d))*)"
    rf"(?:\s?(?P<post>{_CURRENCY}))?"
)
_DURATION = re.compile(
    r"\b(?:(?P<d>\d+)\s?d(?:ays?)?\b)?[ ,]*(?:(?P<h>\d+)\s?h(?:(?:ou)?rs?)?\b\.?)?(?:[ ,]|and)*"
    r"(?:(?P<m>\d+)\s?m(?:in(?:ute)?s?)?\b)?",
    re.I,
)
_TIME = re.compile(r"\b\d{1,2}(?:[:.]\d\d(?::\d\d)?(?:\s?[ap]\.?m\b\.?)?|\s?[ap]m\b)", re.I)
_CODE = re.compile(r"(?<![\w.,-])(?=[A-Z0-9/.-]*\d)[A-Z0-9]+(?:[-/.]?[A-Z0-9]+)+(?![\w-])")
_BY = re.compile(r"(?:[Bb]y|[Vv]on|[Pp]ar|[Dd]i|[Pp]or|[Dd]oor)\s+(?P<who>[^\W\d_a-z]\S*(?: [^\W\d_a-z]\S*){0,3})")
_TITLE_PARTS = re.compile(r"\s+[-–—|·:]\s+|\s*[|]\s*|:\s+")
_LABELLED = re.compile(r"(?P<label>[^:：]{1,48}?)\s*[:：]\s+(?P<value>\S.*)")
_UNIT = re.compile(r"[\d.,]+\s?(?P<unit>[^\W\d_]+(?: [^\W\d_]+)?)")
_AROUND = " ,;:(-–—"
_MAX_CANDIDATES = 12_000
_MAX_LABEL = 32


def find_candidates(page: PageText) -> tuple[Candidate, ...]:
    """The page's possible values in page order, remembered for the last few pages.

    >>> for found in find_candidates(PageText("# Invoice\\nDue date: 3 May 2025\\nTotal | £1,204.50")):
    ...     print(found.kind, repr(found.text), repr(found.label))
    heading 'Invoice' ''
    line 'Due date: 3 May 2025' 'Invoice'
    cell '3 May 2025' 'Due date'
    date '2025-05-03' 'Due date'
    number '3' 'Due date May'
    code '2025' 'Due date 3 May'
    number '2025' 'Due date 3 May'
    cell 'Total' ''
    cell '£1,204.50' 'Total'
    price '1204.50' 'Total'
    """
    return _find(page)


@lru_cache(maxsize=8)
def _find(page: PageText) -> tuple[Candidate, ...]:
    labels = Labels(page)
    found: list[Candidate] = []
    for at, line in enumerate(page.lines):
        for atom in range(line.first, line.last):
            found += _atom(page, atom, _kind(line), labels.of(at, atom))
        if len(found) > _MAX_CANDIDATES:
            break
    return tuple(sorted(found, key=lambda candidate: candidate.start))


def _kind(line: Line) -> str:
    if line.last - line.first > 1:
        return "cell"
    return "heading" if line.marker.startswith("#") else "line"


class Labels:
    """What names each atom: the header above its column, the cell before it, or the short line above it."""

    def __init__(self, page: PageText) -> None:
        self._page = page
        self.headers = self._find_headers()

    def of(self, at: int, atom: int) -> str:
        """The label of an atom in line `at`, "" where nothing names it."""
        lines = self._page.lines
        line, header = lines[at], self.headers[at]
        column = atom - line.first
        if header is not None and header != at:
            return self._text(lines[header].first + column)
        if column:
            return self._text(atom - 1 if len(range(line.first, line.last)) == 2 else line.first)
        above = self._text(atom - 1) if at and lines[at - 1].last - lines[at - 1].first == 1 else ""
        return above if len(above) <= _MAX_LABEL and not any(map(str.isdigit, above)) else ""

    def _find_headers(self) -> list[int | None]:
        """For each line the line that heads its columns: the first without digits of a run of equally many cells."""
        headers: list[int | None] = []
        lines = self._page.lines
        for at, line in enumerate(lines):
            n_cells = line.last - line.first
            alike = at > 0 and lines[at - 1].last - lines[at - 1].first == n_cells
            above = headers[at - 1] if alike else None
            heads = above is None and n_cells > 2 and not any(self._has_digit(i) for i in range(line.first, line.last))
            headers.append(at if heads else above)
        return headers

    def _has_digit(self, atom: int) -> bool:
        return any(map(str.isdigit, self._page.atom_text(atom)))

    def _text(self, atom: int) -> str:
        return self._page.atom_text(atom).rstrip(":： ")


def _atom(page: PageText, atom: int, kind: str, label: str) -> Iterator[Candidate]:
    """The candidates in one atom: itself, its parts, what stands behind a colon, and the typed values in it."""
    text, start = page.atom_text(atom), page.atoms[atom][0]
    yield Candidate(text, kind, start, label)
    if kind == "heading":
        yield from _title_parts(text, start)
    if (by := _BY.match(text)) is not None:
        yield Candidate(by["who"], "cell", start + by.start("who"), "author")
    pair = _LABELLED.fullmatch(text)
    if pair is not None:
        label = pair["label"]
        yield Candidate(pair["value"], "cell", start + pair.start("value"), label)
        text, start = pair["value"], start + pair.start("value")
    yield from _typed(text, start, label)


def _title_parts(text: str, start: int) -> Iterator[Candidate]:
    """What a page's title is made of: the thing's name and, behind a dash or bar, the site's."""
    at = 0
    for cut in [*_TITLE_PARTS.finditer(text)]:
        if at:
            yield Candidate(text[at : cut.start()], "heading", start + at)
        yield Candidate(text[: cut.start()], "heading", start)
        at = cut.end()
    if at:
        yield Candidate(text[at:], "heading", start + at)


def _typed(text: str, start: int, label: str) -> Iterator[Candidate]:
    """Typed values in a piece of text, each labelled by the words around it: `Total 12.00`, `2 bedrooms`."""
    counted = text[:1].isdigit()
    for kind, value, at in _scan(text):
        before = text[:at].strip(_AROUND)
        after = _UNIT.match(text, at) if kind in ("number", "price") and (counted or not before) else None
        near = after["unit"] if after is not None else before[-40:]
        yield Candidate(value, kind, start + at, f"{label} {near}".strip() if near else label)


def _scan(text: str) -> Iterator[tuple[str, str, int]]:
    """(kind, value as a record would hold it, offset) of each typed value."""
    if "@" in text:
        for found in _EMAIL.finditer(text):
            yield "email", found.group().rstrip("."), found.start()
    if "www" in text or "://" in text:
        for found in _URL.finditer(text):
            yield "url", found.group().rstrip(".,;"), found.start()
    if not any(map(str.isdigit, text)):
        return
    yield from _dates(text)
    for found in _TIME.finditer(text):
        yield "time", found.group(), found.start()
    for found in _CODE.finditer(text):
        yield "code", found.group(), found.start()
    for found in _PHONE.finditer(text):
        yield "phone", found.group(), found.start()
    for found in _DURATION.finditer(text):
        if (value := _iso_duration(found)) is not None:
            yield "duration", value, found.start() + len(found.group()) - len(found.group().lstrip(" ,"))
    for found in _AMOUNT.finditer(text):
        plain = plain_number(found["n"])
        if plain is not None:
            kind = "price" if found["pre"] or found["post"] else "number"
            kind = "percent" if text[found.end() : found.end() + 2].lstrip()[:1] == "%" else kind
            yield kind, plain, found.start() if found["pre"] else found.start("n")


def _dates(text: str) -> Iterator[tuple[str, str, int]]:
    for pattern in (_ISO, _CJK, _DAY_FIRST, _MONTH_FIRST, _NUMERIC):
        for found in pattern.finditer(text):
            for date in _readings(found):
                yield "date", date, found.start()
                clock = _CLOCK.search(text, found.end(), found.end() + 24)
                if clock is not None and (time := _iso_time(clock)) is not None:
                    yield "date", f"{date}T{time}", found.start()


def _readings(found: re.Match[str]) -> list[str]:
    """The ISO dates that a match may mean: two where day and month could be swapped, day first."""
    part = found.groupdict()
    if "a" in part:
        a, b = int(part["a"]), int(part["b"])
        orders = [(b, a)] if part["sep"] == "." else [(b, a), (a, b)]
        return list(dict.fromkeys(f"{part['y']}-{m:02}-{d:02}" for m, d in orders if 1 <= m <= 12 and 1 <= d <= 31))
    month = _MONTHS.index(part["mon"][:3].lower()) + 1 if "mon" in part else int(part["m"])
    day = int(part["d"])
    return [f"{part['y']}-{month:02}-{day:02}"] if 1 <= month <= 12 and 1 <= day <= 31 else []


def _iso_time(clock: re.Match[str]) -> str | None:
    hour, minute = int(clock["h"]), int(clock["min"])
    half = (clock["half"] or "").lower()[:1]
    if half == "p" and hour < 12:
        hour += 12
    if half == "a" and hour == 12:
        hour = 0
    return f"{hour:02}:{minute:02}:00" if hour < 24 and minute < 60 else None


def time_forms(text: str) -> tuple[str, ...]:
    """A time of day as it stands, and as 24-hour time.

    >>> time_forms("7.30 pm"), time_forms("19:30")
    (('7.30 pm', '19:30', '19:30:00'), ('19:30', '19:30:00'))
    """
    clock = _CLOCK.match(text)
    iso = None if clock is None else _iso_time(clock)
    return (text,) if iso is None else tuple(dict.fromkeys((text, iso[:5], iso)))


def _iso_duration(found: re.Match[str]) -> str | None:
    """`1 h 30 min` as PT1H30M; None where the pattern matched nothing."""
    days, hours, minutes = found["d"], found["h"], found["m"]
    if not (days or hours or minutes):
        return None
    time = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    return "P" + (f"{days}D" if days else "") + (f"T{time}" if time else "")
