"""A part whose answer met the token limit -> what of it is whole, and the rest of its chunk to be read on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lookstruct.pipeline.chunks.chunk import Chunk
from lookstruct.pipeline.chunks.context import context_of
from lookstruct.pipeline.chunks.part import Part
from lookstruct.pipeline.leaves import escape
from lookstruct.schemas.document import Block


def resumed(part: Part) -> tuple[Part, Chunk] | None:
    """The part without what the limit cut, and the chunk that begins behind its last whole item.

    Only a list can be read on: the last one of the record that has items is where the limit fell. Its last item was
    closed in haste, as was every field after it: they are read again. None where nothing can be gained: no list, or
    no item of which one could say where it stands.
    """
    name = _last_list(part.data)
    if name is None:
        return None
    pointer, items = (f"/{escape(name)}", part.data[name]) if name else ("", part.data)
    after = _anchor(part, f"{pointer}/{len(items) - 2}", part.chunk.blocks)
    if after is None or after + 1 >= len(part.chunk.blocks):
        return None
    whole = _without_rest(part.data, name, items[:-1])
    blocks = part.chunk.shown
    first = len(part.chunk.context) + after + 1
    chunk = Chunk(blocks[first:], context_of(blocks, first))
    return replace(part, data=whole), chunk


def _last_list(data: Any) -> str | None:
    """The name of the last list with two items or more, "" where the record is a list itself; None where there is
    none."""
    if isinstance(data, list):
        return "" if len(data) > 1 else None
    fields = data.items() if isinstance(data, Mapping) else ()
    filled = [name for name, value in fields if isinstance(value, list) and value]
    return filled[-1] if filled and len(data[filled[-1]]) > 1 else None


def _anchor(part: Part, pointer: str, blocks: Sequence[Block]) -> int | None:
    """The number of the block in which most of an item's values stand."""
    spans = [
        evidence.span
        for at, evidence in part.evidence.items()
        if (at == pointer or at.startswith(pointer + "/")) and evidence.span is not None
    ]
    found = Counter(
        number
        for span in spans
        for number, block in enumerate(blocks)
        if block.span.start <= span.start < block.span.end
    )
    return found.most_common(1)[0][0] if found else None


def _without_rest(data: Any, name: str, items: list[Any]) -> Any:
    """The record up to the list called `name`, which has only `items`; what comes after it is open."""
    if not name:
        return items
    names = list(data)
    before = {key: data[key] for key in names[: names.index(name)]}
    after: dict[str, Any] = {key: [] if isinstance(data[key], list) else None for key in names[names.index(name) + 1 :]}
    return {**before, name: items, **after}
