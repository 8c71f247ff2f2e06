"""Drafts from guesses of the whole record: page metadata, a past record of the same site, aligned by path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from lookstruct.decoding.guessing.skeleton import Slot, Stage
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.decoding.sources.outlook import Outlook

_CHAIN_BYTES = 500
_BEGUN = 2.0  # how much likelier a guess is once the value begins like it


class Records:
    """Each guessed record, read at the cursor's path; what follows is the best of records, page and rows.

    Kinds: `here` where the value stands on the page, `absent` where it should and does not, `fixed` for what is not
    text of a page (null, booleans, enum members); `begun:*` inside a value, `next` after one.
    """

    name: ClassVar[str] = "records"

    def __init__(self, request: DraftRequest) -> None:
        self._outlook = Outlook.of(request)

    def propose(self, context: DraftContext) -> Iterable[Draft]:
        """A draft for each guess and form of a number that says something at the cursor."""
        if not self._outlook.records:
            return []
        slot = self._outlook.look(context)
        if slot is None:
            return []
        if slot.stage is Stage.ENDED:
            text = self._outlook.follow(slot.path, None, _CHAIN_BYTES)
            return [Draft(text, p=0.9, q=0.96, kind="next")] if text else []
        return list(self._values(slot))

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Nothing of its own: the shared outlook follows the text."""

    def _values(self, slot: Slot) -> Iterator[Draft]:
        outlook = self._outlook
        inside = slot.stage is Stage.INSIDE
        places = [(b"", slot.path)] if inside else [(b"", slot.path), outlook.skeleton.descend(slot.path)]
        given: set[bytes] = set()
        for opened, path in places:
            for guess in outlook.records.at(path):
                if not guess.raw.startswith(slot.written) or guess.raw in given:
                    continue
                given.add(guess.raw)
                value = guess.raw[len(slot.written) :] if inside else slot.lead + opened + guess.raw
                text = value + outlook.follow(path, None, _CHAIN_BYTES)
                p, kind = (min(0.9, guess.p * _BEGUN), f"begun:{guess.kind}") if inside else (guess.p, guess.kind)
                if text:
                    yield Draft(text, p=p, q=0.96, kind=kind)
