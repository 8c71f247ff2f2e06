"""A value as metadata writes it -> the value as a field of the schema would hold it, in the page's own writing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from html import unescape
from typing import Any
from urllib.parse import urljoin

from lookstruct.pipeline.grounding.matching import TextIndex
from lookstruct.pipeline.values.dates import parse_date
from lookstruct.pipeline.values.durations import parse_duration
from lookstruct.pipeline.values.found import Found
from lookstruct.pipeline.values.numbers import parse_number
from lookstruct.schemas.document import Document

Node = Mapping[str, Any]

_TAG = re.compile(r"<[^<>]*>")
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ](\d\d:\d\d)")
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?")
_ADDRESS = ("streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry")
_UNIT_CODES = {"MTK": "m2", "FTK": "sqft", "SQM": "m2"}
"""UN/CEFACT codes of the units that a built-in schema knows by another name."""


class Fitter:
    """Fits values to fields for one page."""

    def __init__(self, document: Document, found: Found) -> None:
        self._document = document
        self._found = found

    def fit(self, value: Any, node: Node) -> Any:
        """`value` in the form of a leaf of the prepared schema; None where it has none.

        >>> page = Document("https://a.example/", "", ())
        >>> from lookstruct.pipeline.values.found import find_all
        >>> Fitter(page, find_all(page)).fit("https://schema.org/InStock", {"enum": ["InStock", "OutOfStock"]})
        'InStock'
        """
        if "enum" in node:
            return _member(_text(value), node["enum"])
        kind = node.get("type")
        if kind == "boolean":
            return value if isinstance(value, bool) else {"true": True, "false": False}.get(_text(value).lower())
        if kind in ("number", "integer"):
            return self._number(_text(value), whole=kind == "integer")
        if kind != "string":
            return None
        fitted = self._string(value, node)
        return fitted if fitted and len(fitted) <= node.get("maxLength", len(fitted)) else None

    def _number(self, text: str, *, whole: bool) -> float | int | None:
        plain = parse_number(text, self._found.conventions)
        number = float(text) if _PLAIN.fullmatch(text) else None if plain is None else float(plain.value)
        if number is None or not whole:
            return number
        return int(number) if number == int(number) else None

    def _string(self, value: Any, node: Node) -> str | None:
        text = _text(value)
        source = node.get("x-source") or node.get("format") or node.get("x-format")
        special = _SPECIAL.get(str(source))
        if special is not None:
            return special(self, text)
        clock = _ISO_TIME.match(text)
        return self._clock(clock[1]) if clock else self._as_written(text)

    def _date(self, text: str) -> str | None:
        moment = parse_date(text, self._found.conventions)
        return moment.value[:10] if moment is not None and moment.kind in ("date", "datetime") else None

    def _datetime(self, text: str) -> str | None:
        moment = parse_date(text, self._found.conventions)
        return moment.value if moment is not None and moment.kind in ("date", "datetime") else None

    def _duration(self, text: str) -> str | None:
        duration = parse_duration(text, self._found.conventions)
        return None if duration is None else duration.value

    def _link(self, text: str) -> str | None:
        try:
            address = urljoin(self._document.url, text)
        except ValueError:
            return None
        return address if address.startswith(("http://", "https://")) else None

    def _clock(self, time: str) -> str:
        """A time of day as the page writes it."""
        here = (m for m in self._found.moments if m.kind == "time" and m.value.startswith(time))
        return next((moment.span.of(self._document.text) for moment in here), time)

    def _as_written(self, text: str) -> str:
        """Text as it stands on the page, where it does: with the page's own quotes, dashes and spaces."""
        places = self._index.find(text) if text else ()
        best = min(places, key=lambda match: match.likeness, default=None)
        return best.span.of(self._document.text) if best is not None else text

    @cached_property
    def _index(self) -> TextIndex:
        return TextIndex(self._document.text)


_SPECIAL: Mapping[str, Callable[[Fitter, str], str | None]] = {
    "date": Fitter._date,
    "datetime": Fitter._datetime,
    "date-time": Fitter._datetime,
    "duration": Fitter._duration,
    "link": Fitter._link,
    "uri": Fitter._link,
    "currency": lambda _, text: text.upper() if re.fullmatch("[A-Za-z]{3}", text) else None,
}


def _text(value: Any) -> str:
    """A value as plain text: markup and entities gone; of an object its name, or its address in one line."""
    if isinstance(value, Mapping):
        named = value.get("name") or value.get("text") or value.get("@value")
        parts = [_text(value[key]) for key in _ADDRESS if value.get(key)]
        return _text(named) if named else ", ".join(parts)
    if isinstance(value, list) or value is None:
        return ""
    return " ".join(unescape(_TAG.sub(" ", unescape(str(value)))).split())


def _member(text: str, members: Any) -> Any:
    """The member of a closed list that is meant: `https://schema.org/EventScheduled` is Scheduled."""
    said = _letters(_UNIT_CODES.get(text, text.rstrip("/").rsplit("/", 1)[-1]))
    named = {_letters(str(member)): member for member in members if isinstance(member, str)}
    ending = (member for key, member in named.items() if key and said.endswith(key))
    return named.get(said) or next(ending, None)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
