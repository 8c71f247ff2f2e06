"""Terms and descriptions of a `dl` -> lines "Term: description"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from lookstruct.extractors.lines import Line, joined

TERM, DESCRIPTION = "term", "description"
_LONGEST_JOINED = 300  # code points; longer descriptions keep their own lines below the first


def paired(lines: Iterable[Line]) -> list[Line]:
    """Join each run of terms with the descriptions after it; other lines stay between them.

    Several terms, and the lines of a short description, are joined by "; ". A table or a long description keeps its
    lines, the first of them behind the term.
    """
    result: list[Line] = []
    terms: list[Line] = []
    for role, group in groupby(lines, key=lambda line: line.role):
        run = list(group)
        if role == DESCRIPTION:
            result += _pair(terms, run)
            terms = []
        else:
            result += terms
            terms = run if role == TERM else []
            result += [] if role == TERM else run
    return _without_roles(result + terms)


def _pair(terms: list[Line], description: list[Line]) -> Iterator[Line]:
    if not terms:
        yield from description
        return
    term = joined(terms)
    if any(line.cells for line in description):
        yield term
        yield from description
        return
    whole = sum(len(line.text) for line in description) <= _LONGEST_JOINED
    head, rest = (description, []) if whole else (description[:1], description[1:])
    value = joined(head)
    yield joined([term, value], ": ")
    yield from rest


def _without_roles(lines: list[Line]) -> list[Line]:
    for line in lines:
        line.role = ""
    return lines
