"""The draft sources, in one list: adding one touches its own file and this."""

from __future__ import annotations

from lookstruct.decoding.sources.base import DraftRequest, DraftSource

SOURCES: dict[str, type[DraftSource]] = {}


def build_sources(request: DraftRequest) -> list[DraftSource]:
    """Fresh instances of the sources that the request's options ask for."""
    names = SOURCES if request.options.sources is None else request.options.sources
    return [SOURCES[name](request) for name in names]
