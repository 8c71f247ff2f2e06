"""Drafts of whole array items: what earlier items took from which cells, taken from the next rows of the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from lookstruct.decoding.guessing.items import split_path
from lookstruct.decoding.guessing.json_text import dumps
from lookstruct.decoding.guessing.schema_walk import Path
from lookstruct.decoding.guessing.skeleton import Slot, Stage
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.decoding.sources.outlook import Outlook

_MAX_BYTES = 900
_MAX_ROWS = 6
_BELIEF = {"rows": 0.8, "row": 0.6, "header": 0.5, "heading": 0.5, "cards": 0.3, "list": 0.3}
_BEYOND = 0.3  # belief in the line after the last row, once the model has gone on past it
_LEAST = 0.05


class Arrays:
    """Next items in page order.

    Kinds: `rows` after two items or more, `row` after one, `header` for a first item under a table's header, `cards`
    under the first of several like headings, `heading` for a list under its heading, `list` for any other list,
    `beyond` past the last row, `inline` for lists within a line, `next` after a value inside an item.
    """

    name: ClassVar[str] = "arrays"

    def __init__(self, request: DraftRequest) -> None:
        self._outlook = Outlook.of(request)

    def propose(self, context: DraftContext) -> Iterable[Draft]:
        """Items from the cursor on, several rows ahead; nothing outside arrays."""
        slot = self._outlook.look(context)
        if slot is None or not self._outlook.page.text:
            return []
        slot = self._into_array(slot)
        place = split_path(slot.path)
        if place is None:
            return []
        if slot.stage is Stage.ENDED:
            return [*self._inline(slot, *place), *self._next(slot, place[0])]
        return [*self._inline(slot, *place), *self._along_rows(slot, place[0], place[1])]

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Nothing of its own: the shared outlook follows the text."""

    def _into_array(self, slot: Slot) -> Slot:
        """At the start of an array, the slot of its first item."""
        if slot.stage is not Stage.AHEAD or self._outlook.skeleton.node(slot.path).sole != "array":
            return slot
        return Slot(Stage.AHEAD, (*slot.path, 0), lead=slot.lead + b"[")

    def _next(self, slot: Slot, array: Path) -> Iterator[Draft]:
        """After a value: the rest of the item and the items after it, or the end of the array."""
        kind = self._outlook.items.mapping(array)[1]
        text = self._outlook.follow(slot.path, None, _MAX_BYTES)
        if text and kind:
            yield Draft(text, p=_BELIEF[kind], q=0.97, kind="next")

    def _along_rows(self, slot: Slot, array: Path, index: int) -> Iterator[Draft]:
        """The value read off the likeliest row, then off the ones after it, each with all that follows."""
        outlook = self._outlook
        kind = outlook.items.mapping(array)[1]
        opened, path = outlook.skeleton.descend(slot.path)
        p, rows = _BELIEF.get(kind, 0.0), outlook.items.rows(array, index)[:_MAX_ROWS]
        if not rows and (beyond := outlook.items.next_line(array, index)) is not None:
            rows, p, kind = [beyond], _BEYOND, "beyond"
        for row in rows:
            raw = outlook.items.value(row, path[len(array) + 1 :])
            if raw is not None and raw.startswith(slot.written):
                text = raw[len(slot.written) :] if slot.written else slot.lead + opened + raw
                text += outlook.follow(path, None, _MAX_BYTES, row)
                yield Draft(text, p=p, q=0.97, kind=kind)
                p *= 0.25
            if p < _LEAST:
                return

    def _inline(self, slot: Slot, array: Path, index: int, rel: Path) -> Iterator[Draft]:
        """A list within one line ("red, green and blue"): the other parts of that line."""
        if rel or slot.stage is Stage.INSIDE or self._outlook.skeleton.node((*array, index)).sole == "object":
            return
        last = index if slot.stage is Stage.ENDED else index - 1
        done = self._outlook.progress.done.get((*array, last))
        parts = self._outlook.items.parts_after(done) if done is not None else []
        if parts:
            lead = b", " if slot.stage is Stage.ENDED else slot.lead
            closing = self._outlook.closed((*array, last + len(parts)), _MAX_BYTES)
            yield Draft(lead + b", ".join(map(dumps, parts)) + closing, p=0.7, q=0.96, kind="inline")
