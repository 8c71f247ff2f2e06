"""One leaf of a record -> every place on the page where its value stands (`Place`), by text or by meaning."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time
from decimal import Decimal
from urllib.parse import urljoin, urlsplit

from lookstruct.pipeline.grounding.fields import Leaf
from lookstruct.pipeline.grounding.matching import Likeness, TextIndex
from lookstruct.pipeline.values.durations import Duration, parse_duration
from lookstruct.pipeline.values.found import Found
from lookstruct.pipeline.values.numbers import Number, plain_number
from lookstruct.pipeline.values.spans import Cover
from lookstruct.pipeline.values.text import plain
from lookstruct.schemas.document import Document, Span

_ISO_MOMENT = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d.*)?)?\Z|\d\d:\d\d(?::\d\d.*)?\Z")
_NUMERIC = re.compile(r"[+-]?\d+(?:\.\d+)?\Z")
_URL = re.compile(r"(?:https?:)?//|www\.|mailto:|tel:", re.IGNORECASE)
_CODE = re.compile(r"[A-Z]{3}\Z")
_PHONE = re.compile(r"\+?[\d\s()./\u2010-\u2015-]{6,}\Z")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|_+")
_TIME_WORDS = frozenset({"time", "duration", "minutes", "minute", "hours", "hour", "seconds", "prep", "cook", "length"})
_UNIT_SECONDS = {"hours": 3600, "hour": 3600, "seconds": 1, "second": 1, "days": 86400}

DATE_ONLY, LINK, PAGE_URL, OTHER_PUNCTUATION = "date-only", "link", "page-url", "punctuation-differs"


@dataclass(frozen=True, slots=True)
class Place:
    """A place where a value stands, beginning in the document's block number `block`.

    `is_exact`: character for character, up to white space. `distance`: of several places the one that differs least
    is the likelier. `beside` is the amount that a currency belongs to.
    """

    span: Span
    is_exact: bool
    flags: tuple[str, ...] = ()
    distance: int = 0
    block: int = 0
    beside: Span | None = None


class Lookup:
    """Finds the places of values on one page; the same value is looked up once."""

    def __init__(self, document: Document, found: Found) -> None:
        self._document = document
        self._found = found
        self._index = TextIndex(document.text)
        self._numbers = _by_value(found)
        self._durations_cover = Cover(duration.span for duration in found.durations)
        self._starts = [block.span.start for block in document.blocks]
        self._known: dict[tuple[object, ...], tuple[Place, ...]] = {}

    def places(self, leaf: Leaf) -> tuple[Place, ...]:
        """Every place of the leaf's value, in page order; () for null, "", true and false."""
        value = leaf.value
        if value is None or isinstance(value, bool):
            return ()
        key = (type(value), str(value), leaf.source, leaf.schema.get("format"), _is_closed(leaf), _is_time(leaf))
        if key not in self._known:
            found = self._of_number(leaf, value) if isinstance(value, int | float) else self._of_text(leaf, str(value))
            self._known[key] = tuple(self._best(found))
        return self._known[key]

    def _best(self, found: Iterator[Place]) -> Iterator[Place]:
        """One place for each span, in order, with the block it begins in."""
        best: dict[Span, Place] = {}
        for place in found:
            if place.span not in best or place.distance < best[place.span].distance:
                best[place.span] = place
        for place in sorted(best.values(), key=lambda place: (place.span.start, place.span.end)):
            yield replace(place, block=max(0, bisect_right(self._starts, place.span.start) - 1))

    def _of_number(self, leaf: Leaf, value: float) -> Iterator[Place]:
        yield from self._numeric(Decimal(str(value)))
        if isinstance(value, int) and 1000 <= value <= 2999:
            yield from self._years(str(value))
        if _is_time(leaf):
            yield from self._lasting(Decimal(str(value)) * _unit_of(leaf))

    def _of_text(self, leaf: Leaf, value: str) -> Iterator[Place]:
        yield from self._written(value)
        if _ISO_MOMENT.match(value):
            yield from self._moments(value)
        if value[:1] == "P" and (duration := parse_duration(value)) is not None:
            yield from self._durations(duration)
        if _URL.match(value) or leaf.source == "link" or leaf.schema.get("format") in ("uri", "url"):
            yield from self._links(value)
        if _NUMERIC.match(value):
            yield from self._numeric(Decimal(value))
        if _CODE.match(value):
            yield from self._currencies(value)
        if _PHONE.match(value) or "@" in value:
            yield from self._contacts(value)
        if _is_closed(leaf):
            spelled = _CAMEL.sub(" ", value).strip()
            yield from self._written(spelled) if spelled != value else ()

    def _written(self, value: str) -> Iterator[Place]:
        """The places of a text, word for word."""
        for match in self._index.find(value):
            flags = (OTHER_PUNCTUATION,) if match.likeness is Likeness.PUNCTUATION else ()
            yield Place(match.span, match.likeness is Likeness.SAME, flags, int(match.likeness))

    def _numeric(self, value: Decimal) -> Iterator[Place]:
        for number, is_first in self._numbers.get(value, ()):
            is_exact = is_first and number.span.of(self._document.text) == plain_number(number.value)
            flags = tuple(flag for flag in number.flags if flag.startswith("ambiguous-number") or flag == "split-price")
            flags = flags if is_first or "ambiguous-number" in flags else (*flags, "other-reading")
            yield Place(number.span, is_exact, flags, (0 if is_first else 3) + self._lasts(number.span))

    def _years(self, year: str) -> Iterator[Place]:
        """The year in dates."""
        for moment in self._found.moments:
            at = plain(moment.span.of(self._document.text)).find(year)
            if at >= 0:
                start = moment.span.start + at
                yield Place(Span(start, start + 4), self._document.text[start : start + 4] == year)

    def _lasts(self, span: Span) -> bool:
        """Whether a number belongs to a duration, and so is less likely to be anything else: the 2 of `2 years`."""
        return self._durations_cover.touches(span.start, span.end)

    def _moments(self, value: str) -> Iterator[Place]:
        wanted = _moment(value)
        for moment in self._found.moments:
            flags = tuple(flag for flag in moment.flags if flag != "two-digit-year")
            written = moment.span.of(self._document.text)
            if _moment(moment.value) == wanted or moment.value == value:
                yield Place(moment.span, written == value, flags, int(written != value))
            elif any(_moment(other) == wanted for other in moment.alternatives):
                yield Place(moment.span, False, (*flags, "other-reading"), 3)
            elif moment.kind == "date" and wanted == f"{moment.value}T00:00:00":
                yield Place(moment.span, False, (*flags, DATE_ONLY), 2)
            elif moment.kind == "month" and value == f"{moment.value}-01":
                yield Place(moment.span, False, (*flags, "month-only"), 2)

    def _durations(self, wanted: Duration) -> Iterator[Place]:
        for duration in self._found.durations:
            same = duration.value == wanted.value or (
                wanted.seconds is not None and duration.seconds is not None and duration.seconds == wanted.seconds
            )
            if same:
                yield Place(duration.span, duration.span.of(self._document.text) == wanted.value, (), 1)

    def _lasting(self, seconds: Decimal) -> Iterator[Place]:
        """Durations of so many seconds: 90 in a field of minutes stands in `1 hr 30 min`."""
        for duration in self._found.durations:
            if duration.seconds == seconds:
                yield Place(duration.span, False, (), 1)

    def _links(self, value: str) -> Iterator[Place]:
        wanted = _same_url(urljoin(self._document.url, value))
        for link in self._document.links:
            if _same_url(urljoin(self._document.url, link.href)) == wanted:
                yield Place(link.span, link.span.of(self._document.text) == value, (LINK,), 1)

    def _currencies(self, code: str) -> Iterator[Place]:
        for number in self._found.numbers:
            if number.currency == code and number.currency_span is not None:
                is_exact = number.currency_span.of(self._document.text) == code
                flags = tuple(flag for flag in number.flags if flag == "ambiguous-currency")
                yield Place(number.currency_span, is_exact, flags, int(not is_exact), beside=number.span)

    def _contacts(self, value: str) -> Iterator[Place]:
        """Phones by their digits, e-mail addresses by the links that hold them."""
        digits = _digits(value)
        for contact in self._found.contacts:
            if contact.kind == "phone" and len(digits) >= 6 and _digits(contact.value) == digits:
                yield Place(contact.span, contact.value == value, (), 1)
        for link in self._document.links:
            scheme, _, address = link.href.partition(":")
            if scheme.lower() == "mailto" and address.partition("?")[0].casefold() == value.casefold():
                yield Place(link.span, link.span.of(self._document.text) == value, (LINK,), 1)


def _is_closed(leaf: Leaf) -> bool:
    return "enum" in leaf.schema or "const" in leaf.schema


def _is_time(leaf: Leaf) -> bool:
    """Whether a number in this field may be a length of time."""
    return bool(leaf.name_words & _TIME_WORDS or leaf.about & _TIME_WORDS)


def _by_value(found: Found) -> dict[Decimal, list[tuple[Number, bool]]]:
    """Numbers by what they can mean; True marks the meaning that was chosen."""
    result: dict[Decimal, list[tuple[Number, bool]]] = {}
    for number in found.numbers:
        result.setdefault(number.value, []).append((number, True))
        for other in number.alternatives:
            result.setdefault(other, []).append((number, False))
    return result


def _moment(value: str) -> str:
    """A date or time as it compares: datetimes and times with seconds and without `Z`, dates as they are."""
    try:
        if "T" in value or (len(value) > 10 and value[10] == " "):
            return datetime.fromisoformat(value).isoformat().replace("+00:00", "")
        return time.fromisoformat(value).isoformat().replace("+00:00", "") if value[2:3] == ":" else value
    except ValueError:
        return value


def _same_url(url: str) -> str:
    """A web address as it compares: host in lower case, no `www.`, no slash at the end.

    >>> _same_url("HTTPS://www.Example.com/a/"), _same_url("https://example.com/a?b=1#c")
    ('https://example.com/a', 'https://example.com/a?b=1#c')
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url
    return parts._replace(
        scheme=parts.scheme.lower(), netloc=parts.netloc.lower().removeprefix("www."), path=parts.path.rstrip("/")
    ).geturl()


def _unit_of(leaf: Leaf) -> int:
    """How many seconds one is, in a field of minutes unless its name says otherwise."""
    return next((seconds for unit, seconds in _UNIT_SECONDS.items() if unit in leaf.name.casefold()), 60)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, plain(text))).removeprefix("00")
