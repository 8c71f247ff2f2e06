"""Blocks -> the page's lists, each whole (`whole_lists`): the items of a list element, and those of the lists beside it
that a small heading parts it into ("For the crust", "For the filling")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import replace

from lookstruct.schemas.document import Block, BlockKind, Document

_SHORT = 60
"""Code points of a line that may part a list in two."""
_MOST_BETWEEN = 3
"""Blocks between two parts, and between a heading and the first part."""
MOST_ABOVE = 5
"""Blocks above a list that may name it."""
_LIKE = 3
"""Two parts of one list have items of about the same length; those of another list may be this many times longer."""
_SMALLEST = 7
_LISTED = 4
"""Headings of one level, nothing between them, from which on they are a list."""
_PLACED = 5
"""Steps of a DOM path within which lines of one kind may lie: a row, its boxes, their texts."""
_HEADINGS = (BlockKind.HEADING, BlockKind.TITLE)


def whole_lists(
    document: Document,
    blocks: Sequence[Block],
    items: Sequence[int],
    are_apart: Callable[[str, str], bool],
) -> list[tuple[int, ...]]:
    """Runs of `items`, ascending numbers of list items, that are one list to a person.

    `are_apart` says of a heading and a smaller one below it whether they name different things.
    """
    lists = _Lists(document, blocks, frozenset(items), are_apart)
    found: list[list[int]] = []
    for number in items:
        if found and lists.goes_on(found[-1][0], found[-1][-1], number):
            found[-1].append(number)
        else:
            found.append([number])
    return [tuple(run) for run in found]


class _Lists:
    """Answers whether a list goes on behind one of its items."""

    def __init__(
        self, document: Document, blocks: Sequence[Block], items: Set[int], are_apart: Callable[[str, str], bool]
    ) -> None:
        self._are_apart = are_apart
        self._document = document
        self._blocks = blocks
        self._items = items
        self._lengths = _mean_lengths(blocks, items)
        self._names = {self._text(n) for n, block in enumerate(blocks) if block.kind in _HEADINGS and block.level <= 1}

    def goes_on(self, first: int, last: int, number: int) -> bool:
        """Whether item `number` belongs to the list that begins at item `first` and has come to item `last`."""
        here, there = list_path(self._blocks[last]), list_path(self._blocks[number])
        if here == there or here[: len(there)] == there or there[: len(here)] == here:
            return True
        return _are_alike(here, there) and self._are_as_long(here, there) and self._are_parted(first, last, number)

    def _are_as_long(self, here: tuple[str, ...], there: tuple[str, ...]) -> bool:
        """Whether the items of two lists are of like length: those of ingredients and of steps are not."""
        short, long = sorted((self._lengths[here], self._lengths[there]))
        return long <= _LIKE * short

    def _are_parted(self, first: int, last: int, number: int) -> bool:
        """Whether only a small heading or a short line is between two lists, both under a larger heading.

        What opens the first list is the same kind of line as what opens the second, or there is none.
        """
        between = range(last + 1, number)
        if not self._is_short(between):
            return False
        levels = [self._blocks[n].level for n in between if self._blocks[n].kind is BlockKind.HEADING]
        heading = self._heading_above(first, min(levels, default=7))
        return heading is not None and self._opens(heading, first, between)

    def _is_short(self, between: range) -> bool:
        return len(between) <= _MOST_BETWEEN and all(
            n not in self._items and len(self._blocks[n].span) <= _SHORT for n in between
        )

    def _heading_above(self, first: int, below: int) -> int | None:
        """The nearest heading above of a level that is less than `below`; None unless only short lines are between, or
        if it names the whole page."""
        for number in range(first - 1, max(first - 2 - _MOST_BETWEEN, -1), -1):
            block = self._blocks[number]
            if block.kind is BlockKind.HEADING and block.level < below:
                return None if self._text(number) in self._names else number
            if number in self._items or len(block.span) > _SHORT:
                return None
        return None

    def _opens(self, heading: int, first: int, between: range) -> bool:
        """Whether the first list is opened as the second is: by a line of the same kind, or by the heading alone.

        Or the second is opened by a smaller heading, which says nothing that its larger one does not hold.
        """
        if not between or self._are_apart(self._text(heading), self._text(between[-1])):
            return False
        opener, other = self._blocks[first - 1], self._blocks[between[-1]]
        return first - 1 == heading or opener.kind is other.kind or other.kind is BlockKind.HEADING

    def _text(self, number: int) -> str:
        return self._blocks[number].span.of(self._document.text).casefold()


def _mean_lengths(blocks: Sequence[Block], items: Set[int]) -> dict[tuple[str, ...], float]:
    """Code points of an item of each list on average, by the path of the list."""
    found: dict[tuple[str, ...], list[int]] = {}
    for number in items:
        found.setdefault(list_path(blocks[number]), []).append(len(blocks[number].span))
    return {path: sum(lengths) / len(lengths) for path, lengths in found.items()}


def list_path(block: Block) -> tuple[str, ...]:
    """The steps of a DOM path down to the innermost list that a block is in.

    >>> from lookstruct.schemas.document import Span
    >>> list_path(Block(BlockKind.LIST_ITEM, Span(0, 1), "main > ul > li:nth-of-type(2) > p"))
    ('main', 'ul')
    """
    steps = block.dom_path.split(" > ")
    last = max((at for at, step in enumerate(steps) if _tag(step) in ("ul", "ol", "menu")), default=len(steps) - 1)
    return tuple(steps[: last + 1])


def _are_alike(here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether two lists stand in the page in the same way: the same tags below what they share."""
    return [_tag(step) for step in here] == [_tag(step) for step in there] and _n_apart(here, there) <= 3


def _n_apart(here: Sequence[str], there: Sequence[str]) -> int:
    """Steps from the element that both paths share down to the first list."""
    shared = next((at for at, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), len(here))
    return len(here) - shared


def _tag(step: str) -> str:
    return step.partition(":")[0]


def names_above(document: Document, blocks: Sequence[Block], first: int) -> tuple[str, ...]:
    """What names a list that begins at block `first`, the nearest first: the short lines right above it, the heading
    above these, and the larger headings above that one as long as only short lines are between.

    Nothing beyond another list or a longer text, and of two headings of one level only those right on top of another.
    A heading inside a list is a line of it.
    """
    found: list[str] = []
    level, below = _SMALLEST, None
    for block in reversed(blocks[max(first - MOST_ABOVE, 0) : first]):
        if block.kind is BlockKind.LIST_ITEM or block.cells or len(block.span) > _SHORT:
            break
        is_heading = _is_heading(block)
        if is_heading:
            if block.level > level or (block.level == level and below is not BlockKind.HEADING):
                break
            level = block.level
        if is_heading or level == _SMALLEST:  # a line above a heading belongs to another section
            found.append(block.span.of(document.text))
        below = block.kind
    return tuple(found)


def headings_over(blocks: Sequence[Block], opens: Callable[[int], bool]) -> list[tuple[int, ...]]:
    """For each block the numbers of the headings that it stands under, the nearest first; a block that is no heading
    and `opens` a section is the smallest of headings."""
    found: list[tuple[int, ...]] = []
    open_now: list[tuple[int, int]] = []  # level and number, the largest first
    for number, block in enumerate(blocks):
        level = block.level if _is_heading(block) else _SMALLEST if opens(number) else None
        if level is not None:
            open_now = [one for one in open_now if one[0] < level]
        found.append(tuple(at for _, at in reversed(open_now)))
        if level is not None:
            open_now.append((level, number))
    ends = _ends(blocks, found)
    return [tuple(at for at in over if number <= ends[at]) for number, over in enumerate(found)]


def with_listed_headings(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Blocks in which small headings one after another, under a larger one, are the lines that they look like."""
    plain: set[int] = set()
    begin = 0
    for number in range(1, len(blocks) + 1):
        if number == len(blocks) or not _are_level(blocks[number - 1], blocks[number]):
            above = blocks[begin - 1] if begin else None
            if number - begin >= _LISTED and above is not None and above.kind is BlockKind.HEADING:
                plain.update(range(begin, number))
            begin = number
    return tuple(replace(b, kind=BlockKind.PARAGRAPH, level=0) if n in plain else b for n, b in enumerate(blocks))


def _are_level(above: Block, below: Block) -> bool:
    return above.kind is below.kind is BlockKind.HEADING and above.level == below.level


def _is_heading(block: Block) -> bool:
    """Whether a block is a heading of the page, and not of some items of a list."""
    return block.kind in _HEADINGS and not any(_tag(step) == "li" for step in block.dom_path.split(" > "))


def _ends(blocks: Sequence[Block], over: Sequence[Sequence[int]]) -> dict[int, int]:
    """Where what stands under each heading ends: at the last block that lies in the page as most of them do, or in a
    list. What comes after it, the comments below a recipe, has only no heading of its own."""
    under: dict[int, list[int]] = {}
    for number, headings in enumerate(over):
        for at in headings:
            under.setdefault(at, []).append(number)
    return {at: _last_alike(blocks, numbers) for at, numbers in under.items()}


def _last_alike(blocks: Sequence[Block], numbers: Sequence[int]) -> int:
    places = [place_of(blocks[number]) for number in numbers]
    counts, n_chars = Counter(places), Counter[tuple[str, ...]]()
    for number, place in zip(numbers, places, strict=True):
        n_chars[place] += len(blocks[number].span)
    usual = max(counts, key=lambda place: (counts[place], n_chars[place]))
    alike = (n for n, place in zip(numbers, places, strict=True) if place == usual or _is_item(blocks[n]))
    return max(alike)


def _is_item(block: Block) -> bool:
    return block.kind is BlockKind.LIST_ITEM


def place_of(block: Block) -> tuple[str, ...]:
    """How a block lies in the page: its DOM path up to which of its like the element and the one around it are."""
    steps = block.dom_path.split(" > ")
    return (*steps[:-_PLACED], *map(_tag, steps[-_PLACED:]))
