"""Field name + candidate without a label -> how well its form and place suit: a title, an address, a paragraph."""

from __future__ import annotations

import re

from lookstruct.decoding.guessing.page_text import PageText
from lookstruct.decoding.request import Candidate

_NAMES = frozenset({"name", "full", "display", "product", "recipe", "job", "event", "book", "article", "page"})
_SITES = frozenset({"seller", "organization", "publisher", "brand", "organizer", "merchant", "customer"})
_TEXTS = frozenset({"description", "summary", "abstract", "about", "body", "text", "answer"})
_PLACES = frozenset({"address", "location", "street"})
_PEOPLE = frozenset({"author", "agent", "contact", "person", "performer"})
_ADDRESS = re.compile(r"^(?=.*\d)(?=.*[^\W\d_]{3})(?!.*(?::|\b[ap]\.?m\b|\b(?:19|20)\d\d\b)).{8,90}(?<!\.)$")
_PERSON = re.compile(r"^[^\W\d_a-z][^\W\d_]+(?: [^\W\d_a-z][\w.]*){1,2}$")
_PARAGRAPH = 45  # characters from which on a line is prose
_SOON = 600


class Suitability:
    """What one field likes, on one page; `deep` is for fields of nested objects, which the page's title never names."""

    def __init__(self, page: PageText, name: frozenset[str], *, deep: bool) -> None:
        headings = [line for line in page.lines if line.marker.startswith("#")]
        self._title = page.atom_text(headings[0].first) if headings else ""
        self._title_end = page.atoms[headings[0].first][1] if headings else 0
        self._main = next((line for line in headings[1:] if line.marker == "#"), headings[0] if headings else None)
        self._main_end = page.atoms[self._main.first][1] if self._main else 0
        self._names = "name" in name and name <= _NAMES and not deep
        self._site = bool(name & _SITES) and not deep
        self._text = bool(name & _TEXTS)
        self._place = bool(name & _PLACES)
        self.is_person = bool(name & _PEOPLE)

    def of(self, candidate: Candidate) -> float:
        """A likeness in [0, 1) that stands in for a label's."""
        text, kind = candidate.text, candidate.kind
        if self._names and kind == "heading":
            return self._as_name(candidate)
        if self._site and kind == "heading" and candidate.start < self._title_end and self._title.endswith(text):
            return 0.35
        if self._text and kind in ("line", "cell"):
            return self._as_text(candidate)
        if self._place and kind in ("line", "cell") and _ADDRESS.match(text):
            return 0.3 if "," in text else 0.15
        if self.is_person and kind in ("line", "cell", "heading") and _PERSON.match(text):
            return 0.2
        return 0.0

    def _as_name(self, candidate: Candidate) -> float:
        """The heading behind the page's title is the name; else the title's first part."""
        if self._main_end > self._title_end and candidate.start + len(candidate.text) == self._main_end:
            return 0.9
        if candidate.start < self._title_end:
            return 0.5 if self._title.startswith(candidate.text) and candidate.text != self._title else 0.25
        return 0.1

    def _as_text(self, candidate: Candidate) -> float:
        """Prose, best where it stands soon after the name."""
        if len(candidate.text) < _PARAGRAPH or candidate.text[-1:].isalnum():
            return 0.0
        return 0.5 if 0 <= candidate.start - self._main_end < _SOON else 0.3
