"""Many spans -> one question: does this range touch any of them?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from lookstruct.schemas.document import Span


class Cover:
    """The union of some spans.

    >>> cover = Cover([Span(2, 4), Span(8, 9)])
    >>> cover.touches(0, 2), cover.touches(3, 5), cover.touches(4, 8)
    (False, True, False)
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for span in sorted(spans):
            if self._ends and span.start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], span.end)
            elif len(span):
                self._starts.append(span.start)
                self._ends.append(span.end)

    def touches(self, start: int, end: int) -> bool:
        """Whether [start, end) shares a code point with any span."""
        number = bisect_left(self._starts, end) - 1
        return number >= 0 and self._ends[number] > start


NO_COVER = Cover(())
