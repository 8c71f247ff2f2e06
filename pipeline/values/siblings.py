"""What a page writes unmistakably -> how its ambiguous neighbours are to be read.

`1.226` beside `12,50` is 1226; 03/04 in a column with 25/04 is 3 April. The column decides first, then the page.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable
from typing import Generic, TypeVar

from lookstruct.schemas.document import Document

Choice = TypeVar("Choice", bound=Hashable)
Column = tuple[int, int]
"""A table's number and a column's number in it."""


class Columns:
    """Which table column an offset stands in.

    A page without tables is `Columns(())`; see `columns_of`.
    """

    def __init__(self, cells: tuple[tuple[int, int, Column], ...]) -> None:
        self._cells = cells
        self._starts = [start for start, _, _ in cells]

    def at(self, offset: int) -> Column | None:
        """The column that covers `offset`; None outside tables."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return None
        _, end, column = self._cells[number]
        return column if offset < end else None


NO_COLUMNS = Columns(())


def columns_of(document: Document) -> Columns:
    """The table columns of a page."""
    return Columns(
        tuple(
            (cell.span.start, cell.span.end, (block.table if block.table is not None else -1, number))
            for block in document.blocks
            for number, cell in enumerate(block.cells)
        )
    )


class Ballot(Generic[Choice]):
    """Votes of unmistakable forms, by column and over all: two thirds of them all decide where a column has none.

    >>> ballot = Ballot[str]()
    >>> ballot.vote(",", (0, 1)); ballot.vote(".", None); ballot.vote(".", None)
    >>> ballot.winner((0, 1)), ballot.winner(None), ballot.winner((0, 2))
    (',', '.', '.')
    """

    def __init__(self) -> None:
        self._by_column: dict[Column, Counter[Choice]] = {}
        self._overall: Counter[Choice] = Counter()

    def vote(self, choice: Choice, column: Column | None, weight: int = 1) -> None:
        """Count one unmistakable form."""
        self._overall[choice] += weight
        if column is not None:
            self._by_column.setdefault(column, Counter())[choice] += weight

    def winner(self, column: Column | None) -> Choice | None:
        """What more than half of the column's votes say, else two thirds or more of all votes; None if neither."""
        if column is not None and (votes := self._by_column.get(column)):
            choice, count = votes.most_common(1)[0]
            if 2 * count > votes.total():
                return choice
        if not self._overall:
            return None
        choice, count = self._overall.most_common(1)[0]
        return choice if 3 * count >= 2 * self._overall.total() else None
