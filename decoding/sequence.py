"""One request's state while it is decoded: tokens, grammar, cache, text, and why it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lookstruct.decoding.account import Account
from lookstruct.decoding.cache import KVCache
from lookstruct.decoding.closing import MARGIN, Closer
from lookstruct.decoding.constraint import Bitmask, Constraint, single_bit
from lookstruct.decoding.cursor import JsonReader
from lookstruct.decoding.repeats import RepeatGuard
from lookstruct.decoding.request import FinishReason, Options, Step
from lookstruct.decoding.sampler import Choice, Sampler
from lookstruct.decoding.stream import TextStream
from lookstruct.decoding.vocabulary import Vocabulary
from lookstruct.schemas.record import Stats

CLOSING_ZONE = 128
"""Tokens before the limit, beyond what closing takes, from which on closing is watched for."""


class Sequence:
    """The tokens of one request and everything that follows from them.

    `ids` holds prompt and generated tokens. `pending` are those whose KV is not yet in the cache: the next forward
    evaluates them. Tokens enter one at a time through `commit`, which applies end-of-sequence, grammar, stop strings
    and limits, so an accepted run ends exactly where plain decoding would.
    """

    def __init__(
        self,
        prompt_ids: Iterable[int],
        vocabulary: Vocabulary,
        options: Options,
        constraint: Constraint | None,
        closer: Closer,
        max_new_tokens: int,
        *,
        is_json: bool,
        on_text: Callable[[str], None] | None = None,
    ) -> None:
        self.ids = list(prompt_ids)
        self.n_prompt = len(self.ids)
        self.options = options
        self.constraint = constraint
        self.reader = JsonReader() if is_json else None
        self.repeats = RepeatGuard(vocabulary) if is_json else None
        self.cache = KVCache()
        self.sampler = Sampler(options)
        self.text = bytearray()
        self.thought = bytearray()
        self.logprobs: list[float] = []
        self.margins: list[float] = []
        self.origins: list[str] = []
        self.steps: list[Step] = []
        self.stats = Stats(prompt_tokens=self.n_prompt)
        self.account = Account()
        self.finish: FinishReason | None = None
        self.stream = TextStream(options.stop)
        self._vocabulary = vocabulary
        self._closer = closer
        self._max_new = max_new_tokens
        self._on_text = on_text
        self._closing = False
        self._needed = (-1, 0)
        start_cost = closer.needed(constraint) if constraint is not None else 0
        self._zone = max(options.reserve, start_cost) + CLOSING_ZONE

    @property
    def generated(self) -> list[int]:
        """The tokens generated so far."""
        return self.ids[self.n_prompt :]

    @property
    def n_generated(self) -> int:
        """How many there are."""
        return len(self.ids) - self.n_prompt

    @property
    def pending(self) -> list[int]:
        """Committed tokens that the cache does not hold yet; never empty before the end."""
        return self.ids[self.cache.length :]

    @property
    def remaining(self) -> int:
        """Tokens that may still be generated."""
        return self._max_new - self.n_generated

    def mask(self) -> Bitmask | None:
        """Which tokens may come next: what the grammar allows, less repetition, and only the end near the limit.

        None if everything may. It depends on the committed tokens alone, so drafting cannot change it.
        """
        if self.constraint is None:
            return None
        if self._must_close(self.constraint):
            return self._closer.mask(self.constraint)
        mask = self.constraint.mask()
        return mask if self.repeats is None else self.repeats.narrow(mask)

    def _must_close(self, constraint: Constraint) -> bool:
        """Whether the tokens left are only just enough; once true it stays true, since closing uses one up a token."""
        return self.remaining <= self._zone and self.remaining <= self._to_close(constraint) + MARGIN

    def _to_close(self, constraint: Constraint) -> int:
        if self._needed[0] != self.n_generated:
            self._needed = (self.n_generated, self._closer.needed(constraint))
        return self._needed[1]

    def affordable(self, choice: Choice) -> Choice:
        """`choice`, or the token that closes soonest where the rest of the limit could not close what it opens."""
        if self.constraint is None or self.remaining > self._zone or choice.token in self._vocabulary.eos_ids:
            return choice
        needed = self._closer.needed(self.constraint.after(choice.token))
        if needed < self.remaining:
            return choice
        self._closing = True
        return Choice(self._closer.next(self.constraint), 0.0, float("inf"))

    def commit(self, choice: Choice, origin: str) -> bool:
        """Append one token; True when that ends the sequence."""
        token = choice.token
        if self.constraint is not None and not self._closing:
            self._closing = self._must_close(self.constraint)
        self.ids.append(token)
        self.logprobs.append(choice.logprob)
        self.margins.append(choice.margin)
        self.origins.append(origin)
        if token in self._vocabulary.eos_ids:
            self.finish = "closed" if self._closing else "eos"
            return True
        piece = self._vocabulary.token_bytes[token]
        if self.constraint is not None and self.constraint.is_thinking:
            return self._think(self.constraint, token, piece)
        self.text += piece
        if self.reader is not None and self.repeats is not None:
            self.reader.feed(piece)
            self.repeats.feed(piece)
        if self.constraint is not None:
            self.constraint.advance(token)
        if self.stream.feed(piece):
            self.finish = "stop"
        elif self.constraint is not None and self.constraint.finished:
            self.finish = "closed" if self._closing else "grammar"
        elif self.remaining <= 0:
            self.finish = "length"
        return self.finish is not None

    def _think(self, constraint: Constraint, token: int, piece: bytes) -> bool:
        """Take a token of the thinking part, which is no part of the text."""
        self.thought += piece
        constraint.advance(token)
        if self.remaining <= 0:
            self.finish = "length"
        return self.finish is not None

    def absorb_forced(self) -> None:
        """Append the tokens that the grammar leaves no choice about; their KV rides in the next forward."""
        while self.finish is None and (forced := self.forced()) is not None:
            self.stats.forced_tokens += 1
            self.commit(Choice(forced, 0.0, float("inf")), "forced")

    def forced(self) -> int | None:
        """The only token that may come next, if there is only one."""
        mask = self.mask()
        if mask is None or self.constraint is None:
            return None
        return self.constraint.forced() if mask is self.constraint.mask() else single_bit(mask)

    def emit(self) -> None:
        """Hand text that is certain to the listener."""
        if self.finish is not None:
            self.stream.flush()
        piece = self.stream.take()
        if piece and self._on_text is not None:
            self._on_text(piece)
