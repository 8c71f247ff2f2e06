"""A model that thinks before it answers: the grammar holds from where the thinking ends.

While it thinks a model may write anything but an end of text. The end mark arms the grammar, and since that happens in
the grammar's state itself, it happens at the right token wherever the mark stands: in the middle of a draft, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookstruct.decoding.constraint import Bitmask, Constraint, has_bit, single_bit
from lookstruct.decoding.vocabulary import Vocabulary
from lookstruct.schemas.errors import UsageError

OPEN, CLOSE = "<think>", "</think>"
"""How Qwen3, DeepSeek-R1 and most others mark it; each is one token of theirs."""
AFTER = "\n\n"
"""What they write between the end mark and the answer."""


@dataclass(frozen=True, slots=True)
class Marks:
    """`close` ends the thinking, `then` follows it, `free` is what may be written before."""

    close: int
    then: tuple[int, ...]
    free: Bitmask


def marks_of(vocabulary: Vocabulary) -> Marks:
    """The marks of a tokenizer; UsageError if it has none, as a single token."""
    known = vocabulary.tokenizer.get_vocab()
    close = known.get(CLOSE)
    if close is None:
        raise UsageError(
            f"This model was asked to think first, and its tokenizer has no {CLOSE!r} token: leave `think` at 0."
        )
    marked = {close, known.get(OPEN, close)}
    bits = np.zeros((vocabulary.width + 31) // 32 * 32, np.uint8)
    bits[[i for i, piece in enumerate(vocabulary.token_bytes) if piece or i in marked]] = 1
    bits[list(vocabulary.eos_ids)] = 0
    free = np.packbits(bits, bitorder="little").view(np.int32)
    return Marks(close, tuple(vocabulary.encode(AFTER)), free)


class Thinking(Constraint):
    """Anything for at most `left` tokens, the marks, then `answer`: a state of the thinking part and all after it."""

    __slots__ = ("_answer", "_left", "_marks", "_tail")

    def __init__(self, answer: Constraint, marks: Marks, left: int, tail: tuple[int, ...] | None = None) -> None:
        self.meter = answer.meter
        self._answer = answer
        self._marks = marks
        self._left = left
        self._tail = tail  # what must still follow the end mark; None while there was none

    @property
    def is_thinking(self) -> bool:
        """Whether the next token is still no part of the answer."""
        return self._tail is None or bool(self._tail)

    @property
    def way_out(self) -> int | None:
        """The end mark, while the thinking goes on."""
        return self._marks.close if self._tail is None else None

    @property
    def finished(self) -> bool:
        """See `Constraint.finished`."""
        return not self.is_thinking and self._answer.finished

    @property
    def accepting(self) -> bool:
        """See `Constraint.accepting`."""
        return not self.is_thinking and self._answer.accepting

    def mask(self) -> Bitmask:
        """See `Constraint.mask`."""
        if not self.is_thinking:
            return self._answer.mask()
        if self._tail:
            return _only(self._tail[0], len(self._marks.free))
        return self._marks.free if self._left > 0 else _only(self._marks.close, len(self._marks.free))

    def forced(self) -> int | None:
        """See `Constraint.forced`."""
        return single_bit(self.mask())

    @property
    def n_allowed(self) -> int:
        """See `Constraint.n_allowed`."""
        if not self.is_thinking:
            return self._answer.n_allowed
        return int(np.bitwise_count(self.mask().view(np.uint32)).sum())

    def advance(self, token: int) -> None:
        """See `Constraint.advance`."""
        if not self.is_thinking:
            self._answer.advance(token)
            return
        assert has_bit(self.mask(), token), f"token {token} was not allowed"
        if self._tail:
            self._tail = self._tail[1:]
        elif token == self._marks.close:
            self._tail = self._marks.then
        else:
            self._left -= 1

    def fork(self) -> Constraint:
        """See `Constraint.fork`; behind the thinking, of the answer alone."""
        if not self.is_thinking:
            return self._answer.fork()
        return Thinking(self._answer.fork(), self._marks, self._left, self._tail)


def _only(token: int, words: int) -> Bitmask:
    mask = np.zeros(words, np.uint32)
    mask[token >> 5] = 1 << (token & 31)
    return mask.view(np.int32)
