"""Drafts from what the page offers for a field's type and name, chained on through the fields that follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from lookstruct.decoding.guessing.guesser import Guess
from lookstruct.decoding.guessing.schema_walk import Path
from lookstruct.decoding.guessing.skeleton import Slot, Stage
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.decoding.sources.outlook import Outlook

_MAX_DRAFTS = 12
_FORKING = 0.2  # belief in a value from which on what follows is worth forking
_CHAINED, _CHAINING = 3, 0.08  # values that get a chain, and the belief they need for it
_STEM = 0.15  # belief in the year and month of the last date, where no date of the page fits
_CHAIN_BYTES = 500
_SHORT_CHAIN_BYTES = 200


class TypedValues:
    """At a value's start its likeliest values, inside it those that begin as it does, after it the fields to come.

    Kinds: `<type>:label`, `<type>:hint` and `<type>:place` say why a value was taken (its label reads like the
    field's name, a little like it, or only its place speaks for it), `<type>:begun` is inside a value; `closed` for
    enums and booleans, `null`, `currency`, `stem` for the beginning of a date, `fork` where what follows a value may
    turn another way, and `next` after a value.
    """

    name: ClassVar[str] = "values"

    def __init__(self, request: DraftRequest) -> None:
        self._outlook = Outlook.of(request)

    def propose(self, context: DraftContext) -> Iterable[Draft]:
        """The likeliest values, each with the best guess of what follows it."""
        slot = self._outlook.look(context)
        if slot is None:
            return []
        if slot.stage is Stage.ENDED:
            return list(self._next(slot))
        return list(self._values(slot))

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Nothing of its own: the shared outlook follows the text."""

    def _next(self, slot: Slot) -> Iterator[Draft]:
        """After a value: the way on to the next ones, and its forks."""
        main, *forks = self._outlook.branches(slot.path, None, _CHAIN_BYTES, self.name)
        yield Draft(main.text, p=0.9, q=0.95, kind="next")
        for fork in forks:
            yield Draft(fork.text, p=0.9 * fork.p, q=0.97, kind="fork")

    def _values(self, slot: Slot) -> Iterator[Draft]:
        outlook = self._outlook
        opened, path = outlook.skeleton.descend(slot.path)
        last = outlook.progress.last
        if slot.stage is Stage.INSIDE:
            guesses = outlook.guesser.matching(path, slot.written, last)
        else:
            guesses = outlook.guesser.ranked(path, last, outlook.progress.keeps_zeros)
        for number, guess in enumerate(guesses[:_MAX_DRAFTS]):
            value = guess.raw[len(slot.written) :] if slot.written else slot.lead + opened + guess.raw
            if number == 0 and guess.p > _FORKING:
                yield from self._forked(value, path, guess)
            elif number < _CHAINED and guess.p > _CHAINING:
                text = value + outlook.follow(path, guess.end, _CHAIN_BYTES if number == 0 else _SHORT_CHAIN_BYTES)
                yield Draft(text, p=guess.p, q=0.95, kind=guess.kind)
            else:
                yield Draft(value + outlook.step(path), p=guess.p, q=0.95, kind=guess.kind)
        yield from self._stems(slot, path, opened)

    def _stems(self, slot: Slot, path: Path, opened: bytes) -> Iterator[Draft]:
        """How a date may begin where the page has none for it: like the record's last one, or with the page's year."""
        if self._outlook.skeleton.node(path).format not in ("date", "date-time"):
            return
        for number, stem in enumerate(self._outlook.progress.date_stems()):
            raw = b'"' + stem.encode()
            if raw.startswith(slot.written) and raw != slot.written:
                value = raw[len(slot.written) :] if slot.written else slot.lead + opened + raw
                yield Draft(value, p=_STEM / (number + 1), q=0.97, kind="stem")

    def _forked(self, value: bytes, path: Path, guess: Guess) -> Iterator[Draft]:
        """The likeliest value with all that follows, and the turns that may take."""
        main, *forks = self._outlook.branches(path, guess.end, _CHAIN_BYTES, self.name)
        yield Draft(value + main.text, p=guess.p, q=0.95, kind=guess.kind)
        for fork in forks:
            yield Draft(value + fork.text, p=guess.p * fork.p, q=0.97, kind="fork")
