"""What stands with the items of a list and is no part of them: numbers that count them, buttons, links beside each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from lookstruct.pipeline.holding.items import list_item
from lookstruct.pipeline.holding.whole_lists import list_path
from lookstruct.schemas.document import Block, BlockKind, Document

_LEAST_ITEMS = 3
"""Items of a list that tell what stands with all of them."""
_LABEL_CHARS = 32
"""Code points of a button."""
_STEP = r"(?:step|étape|etape|schritt|paso|passo|passaggio|stap|steg|trin|krok|vaihe)"
_NUMBERED = re.compile(rf"{_STEP}\s*\d{{1,2}}(?!\d)\s*[.:)–-]*\s*", re.IGNORECASE)
_LONE_STEP = re.compile(rf"{_STEP}\s*\d{{1,2}}\s*[.:)–-]?", re.IGNORECASE)
_LONE_NUMBER = re.compile(r"(\d{1,2})[.)]?")
_COUNT = re.compile(r"(\d{1,2})(?:[.)]\s*|(?=[^\W\d_a-z][^\W\d_]))(?=\S)")
"""A number before a text: with a mark behind it, or glued to a capital letter."""
_FIGURE = re.compile(r"\d")
_LEAST_END = 2
"""Words that end every item of a list from which on they are a link."""


def unnumbered(line: str) -> str:
    """A line without the words that only count it.

    >>> unnumbered("Step 2Preheat the oven."), unnumbered("2. Whisk."), unnumbered("Step 3")
    ('Preheat the oven.', '2. Whisk.', 'Step 3')
    """
    found = _NUMBERED.match(line)
    return (line[found.end() :] or line) if found else line


def uncounted(items: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Items, each in its spellings, without the numbers that count them, typed into the text: 1., 2., 3.

    >>> uncounted([("1. Whisk.",), ("2. Bake.",)]), uncounted([("1 egg",), ("2 onions",)])
    ((('Whisk.',), ('Bake.',)), (('1 egg',), ('2 onions',)))
    """
    counts = [int(count[1]) for spellings in items if (count := _COUNT.match(spellings[0]))]
    counted = counts == list(range(1, len(counts) + 1)) and 2 * len(counts) > len(items) > 1
    return tuple(
        tuple(_COUNT.sub("", text, count=1) for text in spellings) if counted else spellings for spellings in items
    )


def counters(lines: Iterable[str]) -> frozenset[int]:
    """Numbers of the lines that only count what follows: `Step 1`; and 1, 2, 3, one by one, with other lines between.

    >>> sorted(counters(["1", "Whisk.", "2", "Bake.", "Step 3", "Eat."])), sorted(counters(["1", "2", "3"]))
    ([0, 2, 4], [])
    """
    listed = list(lines)
    named = {n for n, line in enumerate(listed) if _LONE_STEP.fullmatch(line)}
    counted = list(_counted(listed))
    return frozenset(named | (set(counted) if len(counted) > 1 else set()))


def _counted(lines: Sequence[str]) -> Iterator[int]:
    """Where 1, 2, 3, ... stand alone, each apart from the one before."""
    wanted, last = 1, -2
    for number, line in enumerate(lines):
        found = _LONE_NUMBER.fullmatch(line)
        if found and int(found[1]) == wanted and number > last + 1:
            yield number
            wanted, last = wanted + 1, number


def controls(document: Document, blocks: Sequence[Block]) -> frozenset[int]:
    """Numbers of the lines that are a button in most items of a list: `Done`, `Add to list`, each beside its item."""
    found: set[int] = set()
    for _, numbers in _by(list_path, blocks).items():
        items = _by(list_item, [blocks[n] for n in numbers])
        lone = {numbers[part] for parts in items.values() if len(parts) == 1 for part in parts}
        texts = {n: blocks[n].span.of(document.text) for n in numbers if n not in lone}
        counts = Counter(text for text in texts.values() if len(text) <= _LABEL_CHARS and not _FIGURE.search(text))
        usual = {text for text, count in counts.items() if count > 1 and 2 * count >= len(items)}
        found |= {n for n, text in texts.items() if text in usual}
    return frozenset(found)


def _by(key: Callable[[Block], Hashable], blocks: Sequence[Block]) -> dict[Hashable, list[int]]:
    """The numbers of list items by what `key` says of them."""
    found: dict[Hashable, list[int]] = {}
    for number, block in enumerate(blocks):
        if block.kind is BlockKind.LIST_ITEM:
            found.setdefault(key(block), []).append(number)
    return found


def without_common_end(lines: Sequence[str]) -> list[str]:
    """Lines without the words that end all of them: a link beside each item, such as `add to list`.

    >>> without_common_end(["2 eggs add to list", "salt add to list", "1 cup milk add to list"])
    ['2 eggs', 'salt', '1 cup milk']
    >>> without_common_end(["apple juice", "lime juice", "orange juice"])[0]
    'apple juice'
    """
    split = [line.split() for line in lines]
    shortest = min(map(len, split), default=0)
    n = next((n for n in range(shortest) if len({words[-1 - n] for words in split}) > 1), shortest)
    is_link = len(lines) >= _LEAST_ITEMS and _LEAST_END <= n < shortest
    return [" ".join(line.split()[:-n]) if is_link else line for line in lines]
