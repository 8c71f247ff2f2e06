"""Every place of every value of a record -> the one place each value was most likely read from.

Values of one record stand together: those of an array's item in one row or card, items in page order, an amount beside
its currency, a total behind its label. All that is weighed here as costs, in units where 1.0 is "surely another one".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lookstruct.decoding.guessing.field_words import similarity, words
from lookstruct.pipeline.grounding.fields import Leaf, Path
from lookstruct.pipeline.grounding.places import Place
from lookstruct.pipeline.values.labels import Labels
from lookstruct.schemas.document import BlockKind, Document, Span

_FEW = 40
"""Places of one value that are weighed against each other."""
_REACH = 10
"""Blocks around an item's anchor in which its values are expected."""


@dataclass(frozen=True, slots=True)
class Located:
    """A leaf and where its value stands; `blocks` are the numbers of the blocks that the places begin in."""

    leaf: Leaf
    places: tuple[Place, ...]
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Stop:
    """Where one item of a list may stand: a block, an offset in it, and what speaks against it."""

    block: int
    offset: int
    cost: float


class Chooser:
    """Chooses places on one page; `choose` may be called once, as it remembers what it has given away."""

    def __init__(self, document: Document, labels: Labels) -> None:
        self._document = document
        self._labels = labels
        self._used: set[Span] = set()
        self._likeness: dict[tuple[frozenset[str], frozenset[str], Span], float] = {}

    def choose(self, leaves: Sequence[tuple[Leaf, tuple[Place, ...]]]) -> dict[str, Place]:
        """JSON pointer -> place, for each leaf that has one."""
        located = [Located(leaf, places, tuple(place.block for place in places)) for leaf, places in leaves if places]
        chosen: dict[str, Place] = {}
        for items in _lists(located).values():
            chosen |= self._of_items(items)
        for members in _sequences(located).values():
            chosen |= self._of_sequence(members)
        return chosen | self._of_fields([one for one in located if not _list_path(one.leaf.path)])

    def likeness(self, leaf: Leaf, span: Span) -> float:
        """How much the text that names a place reads like the field's name, 0 to 1."""
        key = (leaf.name_words, leaf.about, span)
        if key not in self._likeness:
            found = (similarity(leaf.name_words, words(label), leaf.about) for label in self._labels.of(span))
            weights = (1.0, 0.9, 0.7, 0.6)
            self._likeness[key] = max((a * b for a, b in zip(found, weights, strict=False)), default=0.0)
        return self._likeness[key]

    # Objects in a list: each item is anchored at a block, then its values are sought around it.

    def _of_items(self, items: Mapping[Path, Sequence[Located]]) -> dict[str, Place]:
        anchors = self._anchors(list(items.values()))
        chosen: dict[str, Place] = {}
        for number, members in enumerate(items.values()):
            before = anchors[number - 1] if number > 0 else -1
            after = anchors[number + 1] if number + 1 < len(anchors) else len(self._document.blocks)
            chosen |= self._of_item(members, anchors[number], before, after)
        return chosen

    def _anchors(self, items: Sequence[Sequence[Located]]) -> list[int]:
        """The block that each item stands around."""
        stops = [self._anchor_stops(members, number / max(1, len(items) - 1)) for number, members in enumerate(items)]
        return [stop.block for stop in _cheapest_way(stops)]

    def _anchor_stops(self, members: Sequence[Located], progress: float) -> list[_Stop]:
        """The blocks around which an item may stand: where its rarest values are."""
        rarest = sorted(members, key=lambda one: len(set(one.blocks)))[:2]
        blocks = sorted({block for one in rarest for block in one.blocks})
        weights = [1 / len(set(one.blocks)) for one in members]
        stops = []
        for block in _window(blocks, progress):
            near = sum(w * _nearness(one.blocks, block) for w, one in zip(weights, members, strict=True))
            stops.append(_Stop(block, 0, 1 - near / sum(weights) + self._block_cost(block)))
        return stops

    def _of_item(self, members: Sequence[Located], anchor: int, before: int, after: int) -> dict[str, Place]:
        chosen: dict[str, Place] = {}
        last = -1
        for one in members:
            costs = {}
            for number in _around(one.blocks, anchor):
                block, place = one.blocks[number], one.places[number]
                strange = (block >= after > anchor) or (block <= before < anchor)
                cost = _distance_cost(block - anchor) + 1.0 * strange + 0.6 * (1 - self.likeness(one.leaf, place.span))
                costs[number] = cost + self._place_cost(place) + 0.05 * (place.span.start < last)
            place = one.places[min(costs, key=lambda number: (costs[number], number))]
            chosen[one.leaf.pointer] = place
            self._used.add(place.span)
            last = place.span.start
        return chosen

    # Values in a list: a way through their places, in page order as far as possible.

    def _of_sequence(self, members: Sequence[Located]) -> dict[str, Place]:
        numbers = []
        for position, one in enumerate(members):
            progress = position / max(1, len(members) - 1)
            numbers.append(_window(list(range(len(one.places))), progress))
        stops = [
            [_Stop(one.blocks[n], one.places[n].span.start, self._place_cost(one.places[n])) for n in some]
            for one, some in zip(members, numbers, strict=True)
        ]
        chosen = {}
        for one, some, stop in zip(members, numbers, _cheapest_way(stops), strict=True):
            place = next(one.places[n] for n in some if one.places[n].span.start == stop.offset)
            chosen[one.leaf.pointer] = place
            self._used.add(place.span)
        return chosen

    # All other fields: by label, then beside the fields of the same object.

    def _of_fields(self, members: Sequence[Located]) -> dict[str, Place]:
        settled: dict[Path, list[int]] = {}
        for one in members:
            if len(one.places) == 1:
                settled.setdefault((), []).append(one.blocks[0])
        chosen = {}
        for one in sorted(members, key=lambda one: len(one.places)):
            parent = one.leaf.path[:-1]
            siblings = settled.get(parent, []) if parent else []
            costs = [
                self._field_cost(one, number, siblings, settled.get((), []))
                for number in range(min(len(one.places), 5 * _FEW))
            ]
            number = min(range(len(costs)), key=lambda number: (costs[number], number))
            chosen[one.leaf.pointer] = one.places[number]
            self._used.add(one.places[number].span)
            settled.setdefault(parent, []).append(one.blocks[number])
        return chosen

    def _field_cost(self, one: Located, number: int, siblings: Sequence[int], others: Sequence[int]) -> float:
        place, block = one.places[number], one.blocks[number]
        away = min((abs(block - other) for other in siblings), default=0)
        apart = min((abs(block - other) for other in others), default=0)
        cost = 1.0 * (1 - self.likeness(one.leaf, place.span)) + self._place_cost(place)
        cost += 0.1 * min(away, 8) + 0.03 * min(apart, 10) + 0.1 * number / len(one.places)
        return cost - 0.4 * (place.beside in self._used)

    # What speaks against a place, whatever the field.

    def _place_cost(self, place: Place) -> float:
        cost = 0.15 * place.distance + 0.3 * (place.span in self._used)
        return cost + 0.1 * (not self.fills_field(place.span)) + self._block_cost(place.block)

    def _block_cost(self, number: int) -> float:
        """Navigation, the page's title and the text of images are less often meant than the text itself."""
        if number >= len(self._document.blocks):
            return 0.0
        block = self._document.blocks[number]
        return 0.3 * block.boilerplate + 0.15 * (block.kind in (BlockKind.TITLE, BlockKind.IMAGE))

    def fills_field(self, span: Span) -> bool:
        """Whether a place is a whole line or cell, what follows a label in it, or an item between commas."""
        text = self._document.text
        before = text[max(0, span.start - 2) : span.start].rstrip(" \u00a0")
        after = text[span.end : span.end + 2].lstrip(" .")
        return before[-1:] in ("", "\n", "|", ":", ",") and (not after or after[0] in "\n|,;")


def _list_path(path: Path) -> Path:
    """The path of the innermost list around a leaf; () where there is none."""
    last = max((number for number, step in enumerate(path) if isinstance(step, int)), default=-1)
    return path[:last] if last >= 0 else ()


def _lists(located: Sequence[Located]) -> dict[Path, dict[Path, list[Located]]]:
    """Leaves of objects in lists, by list and item."""
    found: dict[Path, dict[Path, list[Located]]] = {}
    for one in located:
        path = _list_path(one.leaf.path)
        if path and isinstance(one.leaf.path[-1], str):
            found.setdefault(path, {}).setdefault(one.leaf.path[: len(path) + 1], []).append(one)
    return found


def _sequences(located: Sequence[Located]) -> dict[Path, list[Located]]:
    """Leaves that are items of a list themselves, by list."""
    found: dict[Path, list[Located]] = {}
    for one in located:
        if isinstance(one.leaf.path[-1], int) if one.leaf.path else False:
            found.setdefault(one.leaf.path[:-1], []).append(one)
    return found


def _window(numbers: Sequence[int], progress: float) -> Sequence[int]:
    """At most `_FEW` of ascending numbers, around the share `progress` of them: the 3rd of 9 equal rows is the 3rd."""
    middle = round(progress * (len(numbers) - 1))
    start = max(0, min(middle - _FEW // 2, len(numbers) - _FEW))
    return numbers[start : start + _FEW]


def _around(blocks: Sequence[int], anchor: int) -> Iterator[int]:
    """The numbers of the places in block `anchor`, and of a few before and after it."""
    first, last = bisect_left(blocks, anchor), bisect_right(blocks, anchor)
    yield from range(max(0, first - 6), min(len(blocks), min(last, first + _FEW) + 6))


def _distance_cost(distance: int) -> float:
    """What it costs to stand so many blocks behind (or, dearer, before) the anchor."""
    if distance == 0:
        return 0.0
    return 0.2 + 0.1 * min(abs(distance), _REACH) + 0.1 * (distance < 0)


def _nearness(blocks: Sequence[int], anchor: int) -> float:
    """1 where a value stands in the anchor block, less the further away it is, 0 beyond reach."""
    at = bisect_left(blocks, anchor)
    distance = min((abs(block - anchor) for block in blocks[max(0, at - 1) : at + 1]), default=_REACH)
    return 1.0 if distance == 0 else 1 / (2 + distance) if distance < _REACH else 0.0


def _cheapest_way(stops: Sequence[Sequence[_Stop]]) -> list[_Stop]:
    """One stop for each item, so that their costs and those of the steps between them are least."""
    costs = [[stop.cost for stop in stops[0]]] if stops else []
    origins: list[list[int]] = []
    for before, here in pairwise(stops):
        row, origin = [], []
        for stop in here:
            ways = [cost + _step(earlier, stop) for cost, earlier in zip(costs[-1], before, strict=True)]
            best = min(range(len(ways)), key=ways.__getitem__)
            row.append(ways[best] + stop.cost)
            origin.append(best)
        costs.append(row)
        origins.append(origin)
    return _traced_back(stops, costs, origins)


def _traced_back(
    stops: Sequence[Sequence[_Stop]], costs: Sequence[Sequence[float]], origins: Sequence[Sequence[int]]
) -> list[_Stop]:
    if not stops:
        return []
    at = min(range(len(costs[-1])), key=costs[-1].__getitem__)
    way = [stops[-1][at]]
    for row, origin in zip(reversed(stops[:-1]), reversed(origins), strict=True):
        at = origin[at]  # origins[i][j]: the stop before stop j of item i + 1
        way.append(row[at])
    return way[::-1]


def _step(before: _Stop, after: _Stop) -> float:
    """What it costs to go on from one item's place to the next one's: forward is cheap, back is dear."""
    distance = after.block - before.block
    if distance == 0:
        return 0.02 if after.offset > before.offset else 0.5
    return 0.03 * min(distance, 15) if distance > 0 else 0.6
