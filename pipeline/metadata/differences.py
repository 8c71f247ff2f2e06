"""A record + the page's own metadata -> where the two disagree: evidence of its own, and never a correction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.grounding.tokens import tokenize
from lookstruct.pipeline.leaves import escape

if TYPE_CHECKING:
    from lookstruct.pipeline.metadata.guess import MetadataGuess
    from lookstruct.schemas.record import Evidence

DIFFERS = "metadata-differs"
"""The flag of a value that the metadata has otherwise."""


def differences(data: Any, guess: MetadataGuess) -> dict[str, dict[str, Any]]:
    """JSON pointer -> what the record and the metadata hold there, and where in the metadata it stands.

    A list is compared as a whole. Texts that differ in case, punctuation or by further words do not disagree.
    """
    found = {}
    for pointer, ours, theirs in _pairs(data, guess.data, ""):
        if not _agree(ours, theirs):
            origin = guess.origins.get(pointer)
            place = {"kind": origin.kind, "path": origin.path} if origin is not None else {}
            found[pointer] = {"record": ours, "metadata": theirs, **place}
    return found


def flagged(evidence: Mapping[str, Evidence], differing: Mapping[str, Any]) -> dict[str, Evidence]:
    """The same evidence, with a flag on each value that stands at or under a difference."""
    return {
        pointer: replace(one, flags=(*one.flags, DIFFERS)) if _is_under(pointer, differing) else one
        for pointer, one in evidence.items()
    }


def _is_under(pointer: str, differing: Mapping[str, Any]) -> bool:
    steps = pointer.split("/")
    return any("/".join(steps[:n]) in differing for n in range(2, len(steps) + 1))


def _pairs(ours: Any, theirs: Any, pointer: str) -> Iterator[tuple[str, Any, Any]]:
    """What both say, field by field."""
    if isinstance(theirs, Mapping):
        here = ours if isinstance(ours, Mapping) else {}
        for name, value in theirs.items():
            yield from _pairs(here.get(name), value, f"{pointer}/{escape(name)}")
    else:
        yield pointer, ours, theirs


def _agree(ours: Any, theirs: Any) -> bool:
    """Whether two values say the same.

    >>> _agree("4 servings (2 cups)", "4 Servings"), _agree(12.5, 12.50), _agree("2 eggs", "3 eggs"), _agree(["a"], [])
    (True, True, False, False)
    """
    if isinstance(theirs, Mapping):
        return isinstance(ours, Mapping) and all(_agree(ours.get(name), value) for name, value in theirs.items())
    if isinstance(theirs, list):
        alike = isinstance(ours, list) and len(ours) == len(theirs)
        return alike and all(_agree(a, b) for a, b in zip(ours, theirs, strict=True))
    if isinstance(ours, str) and isinstance(theirs, str):
        return _contains(_words(ours), _words(theirs)) or _contains(_words(theirs), _words(ours))
    return bool(ours == theirs)


def _words(text: str) -> list[str]:
    return [token.key for token in tokenize(text)]


def _contains(longer: list[str], shorter: list[str]) -> bool:
    """Whether the shorter words stand in the longer ones as they follow each other."""
    n = len(shorter)
    return n > 0 and any(longer[at : at + n] == shorter for at in range(len(longer) - n + 1))
