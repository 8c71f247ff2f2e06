"""Near the token limit, drive the grammar to its shortest end, so that the output is cut nowhere.

When the tokens that are left are only just enough to close, the mask is narrowed to the token that closes soonest; and
a token that opens more than can still be closed (another item of a list) gives way to it. Both follow from the prefix
and the model's choice alone, so they hold for drafts and for plain decoding alike.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from lookstruct.decoding.constraint import Bitmask, Constraint, allowed_ids, has_bit
from lookstruct.decoding.vocabulary import Vocabulary

PREFERENCE = (
    b"}", b"]", b'"', b",", b" null", b"null", b" []", b"[]", b' ""', b'""', b" {}", b"{}", b" false", b"false",
    b" 0", b"0", b":", b" ", b' "', b" [", b"[", b" {", b"{",
)  # fmt: skip
"""What closes soonest, first: end a container or a string, then the emptiest value."""
LOOK_AHEAD = 512
"""Longest closing that is looked for, in tokens."""
MARGIN = 4


class Closer:
    """Knows the closing tokens of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        ids = [vocabulary.ids.get(piece) for piece in PREFERENCE]
        self._preferred = tuple(i for i in (*vocabulary.eos_ids, *ids) if i is not None)
        self._brackets = (vocabulary.ids.get(b"}"), vocabulary.ids.get(b"]"))
        self._quote = vocabulary.ids.get(b'"')
        self._one_hot = lru_cache(maxsize=64)(self._one_hot_uncached)

    def needed(self, constraint: Constraint) -> int:
        """Tokens that closing takes from here, `LOOK_AHEAD` if it takes more."""
        state = constraint.fork()
        for n in range(LOOK_AHEAD):
            if state.finished or state.accepting:
                return n
            state.advance(self.next(state))
        return LOOK_AHEAD

    def mask(self, constraint: Constraint) -> Bitmask:
        """The mask narrowed to the closing token; untouched where none of them is allowed."""
        mask = constraint.mask()
        token = self._closing_token(mask) if constraint.way_out is None else constraint.way_out
        return mask if token is None else self._one_hot(token, len(mask))

    def next(self, state: Constraint) -> int:
        """The next token on the way that `needed` counts."""
        if state.way_out is not None:
            return state.way_out
        mask = state.mask()
        token = self._closing_token(mask)
        return int(allowed_ids(mask, self._vocabulary.width)[0]) if token is None else token

    def _closing_token(self, mask: Bitmask) -> int | None:
        # where both brackets are allowed they are text: only a quote ends a string
        in_string = all(i is not None and has_bit(mask, i) for i in self._brackets)
        if in_string and self._quote is not None and has_bit(mask, self._quote):
            return self._quote
        return next((token for token in self._preferred if has_bit(mask, token)), None)

    @staticmethod
    def _one_hot_uncached(token: int, words: int) -> Bitmask:
        mask = np.zeros(words, np.uint32)
        mask[token >> 5] = 1 << (token & 31)
        return mask.view(np.int32)
