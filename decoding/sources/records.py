"""Drafts from guesses of the whole record: page metadata, a past record of the same site, aligned by path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from lookstruct.decoding.json_text import dumps, key_text, number_forms
from lookstruct.decoding.page_text import page_text
from lookstruct.decoding.progress import Progress
from lookstruct.decoding.schema_walk import Path
from lookstruct.decoding.skeleton import Skeleton, Slot, Stage
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest

_MAX_GUESSES = 3
_MAX_BYTES = 900
_MISSING = object()


class Records:
    """Each guess, read at the cursor's path and on from there in the schema's order.

    A wrong value costs only itself: after it the guess is taken up again at the next key. Kinds: `here` where the
    value stands on the page, `absent` where it does not, `fixed` for what is not text (null, booleans), `next`
    between values, `begun` inside one.
    """

    name: ClassVar[str] = "records"

    def __init__(self, request: DraftRequest) -> None:
        hints = request.hints
        self._guesses = [guess for guess in hints.guesses if isinstance(guess, Mapping | list)][:_MAX_GUESSES]
        self._page = page_text(hints.page)
        self._skeleton = Skeleton(hints.schema)
        self._progress = Progress(hints, self._page)
        self._on_page: dict[str, bool] = {}

    def propose(self, context: DraftContext) -> Iterable[Draft]:
        """One draft or two for each guess that says something at the cursor."""
        if context.cursor is None or not self._guesses:
            return []
        slot = self._skeleton.slot(context.text, context.cursor)
        if slot is None:
            return []
        self._progress.update(context.text)
        found: dict[bytes, Draft] = {}
        for guess in self._guesses:
            for draft in self._from(guess, slot):
                found.setdefault(draft.text, draft)
        return list(found.values())

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Keeps up with the finished values."""
        self._progress.update(context.text)

    def _from(self, guess: Any, slot: Slot) -> Iterator[Draft]:
        if slot.stage is Stage.ENDED:
            tail = self._tail(guess, slot.path)
            if tail:
                yield Draft(tail, p=0.8, q=0.96, kind="next")
            return
        value = _value_at(guess, slot.path)
        if value is _MISSING and slot.stage is Stage.AHEAD and not _over(guess, slot.path):
            return
        tail = self._tail(guess, slot.path)
        for number, raw in enumerate(self._forms(value, slot.path)):
            if raw.startswith(slot.written):
                p, kind = self._belief(value, bool(slot.written), number)
                rest = raw[len(slot.written) :] + tail
                if rest:
                    yield Draft((slot.lead + rest)[:_MAX_BYTES], p=p, q=0.96, kind=kind)

    def _belief(self, value: Any, begun: bool, form: int) -> tuple[float, str]:
        """How likely the value is right, before anything of it is written or after."""
        if begun:
            return (0.8 if form == 0 else 0.2), "begun"
        if value is None or isinstance(value, bool | Mapping | list):
            return 0.6, "fixed"
        shown = self._stands(str(value))
        return ((0.6, "here") if shown else (0.2, "absent")) if form == 0 else (0.15, "form")

    def _stands(self, text: str) -> bool:
        if text not in self._on_page:
            self._on_page[text] = self._page.find(text) is not None
        return self._on_page[text]

    def _forms(self, value: Any, path: Path) -> tuple[bytes, ...]:
        """The value as JSON in the schema's key order; numbers in each of their forms."""
        if value is _MISSING:
            return ()
        node = self._skeleton.node(path)
        is_number = isinstance(value, int | float | str) and not isinstance(value, bool)
        if is_number and node.only("integer", "number"):
            forms = [form.encode() for form in number_forms(str(value), integer=node.only("integer"))]
            cents = [b"%.2f" % float(value)] if isinstance(value, float) else []
            ordered = [*cents, *forms] if self._progress.keeps_zeros else [*forms, *cents]
            return unique_bytes(ordered)
        return (self._written(value, path),)

    def _written(self, value: Any, path: Path) -> bytes:
        if isinstance(value, Mapping):
            keys = self._skeleton.node(path).keys or tuple(value)
            members = [key_text(key) + self._written(value.get(key), (*path, key)) for key in keys]
            return b"{" + b", ".join(members) + b"}"
        if isinstance(value, list):
            return b"[" + b", ".join(self._written(item, (*path, i)) for i, item in enumerate(value)) + b"]"
        forms = self._forms(value, path) if isinstance(value, int | float) and not isinstance(value, bool) else ()
        return forms[0] if forms else dumps(value)

    def _tail(self, guess: Any, path: Path) -> bytes:
        """What the guess says after the value at `path`: members and items that follow, closers, and so on outward."""
        text = b""
        while path and len(text) < _MAX_BYTES:
            parent, last = path[:-1], path[-1]
            around = _value_at(guess, parent)
            if isinstance(last, int):
                items = around[last + 1 :] if isinstance(around, list) else []
                for i, item in enumerate(items, start=last + 1):
                    text += b", " + self._written(item, (*parent, i))
                text += b"]"
            else:
                keys = self._skeleton.node(parent).keys
                for key in keys[keys.index(last) + 1 :] if last in keys else ():
                    value = around.get(key) if isinstance(around, Mapping) else None
                    text += b", " + key_text(key) + self._written(value, (*parent, key))
                text += b"}"
            path = parent
        return text[:_MAX_BYTES]


def unique_bytes(values: Iterable[bytes]) -> tuple[bytes, ...]:
    """The values without repetitions, in order."""
    return tuple(dict.fromkeys(values))


def _value_at(value: Any, path: Path) -> Any:
    """What stands at `path` in a plain record, `_MISSING` where there is nothing."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step, _MISSING) if isinstance(value, Mapping) else _MISSING
        else:
            value = value[step] if isinstance(value, list) and step < len(value) else _MISSING
        if value is _MISSING:
            break
    return value


def _over(guess: Any, path: Path) -> bool:
    """Whether `path` lies past what the guess holds."""
    return _value_at(guess, path) is _MISSING
