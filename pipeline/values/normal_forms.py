"""Document -> what its dates, numbers and durations are in normal form, where the page writes them otherwise.

The prompt's view shows these beside the page's own text: a small model then copies 2022-11-28 for 28/11/2022 instead of
being trapped by its first digits.
"""

from __future__ import annotations

from collections.abc import Iterator

from lookstruct.pipeline.values.found import Found, find_all
from lookstruct.pipeline.values.numbers import Number, plain_number
from lookstruct.pipeline.values.spans import Cover
from lookstruct.schemas.document import Document, Span

_OR = " or "


def normal_forms(
    document: Document, found: Found | None = None, *, all_readings: bool = False
) -> tuple[tuple[Span, str], ...]:
    """Each place whose normal form differs from its own text, and that form; in page order, none within another.

    Dates and times become ISO 8601, numbers what JSON writes (their decimals kept), durations ISO 8601. With
    `all_readings` an ambiguous one shows both, the likelier first: `2025-04-03 or 2025-03-04`.

    >>> page = Document("", "Am 28.11.2022: 1.234,56 € für 2 Stunden", (), lang="de")
    >>> [(span.of(page.text), text) for span, text in normal_forms(page)]
    [('28.11.2022', '2022-11-28'), ('1.234,56', '1234.56'), ('2 Stunden', 'PT2H')]
    """
    found = find_all(document) if found is None else found
    longest = sorted(_all(found, all_readings=all_readings), key=lambda form: (form[0].start, -form[0].end))
    kept: list[tuple[Span, str]] = []
    for span, text in longest:
        if not kept or span.start >= kept[-1][0].end:
            kept.append((span, text))
    return tuple((span, text) for span, text in kept if span.of(document.text) != text)


def _all(found: Found, *, all_readings: bool) -> Iterator[tuple[Span, str]]:
    for moment in found.moments:
        others = moment.alternatives if all_readings and moment.is_ambiguous else ()
        yield moment.span, _OR.join((moment.value, *others))
    for duration in found.durations:
        yield duration.span, duration.value
    lasting = Cover(duration.span for duration in found.durations)
    for number in found.numbers:
        if not lasting.touches(number.span.start, number.span.end):
            yield number.span, _OR.join(_readings(number, all_readings=all_readings))


def _readings(number: Number, *, all_readings: bool) -> Iterator[str]:
    percent = "%" if number.percent else ""
    yield plain_number(number.value) + percent
    if all_readings and number.is_ambiguous:
        yield from (plain_number(other) for other in number.alternatives)
