"""A record's values + the page -> where each stands (`Evidence`), in whatever notation the page has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lookstruct.pipeline.grounding.choosing import Chooser
from lookstruct.pipeline.grounding.fields import Leaf, leaves_of
from lookstruct.pipeline.grounding.places import PAGE_URL, Lookup, Place
from lookstruct.pipeline.values.found import Found, find_all
from lookstruct.pipeline.values.labels import Labels
from lookstruct.schemas.document import Document
from lookstruct.schemas.record import Evidence, EvidenceStatus

_LONG_ENOUGH = 12
"""Code points from which on a member of an enum stands on a page because it is meant."""
_WORD_LIKENESS = 0.5


def ground(
    document: Document, data: Any, schema: Mapping[str, Any] | None = None, found: Found | None = None
) -> dict[str, Evidence]:
    """JSON pointer of each leaf of `data` -> its evidence.

    `schema` is the record's JSON Schema; without it names alone tell which of several places is meant. `found` saves
    reading the page again. Null and empty text stand nowhere; true, false, members of an enum and computed values are
    derived, unless the page shows them plainly.

    >>> page = Document("https://shop.example/de", "Preis: 1.234,50 €", (), lang="de")
    >>> evidence = ground(page, {"price": 1234.5, "currency": "EUR", "name": "Lampe"})
    >>> [(pointer, found.status.value, found.text) for pointer, found in evidence.items()]
    [('/price', 'normalised', '1.234,50'), ('/currency', 'normalised', '€'), ('/name', 'none', None)]
    """
    leaves = list(leaves_of(data, schema))
    lookup = Lookup(document, find_all(document) if found is None else found)
    chooser = Chooser(document, Labels(document))
    places = [(leaf, _plain(leaf, lookup.places(leaf), chooser)) for leaf in leaves]
    chosen = chooser.choose(places)
    return {leaf.pointer: _evidence(leaf, chosen.get(leaf.pointer), document) for leaf in leaves}


def _plain(leaf: Leaf, places: Sequence[Place], chooser: Chooser) -> tuple[Place, ...]:
    """Of a closed list's member only the places that show it plainly: `new` in `new arrivals` is no condition."""
    if not _is_chosen(leaf) or (isinstance(leaf.value, str) and len(leaf.value) >= _LONG_ENOUGH):
        return tuple(places)
    return tuple(
        place
        for place in places
        if chooser.fills_field(place.span) or chooser.likeness(leaf, place.span) >= _WORD_LIKENESS
    )


def _is_chosen(leaf: Leaf) -> bool:
    """Whether a value is a member of a closed list that the schema, not the page, has drawn up."""
    return ("enum" in leaf.schema or "const" in leaf.schema) and leaf.source in (None, "computed")


def _evidence(leaf: Leaf, place: Place | None, document: Document) -> Evidence:
    if place is None:
        return _without_place(leaf, document)
    status = EvidenceStatus.EXACT if place.is_exact else EvidenceStatus.NORMALISED
    block = document.block_at(place.span.start)
    dom_path = block.dom_path if block is not None else None
    return Evidence(status, place.span, place.span.of(document.text), dom_path, flags=place.flags)


def _without_place(leaf: Leaf, document: Document) -> Evidence:
    if leaf.value is None or leaf.value == "":
        return Evidence(EvidenceStatus.NONE)
    if leaf.value == document.url:
        return Evidence(EvidenceStatus.DERIVED, flags=(PAGE_URL,))
    derived = isinstance(leaf.value, bool) or _is_chosen(leaf) or leaf.source == "computed"
    return Evidence(EvidenceStatus.DERIVED if derived else EvidenceStatus.NONE)
