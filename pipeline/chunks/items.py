"""Items of one list, read in several parts of a page -> each item once: the same place on the page is the same item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.leaves import leaves
from lookstruct.schemas.document import Span

if TYPE_CHECKING:
    from lookstruct.pipeline.chunks.part import Part

Spot = tuple[str, Span]
"""A field of an item, "" for an item without fields, and where its value stands."""


@dataclass(frozen=True, slots=True)
class Item:
    """Item number `index` of the list at `pointer` in `part`; `spots` are those of its values that tell it from its
    neighbours, `n_found` how many values stand on the page."""

    part: Part
    pointer: str
    index: int
    value: Any
    spots: frozenset[Spot]
    n_found: int

    @property
    def own_pointer(self) -> str:
        """Where the item stands in its part's record."""
        return f"{self.pointer}/{self.index}"


def items_once(parts: Sequence[Part], pointer: str, lists: Sequence[list[Any]]) -> list[Item]:
    """The items of the list at `pointer`, which is `lists[i]` in `parts[i]`: those of the first part, then the next.

    Two items of different parts that have a value at the same place are one item, and the one of which more stands
    on the page is it. Items that stand nowhere are the same if they are equal. Within a part nothing is taken out.
    """
    kept: list[Item] = []
    for part, values in zip(parts, lists, strict=True):
        known = len(kept)
        for item in _items(part, pointer, values):
            twin = next((number for number in range(known) if _is_same(kept[number], item)), None)
            if twin is None:
                kept.append(item)
            elif _worth(item) > _worth(kept[twin]):
                kept[twin] = item
    return kept


def _items(part: Part, pointer: str, values: list[Any]) -> list[Item]:
    """The items of one part; a place that several of them share (a currency named once) tells none of them apart."""
    spots = [list(_spots(part, f"{pointer}/{at}", value)) for at, value in enumerate(values)]
    shared = Counter(spot for some in spots for spot in set(some))
    return [
        Item(part, pointer, at, value, frozenset(spot for spot in some if shared[spot] == 1), len(some))
        for at, (value, some) in enumerate(zip(values, spots, strict=True))
    ]


def _spots(part: Part, pointer: str, value: Any) -> Iterator[Spot]:
    """Where an item's values stand; of an item with fields those in the chunk itself, unless all are in its context."""
    found = [
        (field, evidence.span)
        for field, _ in leaves(value)
        if (evidence := part.evidence.get(pointer + field)) is not None and evidence.span is not None
    ]
    own = [spot for spot in found if any(_covers(block.span, spot[1]) for block in part.chunk.blocks)]
    yield from own or found


def _covers(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _is_same(one: Item, other: Item) -> bool:
    if one.spots or other.spots:
        return bool(one.spots & other.spots)
    return bool(one.value == other.value)


def _worth(item: Item) -> tuple[int, int]:
    """How whole an item is: what of it stands on the page, then what of it is said at all."""
    return item.n_found, sum(value not in (None, "") for _, value in leaves(item.value))
