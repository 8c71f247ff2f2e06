"""Items written so far -> which row of the page gave each, and which cell each field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lookstruct.decoding.guessing.atom_values import AtomValues, Place
from lookstruct.decoding.guessing.progress import Done
from lookstruct.decoding.guessing.row_mapping import REACH, Column, RowMapping
from lookstruct.decoding.guessing.schema_walk import Path

_READERS = (
    *("text", "cell", "price", "number", "date", "time", "duration", "url", "email", "phone", "any number"),
    *("rest", "head", "part", "row", "code"),
)
"""Ways to read a cell, the plainest first: which one is meant where several fit."""

Items = Mapping[int, Mapping[Path, Done]]
"""Index -> place in the item -> finished value."""


class RowLearner:
    """Learns mappings on one page."""

    def __init__(self, values: AtomValues) -> None:
        self._values = values
        self._page = values.page

    def learn(self, items: Items, promise: RowMapping | None = None) -> RowMapping | None:
        """The mapping that explains the items written so far, None if the page explains none of them.

        Where the items leave a choice, and for fields that none of them has yet, `promise` decides.
        """
        key = self._key_field(items)
        if key is None:
            return None
        lines = self._lines(items, key)
        if not lines:
            return None
        votes = self._votes(items, lines)
        promised = {} if promise is None else promise.columns
        columns = _choose(votes, promised)
        constants = _constants(items, {rel: votes[rel][column] for rel, column in columns.items()})
        columns = {rel: column for rel, column in columns.items() if rel not in constants}
        untold = {rel: column for rel, column in promised.items() if rel not in votes and rel not in constants}
        if not columns:
            return None
        return RowMapping({**untold, **columns}, constants, lines, self._short(items), width=self._width(lines))

    def _votes(self, items: Items, lines: Mapping[int, int]) -> dict[Path, Counter[Column]]:
        """For each field the columns that would have given it, with the number of items that agree."""
        votes: dict[Path, Counter[Column]] = {}
        for index, line in lines.items():
            for rel, done in items[index].items():
                seen = {column for place in self._places(done) if (column := self._column(place, line)) is not None}
                votes.setdefault(rel, Counter()).update(seen)
        return votes

    def _width(self, lines: Mapping[int, int]) -> int | None:
        """The number of atoms that most items' lines have, where it is more than one."""
        widths = Counter(self._page.lines[line].last - self._page.lines[line].first for line in lines.values())
        width = widths.most_common(1)[0][0]
        return width if width > 1 else None

    def _places(self, done: Done) -> list[Place]:
        if isinstance(done.value, str):
            return self._values.places(done.value)
        if isinstance(done.value, bool) or done.value is None:
            return []
        return self._values.number_places(float(done.value))

    def _key_field(self, items: Items) -> Path | None:
        """The field that finds an item's line: one that stands on the page in most items, text before numbers."""
        found: Counter[Path] = Counter()
        texts: set[Path] = set()
        for item in items.values():
            for rel, done in item.items():
                if self._places(done):
                    found[rel] += 1
                    if isinstance(done.value, str) and len(done.value) > 2:
                        texts.add(rel)
        return max(found, key=lambda rel: (found[rel], rel in texts), default=None)

    def _lines(self, items: Items, key: Path) -> dict[int, int]:
        """The line of each item that has its key field: near its other fields, and after the item before."""
        lines: dict[int, int] = {}
        last = -1
        for index in sorted(items):
            done = items[index].get(key)
            if done is None:
                continue
            options = list(dict.fromkeys(self._page.line_of(place.atom) for place in self._places(done)))
            if not options:
                continue
            ahead = [line for line in options if line > last] or options
            line = max(ahead, key=lambda at: (self._support(items[index], at), -abs(at - last)))
            lines[index] = last = line
        return lines

    def _support(self, item: Mapping[Path, Done], line: int) -> int:
        """How many of the item's fields stand within reach of `line`."""
        return sum(
            any(abs(self._page.line_of(place.atom) - line) <= REACH for place in self._places(done))
            for done in item.values()
        )

    def _column(self, place: Place, line: int) -> Column | None:
        at = self._page.line_of(place.atom)
        if abs(at - line) > REACH:
            return None
        return Column(at - line, place.atom - self._page.lines[at].first, place.reader)

    def _short(self, items: Items) -> dict[Path, bool]:
        """Per field, whether its numbers were last written shorter than they stand on the page."""
        found: dict[Path, bool] = {}
        for item in items.values():
            for rel, done in item.items():
                if isinstance(done.value, int | float) and not isinstance(done.value, bool):
                    shown = {
                        text
                        for place in self._places(done)
                        if (text := self._values.read(*place)) is not None and "." in text and text.endswith("0")
                    }
                    if shown:
                        found[rel] = not (b"." in done.raw and done.raw.endswith(b"0"))
        return found


def _choose(votes: Mapping[Path, Counter[Column]], promised: Mapping[Path, Column]) -> dict[Path, Column]:
    """Each field's column: most votes, then what was promised, then a cell that no field has yet, then the nearest."""
    chosen: dict[Path, Column] = {}
    taken: set[tuple[int, int]] = set()

    def merit(rel: Path, column: Column, count: int) -> tuple[int, bool, bool, int, int, int]:
        kind = column.reader.kind
        rank = _READERS.index(kind) if kind in _READERS else len(_READERS)
        cell = (column.below, column.atom)
        as_promised = rel in promised and cell == (promised[rel].below, promised[rel].atom)
        return count, as_promised, cell not in taken, -abs(column.below), -rank, -column.atom

    for rel, count in votes.items():
        if count:
            best = max(count, key=lambda column: merit(rel, column, count[column]))
            chosen[rel] = best
            taken.add((best.below, best.atom))
    return chosen


def _constants(items: Items, explained: Mapping[Path, int]) -> dict[Path, bytes]:
    """Fields that have had one value in all items, and that the page explains less well."""
    raws: dict[Path, list[bytes]] = {}
    for item in items.values():
        for rel, done in item.items():
            raws.setdefault(rel, []).append(done.raw)
    return {rel: seen[0] for rel, seen in raws.items() if len(set(seen)) == 1 and explained.get(rel, 0) < len(seen)}
