"""Drafts from what the page offers for a field's type and name, chained on through the fields that follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from lookstruct.decoding.guessing.guesser import Guess
from lookstruct.decoding.guessing.json_text import string
from lookstruct.decoding.guessing.schema_walk import Path
from lookstruct.decoding.guessing.skeleton import Slot, Stage
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.decoding.sources.outlook import Outlook

_MAX_DRAFTS = 12
_FORKING = 0.2  # belief in a value from which on what follows is worth forking
_CHAINED, _CHAINING = 3, 0.08  # values that get a chain, and the belief they need for it
_STEM = 0.15  # belief in the year and month of the last date, where no date of the page fits
_LIKE, _LIKE_DATES = 0.3, 2  # belief that a date that is none of the page's ends as the record's last ones do
_TOPIC = 0.4
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
        slot = self._into_list(slot)
        opened, path = outlook.skeleton.descend(slot.path)
        last = outlook.progress.last
        if slot.stage is Stage.INSIDE:
            guesses = outlook.guesser.matching(path, slot.written, last)
        else:
            guesses = outlook.guesser.ranked(path, last, outlook.progress.keeps_zeros)
        for number, guess in enumerate(guesses[:_MAX_DRAFTS]):
            value = guess.raw[len(slot.written) :] if slot.written else slot.lead + opened + guess.raw
            if len(outlook.skeleton.after(path)) > 1 and not outlook.follow(path, guess.end, 1):
                yield from self._stepped(value, path, guess)
            elif number == 0 and guess.p > _FORKING:
                yield from self._forked(value, path, guess)
            elif number < _CHAINED and guess.p > _CHAINING:
                text = value + outlook.follow(path, guess.end, _CHAIN_BYTES if number == 0 else _SHORT_CHAIN_BYTES)
                yield Draft(text, p=guess.p, q=0.95, kind=guess.kind)
            else:
                yield from self._stepped(value, path, guess)
        yield from self._stems(slot, path, opened)
        yield from self._topics(slot, path)

    def _topics(self, slot: Slot, path: Path) -> Iterator[Draft]:
        """At an item's start in a list of words that stands nowhere as a list: what the page is about."""
        outlook = self._outlook
        listed = bool(path) and isinstance(path[-1], int) and outlook.skeleton.node(path).sole == "string"
        if not listed or slot.stage is not Stage.AHEAD or outlook.skeleton.node(path).enum:
            return
        if outlook.items.rows(path[:-1], int(path[-1])):
            return
        said = {done.value for items in outlook.progress.items.get(path[:-1], {}).values() for done in items.values()}
        for number, topic in enumerate(topic for topic in outlook.topics if topic not in said):
            for way in outlook.steps(path)[:1]:
                yield Draft(slot.lead + string(topic) + way.text, p=_TOPIC / (number + 2), q=0.9, kind="topic")

    def _into_list(self, slot: Slot) -> Slot:
        """At the start of a list of texts, the slot of its first item."""
        node = self._outlook.skeleton.node(slot.path)
        if slot.stage is not Stage.AHEAD or node.sole != "array":
            return slot
        item = (*slot.path, 0)
        listed = self._outlook.skeleton.node(item).sole == "string"
        return Slot(Stage.AHEAD, item, lead=slot.lead + b"[") if listed else slot

    def _stepped(self, value: bytes, path: Path, guess: Guess) -> Iterator[Draft]:
        """A value and just the ways on from it."""
        for way in self._outlook.steps(path):
            yield Draft(value + way.text, p=guess.p * way.p, q=0.95, kind=guess.kind)

    def _stems(self, slot: Slot, path: Path, opened: bytes) -> Iterator[Draft]:
        """How a date may begin where the page has none for it: like the record's last one, or with the page's year."""
        if self._outlook.skeleton.node(path).format not in ("date", "date-time"):
            return
        for number, stem in enumerate(self._outlook.progress.date_stems()):
            raw = b'"' + stem.encode()
            if raw.startswith(slot.written) and raw != slot.written:
                value = raw[len(slot.written) :] if slot.written else slot.lead + opened + raw
                yield Draft(value, p=_STEM / (number + 1), q=0.97, kind="stem")
        for number, date in enumerate(self._outlook.progress.last_dates()[:_LIKE_DATES]):
            rest = date.encode()[len(slot.written) - 1 :] if slot.written else b""
            if rest:
                yield Draft(rest + b'"' + self._outlook.step(path), p=_LIKE / (number + 1), q=0.97, kind="like")

    def _forked(self, value: bytes, path: Path, guess: Guess) -> Iterator[Draft]:
        """The likeliest value with all that follows, and the turns that may take."""
        main, *forks = self._outlook.branches(path, guess.end, _CHAIN_BYTES, self.name)
        yield Draft(value + main.text, p=guess.p, q=0.95, kind=guess.kind)
        for fork in forks:
            yield Draft(value + fork.text, p=guess.p * fork.p, q=0.97, kind="fork")
