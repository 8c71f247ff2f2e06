"""Drafts of whole array items: what earlier items took from which cells, taken from the next rows of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from lookstruct.decoding.atom_values import AtomValues
from lookstruct.decoding.guesser import Guesser
from lookstruct.decoding.json_text import dumps
from lookstruct.decoding.page_text import page_text
from lookstruct.decoding.progress import Done, Progress
from lookstruct.decoding.row_mapping import RowMapper, RowMapping
from lookstruct.decoding.schema_walk import Path, SchemaNode
from lookstruct.decoding.skeleton import Skeleton, Slot, Stage
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest

_MAX_BYTES = 900
_CHAIN_BYTES = 240
_INLINE = re.compile(r"\s*(?:[,;/·•|]|\band\b|&)\s+")


@dataclass(frozen=True, slots=True)
class _At:
    """A place within an array: `array` is the array's path, `index` the item, `rel` the place inside the item."""

    array: Path
    index: int
    rel: Path

    @staticmethod
    def of(path: Path) -> _At | None:
        """The innermost array around `path`, None outside arrays."""
        for depth in range(len(path) - 1, -1, -1):
            step = path[depth]
            if isinstance(step, int):
                return _At(path[:depth], step, path[depth + 1 :])
        return None


class Arrays:
    """Next items in page order.

    Kinds: `rows` after two items or more, `row` after one, `header` for a first item under a table's header, `heading`
    for a list under its heading, `inline` for lists within a line, `end` where the rows end.
    """

    name: ClassVar[str] = "arrays"

    def __init__(self, request: DraftRequest) -> None:
        hints = request.hints
        self._page = page_text(hints.page)
        self._skeleton = Skeleton(hints.schema)
        self._progress = Progress(hints, self._page)
        self._guesser = Guesser(hints, self._page, self._skeleton)
        self._mapper = RowMapper(AtomValues(self._page, hints.candidates))
        self._learnt: dict[Path, tuple[int, RowMapping | None]] = {}
        self._promised: dict[Path, tuple[RowMapping | None, str]] = {}

    def propose(self, context: DraftContext) -> Iterable[Draft]:
        """Items from the cursor on, several rows ahead; nothing outside arrays."""
        if context.cursor is None or not self._page.text:
            return []
        slot = self._skeleton.slot(context.text, context.cursor)
        if slot is None:
            return []
        self._progress.update(context.text)
        slot = self._into_array(slot)
        at = _At.of(slot.path)
        return [] if at is None else [*self._inline(slot, at), *self._rows(slot, at)]

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Keeps up with the finished values."""
        self._progress.update(context.text)

    def _into_array(self, slot: Slot) -> Slot:
        """At the start of an array, the slot of its first item."""
        if slot.stage is not Stage.AHEAD or not self._skeleton.node(slot.path).only("array"):
            return slot
        return Slot(Stage.AHEAD, (*slot.path, 0), lead=slot.lead + b"[")

    def _rows(self, slot: Slot, at: _At) -> Iterator[Draft]:
        """Drafts by a mapping: along the likeliest next row, along the one after, and the end of the array."""
        mapping, kind = self._mapping(at)
        if mapping is None:
            return
        nodes = self._field_nodes(mapping, at)
        lines = [line for line in self._mapper.next_lines(mapping, at.index) if self._mapper.fits(mapping, line, nodes)]
        p = {"rows": 0.8, "row": 0.6}.get(kind, 0.5)
        for line in lines[:6]:
            text = self._from_row(slot, at, mapping, line)
            if text:
                yield Draft(slot.lead + text, p=p, q=0.97, kind=kind)
                p *= 0.25
                if p < 0.05:
                    return
        if not lines and slot.stage is Stage.AHEAD and at.index:
            return

    def _mapping(self, at: _At) -> tuple[RowMapping | None, str]:
        """What the items so far teach, else what a header or heading promises."""
        items = self._progress.items.get(at.array, {})
        if not items:
            return self._promise(at.array)
        n_done = sum(map(len, items.values()))
        if self._learnt.get(at.array, (0, None))[0] != n_done:
            self._learnt[at.array] = (n_done, self._mapper.learn(items))
        mapping = self._learnt[at.array][1]
        if mapping is None and 0 in items and at.index == 0:
            return self._promise(at.array)
        return mapping, "rows" if mapping is not None and len(mapping.lines) > 1 else "row"

    def _promise(self, array: Path) -> tuple[RowMapping | None, str]:
        if array not in self._promised:
            item = self._skeleton.node((*array, 0))
            if item.keys:
                fields: dict[Path, SchemaNode] = {(key,): self._skeleton.node((*array, 0, key)) for key in item.keys}
                self._promised[array] = self._mapper.from_header(fields), "header"
            else:
                name = next((step for step in reversed(array) if isinstance(step, str)), "")
                self._promised[array] = self._mapper.from_heading(name), "heading"
        return self._promised[array]

    def _field_nodes(self, mapping: RowMapping, at: _At) -> Mapping[Path, SchemaNode]:
        return {rel: self._skeleton.node((*at.array, at.index, *rel)) for rel in mapping.columns}

    def _from_row(self, slot: Slot, at: _At, mapping: RowMapping, line: int) -> bytes:
        """The rest of this item from `line`, then the items of the following lines, then the end if they run out."""
        text, path, index = b"", slot.path, at.index
        current: int | None = line
        if slot.stage is Stage.INSIDE:
            raw = self._mapper.value(mapping, at.rel, line, self._skeleton.node(path))
            if raw is None or not raw.startswith(slot.written):
                return b""
            text = raw[len(slot.written) :]
        if slot.stage is not Stage.AHEAD:
            way = self._way_on(path, at.array, mapping, index, line)
            if way is None:
                return text
            step, next_path, current = way
            text += step
            if next_path is None or current is None:
                return text + self._rest(next_path)
            path, index = next_path, next_path[len(at.array)]  # type: ignore[assignment]
        while len(text) < _MAX_BYTES and current is not None:
            opened, path = self._skeleton.descend(path)
            rel = path[len(at.array) + 1 :]
            raw = self._mapper.value(mapping, rel, current, self._skeleton.node(path))
            if raw is None:
                return text + opened + self._skeleton.opening(path)
            text += opened + raw
            way = self._way_on(path, at.array, mapping, index, current)
            if way is None:
                return text
            step, next_path, following = way
            text += step
            if next_path is None or following is None:
                return text + self._rest(next_path)
            path, current, index = next_path, following, next_path[len(at.array)]  # type: ignore[assignment]
        return text

    def _way_on(
        self, path: Path, array: Path, mapping: RowMapping, index: int, line: int
    ) -> tuple[bytes, Path | None, int | None] | None:
        """The text after the value at `path`, the path it leads to, and the line that goes with it (None: outside)."""
        ways = self._skeleton.after(path)
        if not ways:
            return None
        inside = (*array, index)
        if ways[0].path is not None and ways[0].path[: len(inside)] == inside:
            return ways[0].text, ways[0].path, line
        following = self._following(mapping, array, index, line)
        if following is not None:
            return ways[0].text, ways[0].path, following
        return (ways[1].text, ways[1].path, None) if len(ways) > 1 else None

    def _following(self, mapping: RowMapping, array: Path, index: int, line: int) -> int | None:
        """The line of the item after the one at `line`."""
        known = RowMapping(mapping.columns, mapping.constants, {**mapping.lines, index: line})
        at = _At(array, index + 1, ())
        nodes = self._field_nodes(mapping, at)
        lines = self._mapper.next_lines(known, index + 1)
        return next((found for found in lines if self._mapper.fits(mapping, found, nodes)), None)

    def _rest(self, path: Path | None) -> bytes:
        return self._guesser.chain(path, self._progress, None, _CHAIN_BYTES)

    def _inline(self, slot: Slot, at: _At) -> Iterator[Draft]:
        """A list within one line ("red, green and blue"): the other parts of that line."""
        if at.rel or slot.stage is Stage.INSIDE:
            return
        index = at.index if slot.stage is Stage.ENDED else at.index - 1
        last = self._progress.done.get((*at.array, index))
        parts = self._parts_after(last) if last is not None else []
        if not parts or self._skeleton.node((*at.array, at.index)).only("object"):
            return
        items = b", ".join(map(dumps, parts))
        lead = b", " if slot.stage is Stage.ENDED else slot.lead
        ways = self._skeleton.after((*at.array, index + len(parts)))
        end = ways[1].text + self._rest(ways[1].path) if len(ways) > 1 else b""
        yield Draft(lead + items + end, p=0.7, q=0.96, kind="inline")

    def _parts_after(self, done: Done) -> list[str]:
        if done.end is None or done.start is None:
            return []
        atom = self._page.atom_at(done.start)
        end = self._page.atoms[atom][1] if atom >= 0 else done.end
        rest = self._page.text[done.end : end]
        first = _INLINE.match(rest)
        if first is None:
            return []
        return [part.strip(" .") for part in _INLINE.split(rest[first.end() :]) if part.strip(" .")]
