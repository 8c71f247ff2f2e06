"""The draft sources, in one list: adding one touches its own file and this.

Other packages add theirs through the entry-point group `lookstruct.sources`; such a source is asked for by name.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from lookstruct.decoding.sources.arrays import Arrays
from lookstruct.decoding.sources.base import DraftRequest, DraftSource
from lookstruct.decoding.sources.draft_model import DraftModel
from lookstruct.decoding.sources.page_copy import PageCopy
from lookstruct.decoding.sources.records import Records
from lookstruct.decoding.sources.schema_seeds import SchemaSeeds
from lookstruct.decoding.sources.typed_values import TypedValues
from lookstruct.decoding.sources.window import LookaheadWindow
from lookstruct.schemas.errors import UsageError

SOURCES: dict[str, type[DraftSource]] = {
    source.name: source for source in (SchemaSeeds, PageCopy, TypedValues, Arrays, Records, LookaheadWindow, DraftModel)
}
DEFAULT = ("schema", "page", "values", "arrays", "records")
"""Those used when none are named: the window pays only where rows are nearly free (see docs/decoding.md)."""


def build_sources(request: DraftRequest) -> list[DraftSource]:
    """Fresh instances of the sources that the request's options ask for; UsageError for an unknown name."""
    names = DEFAULT if request.options.sources is None else request.options.sources
    return [find_source(name)(request) for name in names]


def find_source(name: str) -> type[DraftSource]:
    """The source of this name, our own or one that another package registered."""
    found = SOURCES.get(name) or _registered().get(name)
    if found is None:
        known = ", ".join(sorted({*SOURCES, *_registered()}))
        raise UsageError(f"There is no draft source {name!r}; the known ones are {known}.")
    return found


@cache
def _registered() -> dict[str, type[DraftSource]]:
    return {point.name: point.load() for point in entry_points(group="lookstruct.sources")}
