"""The records of several parts of a page -> one record, each value chosen by its evidence (`merge`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.chunks.items import items_once
from lookstruct.pipeline.leaves import escape
from lookstruct.schemas.record import Evidence, EvidenceStatus

if TYPE_CHECKING:
    from lookstruct.pipeline.chunks.part import Part

UNKNOWN = 0.5
"""The confidence of a value whose decoder does not tell one."""


@dataclass(frozen=True, slots=True)
class Merged:
    """One record, the evidence of its leaves, and for each scalar on which the parts differ what else was read."""

    data: Any
    evidence: Mapping[str, Evidence]
    conflicts: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)


def merge(parts: Sequence[Part]) -> Merged:
    """One record from the parts of a page, which are in page order.

    A scalar is what the parts are surest of together; readings of the same place count once. A list has every item
    of every part, each once (see `items_once`). Objects are merged field by field.
    """
    if len(parts) == 1:
        return Merged(parts[0].data, parts[0].evidence)
    merger = _Merger()
    data = merger.value("", [(part, part.data) for part in parts])
    return Merged(data, merger.evidence, merger.conflicts)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A scalar as one part has it."""

    value: Any
    evidence: Evidence

    @property
    def confidence(self) -> float:
        """How sure it is."""
        return UNKNOWN if self.evidence.confidence is None else self.evidence.confidence


class _Merger:
    """Merges records; evidence and conflicts are by pointers of the merged record."""

    def __init__(self) -> None:
        self.evidence: dict[str, Evidence] = {}
        self.conflicts: dict[str, list[dict[str, Any]]] = {}

    def value(self, pointer: str, read: Sequence[tuple[Part, Any]]) -> Any:
        """What stands at `pointer`, outside of any list, in the merged record."""
        said = [(part, value) for part, value in read if value is not None]
        if not said:
            self.evidence[pointer] = Evidence(EvidenceStatus.NONE)
            return None
        kind = type(said[0][1])
        alike = [(part, value) for part, value in said if isinstance(value, kind)]
        if kind is dict:
            return self._object(pointer, alike)
        if kind is list:
            return self._list(pointer, alike)
        return self._scalar(pointer, said)

    def _object(self, pointer: str, read: Sequence[tuple[Part, Any]]) -> dict[str, Any]:
        names = dict.fromkeys(name for _, value in read for name in value)
        return {
            name: self.value(f"{pointer}/{escape(name)}", [(part, value.get(name)) for part, value in read])
            for name in names
        }

    def _list(self, pointer: str, read: Sequence[tuple[Part, Any]]) -> list[Any]:
        items = items_once([part for part, _ in read], pointer, [value for _, value in read])
        for number, item in enumerate(items):
            own, new = item.own_pointer, f"{pointer}/{number}"
            for at, evidence in item.part.evidence.items():
                if at == own or at.startswith(own + "/"):
                    self.evidence[new + at.removeprefix(own)] = evidence
        return [item.value for item in items]

    def _scalar(self, pointer: str, read: Sequence[tuple[Part, Any]]) -> Any:
        readings = [_Reading(value, _evidence(part, pointer)) for part, value in read]
        groups = list(_by_value(readings))
        chosen = max(groups, key=_certainty)
        best = max(chosen, key=lambda reading: reading.confidence)
        self.evidence[pointer] = best.evidence
        others = [max(group, key=lambda reading: reading.confidence) for group in groups if group is not chosen]
        if others:
            self.conflicts[pointer] = [{"value": one.value, **one.evidence.to_json()} for one in others]
        return best.value


def _evidence(part: Part, pointer: str) -> Evidence:
    return part.evidence.get(pointer, Evidence(EvidenceStatus.NONE))


def _by_value(readings: Sequence[_Reading]) -> Iterator[list[_Reading]]:
    """The readings that say the same, in the order in which they come up."""
    groups: dict[Any, list[_Reading]] = {}
    for reading in readings:
        same = " ".join(reading.value.split()).casefold() if isinstance(reading.value, str) else reading.value
        groups.setdefault((isinstance(reading.value, bool), same), []).append(reading)
    yield from groups.values()


def _certainty(group: Sequence[_Reading]) -> float:
    """The probability that at least one of these is right, the surest of each place: as if places were independent.

    Readings that stand nowhere are one.
    """
    surest: dict[Any, float] = {}
    for reading in group:
        surest[reading.evidence.span] = max(surest.get(reading.evidence.span, 0.0), reading.confidence)
    return 1 - prod(1 - confidence for confidence in surest.values())
