"""Drafts from what the page offers for a field's type and name, chained on through the fields that follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from lookstruct.decoding.guesser import Guess, Guesser
from lookstruct.decoding.page_text import page_text
from lookstruct.decoding.progress import Progress
from lookstruct.decoding.schema_walk import Path
from lookstruct.decoding.skeleton import Skeleton, Slot, Stage
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest

_MAX_DRAFTS = 6
_CHAIN_BYTES = 500
_SHORT_CHAIN_BYTES = 200


class TypedValues:
    """At a value's start its likeliest values, inside it those that begin as it does, after it the fields to come.

    Kinds: `<type>:label`, `<type>:hint` and `<type>:place` say why a value was taken (its label reads like the
    field's name, a little like it, or only its place speaks for it), `<type>:begun` is inside a value; `closed` for
    enums and booleans, `null`, `currency`, and `next` after a value.
    """

    name: ClassVar[str] = "values"

    def __init__(self, request: DraftRequest) -> None:
        hints = request.hints
        page = page_text(hints.page)
        self._skeleton = Skeleton(hints.schema)
        self._progress = Progress(hints, page)
        self._guesser = Guesser(hints, page, self._skeleton)

    def propose(self, context: DraftContext) -> Iterable[Draft]:
        """The likeliest values, each with the best guess of what follows it."""
        if context.cursor is None:
            return []
        slot = self._skeleton.slot(context.text, context.cursor)
        if slot is None:
            return []
        self._progress.update(context.text)
        if slot.stage is Stage.ENDED:
            return list(self._after(slot.path))
        return list(self._values(slot))

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Keeps up with the finished values."""
        self._progress.update(context.text)

    def _after(self, path: Path) -> Iterator[Draft]:
        ways = self._skeleton.after(path)
        if len(ways) == 1:
            text = ways[0].text + self._guesser.chain(ways[0].path, self._progress, None, _CHAIN_BYTES)
            yield Draft(text, p=0.9, q=0.93, kind="next")

    def _values(self, slot: Slot) -> Iterator[Draft]:
        opened, path = self._skeleton.descend(slot.path)
        inside = slot.stage is Stage.INSIDE
        guesses = (
            self._guesser.matching(path, slot.written, self._progress)
            if inside
            else self._guesser.ranked(path, self._progress)
        )
        for number, guess in enumerate(guesses[:_MAX_DRAFTS]):
            text = guess.raw[len(slot.written) :] if inside else slot.lead + opened + guess.raw
            text += self._beyond(path, guess, _CHAIN_BYTES if number == 0 else _SHORT_CHAIN_BYTES)
            if text:
                yield Draft(text, p=guess.p, q=0.95, kind=guess.kind)

    def _beyond(self, path: Path, guess: Guess, limit: int) -> bytes:
        """From the end of a guessed value on; nothing where an array may end or go on."""
        ways = self._skeleton.after(path)
        if len(ways) != 1:
            return b""
        return ways[0].text + self._guesser.chain(ways[0].path, self._progress, guess.end, limit)
