"""Document -> everything on the page that has a form of its own (`Found`): read once, asked many times."""

from __future__ import annotations

from dataclasses import dataclass

from lookstruct.pipeline.values.contacts import Contact, find_addresses, find_phones
from lookstruct.pipeline.values.dates import Moment, find_dates
from lookstruct.pipeline.values.durations import Duration, find_durations
from lookstruct.pipeline.values.locales import Conventions, conventions_of
from lookstruct.pipeline.values.numbers import Number, find_numbers
from lookstruct.pipeline.values.siblings import columns_of
from lookstruct.pipeline.values.spans import Cover
from lookstruct.schemas.document import Document, Span


@dataclass(frozen=True, slots=True)
class Found:
    """What stands on one page, each in page order. Numbers inside dates, times and addresses are not among `numbers`;
    the numbers of durations are."""

    conventions: Conventions
    numbers: tuple[Number, ...]
    moments: tuple[Moment, ...]
    durations: tuple[Duration, ...]
    contacts: tuple[Contact, ...]


def find_all(document: Document) -> Found:
    """Reads a page; linear in its length."""
    text = document.text
    conventions, columns = conventions_of(document), columns_of(document)
    addresses = find_addresses(text)
    taken = Cover(found.span for found in addresses)
    moments = tuple(found for found in find_dates(text, conventions, columns=columns) if _is_free(found.span, taken))
    taken = Cover([*(found.span for found in addresses), *(found.span for found in moments)])
    phones = find_phones(text, skip=taken)
    durations = tuple(found for found in find_durations(text, conventions) if _is_free(found.span, taken))
    skip = [*(found.span for found in addresses), *(found.span for found in moments), *(found.span for found in phones)]
    numbers = find_numbers(text, conventions, columns=columns, skip=skip)
    contacts = tuple(sorted([*addresses, *phones], key=lambda contact: contact.span))
    return Found(conventions, numbers, moments, durations, contacts)


def _is_free(span: Span, taken: Cover) -> bool:
    return not taken.touches(span.start, span.end)
