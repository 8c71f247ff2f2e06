"""Stops a list that repeats itself: a small model may write the same items over and over until the limit.

The rule is a function of the prefix alone, like every mask: once a list has gone through the same cycle of items three
times, or twice through a long one, the next round may end but not open another item.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from lookstruct.decoding.constraint import Bitmask
from lookstruct.decoding.cursor import JsonReader, Place
from lookstruct.decoding.vocabulary import Vocabulary

Path = tuple[str | int, ...]

LONG = 8
"""Items from which on a cycle is long: that so many come again in the same order is no chance."""
LONGEST_CYCLE = 64
LONGEST_REST = 8
"""Bytes of an item's end from which on its closing token is watched for."""


class _Items(JsonReader):
    """Remembers where the finished items of every array stand."""

    __slots__ = ("spans",)

    def __init__(self) -> None:
        super().__init__()
        self.spans: dict[Path, list[tuple[int, int]]] = {}

    def _end_value(self) -> None:
        path = self._path
        if path and isinstance(path[-1], int):
            spans = self.spans.setdefault(path[:-1], [])
            del spans[path[-1] :]
            spans.append((self._start, self._n))
        super()._end_value()

    def begun(self, depth: int) -> int:
        """Where the value at the first `depth` steps of the path begins, which is still open."""
        return self._starts[depth] if depth < len(self._starts) else self.cursor.value_start


class RepeatGuard:
    """Watches the arrays of one JSON text as it is written."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._reader = _Items()
        self._text = bytearray()
        self.stopped = False

    def feed(self, piece: bytes) -> None:
        """Take the bytes of one committed token."""
        self._text += piece
        self._reader.feed(piece)

    def narrow(self, mask: Bitmask) -> Bitmask:
        """`mask` without the tokens that would begin one item too many; as it is where nothing else would be left."""
        for rest in self._rests():
            narrowed = mask & ~_tokens_from(self._vocabulary, rest + b",", len(mask))
            if narrowed.any() and not np.array_equal(narrowed, mask):
                self.stopped = True
                return narrowed
        return mask

    def _rests(self) -> Iterator[bytes]:
        """What is still missing of an item that would complete the last allowed round; empty if it is complete."""
        cursor = self._reader.cursor
        for depth, index in enumerate(cursor.path, start=1):
            spans = self._reader.spans.get(cursor.path[: depth - 1], [])
            if not isinstance(index, int) or len(spans) < rounds(1) - 1:
                continue
            items = [bytes(self._text[start:end]) for start, end in spans[-rounds(LONG) * LONGEST_CYCLE :]]
            if index == len(spans) - 1 and cursor.place is Place.AFTER_VALUE and depth == len(cursor.path):
                if _goes_round(items):
                    yield b""
            elif index == len(spans) and cursor.place is not Place.VALUE_START:
                begun = bytes(self._text[self._reader.begun(depth) :])
                yield from (rest for rest in _expected(items, begun) if len(rest) <= LONGEST_REST)


def rounds(n: int) -> int:
    """How often a cycle of `n` items may be gone through: pages do have a few equal rows in succession.

    >>> rounds(1), rounds(9)
    (3, 2)
    """
    return 2 if n >= LONG else 3


def _goes_round(items: list[bytes]) -> bool:
    """Whether the last items are all allowed rounds of the same cycle."""
    return any(_ends_in(items, n) for n in range(1, min(LONGEST_CYCLE, len(items) // 2) + 1))


def _ends_in(items: list[bytes], n: int) -> bool:
    """Whether they end in all allowed rounds of a cycle of `n`."""
    whole = n * rounds(n)
    return len(items) >= whole and items[-whole:-n] == items[n - whole :]


def _expected(items: list[bytes], begun: bytes) -> Iterator[bytes]:
    """For each cycle length, what the item begun must still say to complete the last round."""
    for n in range(1, min(LONGEST_CYCLE, (len(items) + 1) // 2) + 1):
        candidate = items[-n]
        if candidate.startswith(begun) and _ends_in([*items, candidate], n):
            yield candidate[len(begun) :]


@lru_cache(maxsize=256)
def _tokens_from(vocabulary: Vocabulary, prefix: bytes, words: int) -> Bitmask:
    """The tokens whose bytes begin with `prefix`, as a mask."""
    mask = np.zeros(words, np.uint32)
    for piece, token in vocabulary.ids.items():
        if piece.startswith(prefix):
            mask[token >> 5] |= np.uint32(1 << (token & 31))
    return mask.view(np.int32)
