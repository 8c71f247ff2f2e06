"""Drafts from the schema alone: what opens a value, what stands between one value's end and the next one's start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from lookstruct.decoding.cursor import decode_string
from lookstruct.decoding.guessing.schema_walk import Path, SchemaNode
from lookstruct.decoding.guessing.skeleton import Slot, Stage, Way, literal_texts
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.decoding.sources.outlook import Outlook

_MAX_MEMBERS = 6
_FULL = {"date": 10, "time": 8}  # how long a complete value of the format is
_SHARE = 0.5  # of the belief that a value opens, is null or a member: the rest is for the other sources' own guesses
_CHAIN_BYTES = 160
_WAY_ON = 0.6  # belief that an array goes on after an item


class SchemaSeeds:
    """The JSON boilerplate of the schema: every draft runs on to the opening of the value after.

    Kinds: `open`, `null`, `member` and `empty` at a value's start; `close:*` inside a value; `go-on` and `end` after
    an array's item; `next` after a member.
    """

    name: ClassVar[str] = "schema"

    def __init__(self, request: DraftRequest) -> None:
        self._outlook = Outlook.of(request)
        self._skeleton = self._outlook.skeleton
        self._share = 1.0 if request.options.sources == (self.name,) else _SHARE

    def propose(self, context: DraftContext) -> Iterable[Draft]:
        """What the schema allows next; nothing without a JSON cursor."""
        slot = self._outlook.look(context)
        if slot is None:
            return []
        if slot.stage is Stage.AHEAD:
            return list(self._openings(slot))
        if slot.stage is Stage.ENDED:
            return list(self._ways_on(slot.path, b"", 0.97, ""))
        return list(self._closings(slot))

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Nothing is learnt: the schema does not change."""

    def _openings(self, slot: Slot) -> Iterator[Draft]:
        node = self._skeleton.node(slot.path)
        if node.nullable:
            yield from self._ended(slot, b"null", 0.25 * self._share, "null")
        members = literal_texts(node)
        for raw in members[:_MAX_MEMBERS]:
            p = (0.7 if node.nullable else 0.95) * self._share / len(members)
            yield from self._ended(slot, raw, p, "member")
        if node.only("array"):
            yield from self._ended(slot, b"[]", 0.1, "empty")
        opening = slot.lead + self._skeleton.opening(slot.path)
        if opening and not members:
            yield Draft(opening, p=(0.7 if node.nullable else 0.9) * self._share, q=0.97, kind="open")

    def _ended(self, slot: Slot, raw: bytes, p: float, kind: str) -> Iterator[Draft]:
        """A whole value, and the ways on after it."""
        return self._ways_on(slot.path, slot.lead + raw, p, kind)

    def _closings(self, slot: Slot) -> Iterator[Draft]:
        node = self._skeleton.node(slot.path)
        members = [raw for raw in literal_texts(node) if raw.startswith(slot.written)]
        for raw in members[:_MAX_MEMBERS]:
            yield from self._ways_on(slot.path, raw[len(slot.written) :], 0.97 / len(members), "member")
        if members:
            return
        if not slot.written.startswith(b'"'):
            if slot.written[-1:].isdigit():
                yield from self._ways_on(slot.path, b"", _number_end(slot.written), "close:number")
        elif not _inside_escape(slot.written):
            p, kind = _string_end(slot.written, node)
            yield from self._ways_on(slot.path, b'"', p, kind)

    def _ways_on(self, path: Path, before: bytes, p: float, kind: str) -> Iterator[Draft]:
        """`before` and then each way on after the value at `path`, up to the opening of the value it leads to."""
        ways = self._skeleton.after(path)[:3]
        for number, way in enumerate(ways):
            if len(ways) > 1:
                share, suffix = (_WAY_ON, "go-on") if number == 0 else ((1 - _WAY_ON) / number, "end")
            else:
                share, suffix = 1.0, "next"
            yield Draft(before + self._along(path, way, len(ways)), p=p * share, q=0.95, kind=kind or suffix)

    def _along(self, path: Path, way: Way, n_ways: int) -> bytes:
        """The text of a way: up to the next value's opening, or as far as the outlook sees where there is one way."""
        if n_ways == 1:
            return self._outlook.follow(path, None, _CHAIN_BYTES)
        return way.text + (b"" if way.path is None else self._skeleton.opening(way.path))


def _number_end(written: bytes) -> float:
    """Belief that a number is complete: two decimals mostly are the last."""
    _, point, decimals = written.partition(b".")
    return (0.85 if len(decimals) >= 2 else 0.4) if point else 0.3


def _string_end(written: bytes, node: SchemaNode) -> tuple[float, str]:
    """Belief that a string ends here, by what stands last."""
    inner = decode_string(written[1:])
    if not inner:
        return 0.02, "close:empty"
    if len(inner) == _FULL.get(node.format):
        return 0.97, "close:full"
    if node.format in _FULL:
        return 0.02, "close:short"
    if inner[-1].isalnum():
        return (0.15, "close:word") if len(inner) > 2 else (0.05, "close:start")
    return (0.35, "close:stop") if inner[-1] in ".!?)" else (0.02, "close:mark")


def _inside_escape(written: bytes) -> bool:
    """Whether the last byte is a backslash that escapes what comes next."""
    return (len(written) - len(written.rstrip(b"\\"))) % 2 == 1
