"""Document -> everything on it that could be a value (`decoding.request.Candidate`), with the text that names it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urljoin

from lookstruct.decoding.request import Candidate
from lookstruct.pipeline.values.found import Found, find_all
from lookstruct.pipeline.values.labels import Labels, without_bullet
from lookstruct.pipeline.values.numbers import Number, plain_number
from lookstruct.schemas.document import BlockKind, Document, Span

_LONGEST_LINE = 500
"""Code points of a line that anybody would copy whole."""


def find_candidates(document: Document, found: Found | None = None) -> tuple[Candidate, ...]:
    """Every number, price, date, time, duration, address, heading, line and cell of the page, in page order.

    `start` is an offset in `Document.text`. Text is in its normal form: numbers as JSON writes them, dates and
    durations in ISO 8601, links absolute. An ambiguous one is there once for each reading, the likelier first.
    Boilerplate gives values and links, but no lines. `found` saves reading the page again.
    """
    labels = Labels(document)
    everything = _Candidates(document, labels)
    found = find_all(document) if found is None else found
    candidates = [*everything.values(found), *everything.links(), *everything.lines()]
    return tuple(sorted(candidates, key=lambda candidate: candidate.start))


class _Candidates:
    """Makes the candidates of one page."""

    def __init__(self, document: Document, labels: Labels) -> None:
        self._document = document
        self._labels = labels

    def values(self, found: Found) -> Iterator[Candidate]:
        """What has a normal form."""
        for number in found.numbers:
            yield from self._of_number(number)
        for moment in found.moments:
            for value in (moment.value, *(moment.alternatives if moment.is_ambiguous else ())):
                yield self._candidate(value, "date", moment.span)
        for duration in found.durations:
            yield self._candidate(duration.value, "duration", duration.span)
        for contact in found.contacts:
            value = "https://" + contact.value if contact.value.startswith("www.") else contact.value
            yield self._candidate(value, contact.kind, contact.span)

    def _of_number(self, number: Number) -> Iterator[Candidate]:
        kind = "price" if number.currency else "number"
        money = number.currency_span or number.span
        span = Span(min(number.span.start, money.start), max(number.span.end, money.end))
        for value in (number.value, *(number.alternatives if number.is_ambiguous else ())):
            yield self._candidate(plain_number(value), kind, span)

    def links(self) -> Iterator[Candidate]:
        """Where the page's links lead: `mailto:` and `tel:` give the address itself."""
        for link in (link for link in self._document.links if not link.is_image):
            scheme, _, rest = link.href.partition(":")
            kind = {"mailto": "email", "tel": "phone"}.get(scheme.lower(), "url")
            value = rest.partition("?")[0] if kind != "url" else urljoin(self._document.url, link.href)
            label = link.span.of(self._document.text) or self._label(link.span)
            yield Candidate(value, kind, link.span.start, label)

    def lines(self) -> Iterator[Candidate]:
        """Whole lines and cells, bullets left out."""
        text = self._document.text
        for block in self._document.blocks:
            if block.boilerplate:
                continue
            for cell in block.cells:
                if len(cell.span):
                    yield self._candidate(cell.span.of(text), "cell", cell.span)
            line = block.span.of(text)
            if not block.cells and line and len(line) <= _LONGEST_LINE:
                whole = without_bullet(line)
                span = Span(block.span.end - len(whole), block.span.end)
                is_heading = block.kind in (BlockKind.HEADING, BlockKind.TITLE)
                yield self._candidate(whole, "heading" if is_heading else "line", span)

    def _candidate(self, value: str, kind: str, span: Span) -> Candidate:
        return Candidate(value, kind, span.start, self._label(span))

    def _label(self, span: Span) -> str:
        return next(iter(self._labels.of(span)), "")
