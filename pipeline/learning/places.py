"""A record and its evidence -> where each value stood (`Place`): the element, the cell, the words around it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.leaves import leaves
from lookstruct.schemas.document import Block, Document, Span

if TYPE_CHECKING:
    from lookstruct.decoding.request import Candidate
    from lookstruct.schemas.record import Evidence

_LONGEST = 120
"""Code points of the words around a value that are kept."""
_SIGN = 4
"""Code points that a currency before a number may have."""
_PLAIN = ("line", "cell", "heading")
_ALIKE = {"number": ("number", "price"), "price": ("price", "number")}


@dataclass(frozen=True, slots=True)
class Place:
    """Where one value stood.

    `path` is its element's DOM path, `line` the line's number there (an address has several), `cell` its cell's number
    in a table row, `anchor` the row's first cell where that is another one, `before` and `after` the words beside it in
    its line or cell. `kind` is the kind of candidate that it was ("number", "date"), "" where it was none; `value` is
    what the record had.
    """

    pointer: str
    path: str
    line: int
    cell: int | None
    n_cells: int
    anchor: str
    before: str
    after: str
    text: str
    kind: str
    value: Any

    def to_json(self) -> dict[str, Any]:
        """Its JSON form in the store."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Place:
        """The other way round; TypeError for what is none."""
        place = cls(**data)
        if not all(isinstance(getattr(place, name), str) for name in ("pointer", "path", "before", "after", "text")):
            raise TypeError(f"a place has texts, got {data!r}")
        return place


def places_of(
    data: Any, evidence: Mapping[str, Evidence], document: Document, candidates: Iterable[Candidate]
) -> list[Place]:
    """The places of all values that stand on the page."""
    forms = Forms(candidates)
    return [
        place
        for pointer, value in leaves(data)
        if (found := evidence.get(pointer)) is not None and found.span is not None
        for place in _place(pointer, value, found.span, document, forms)
    ]


class Forms:
    """The page's candidates by where they begin: what a text means as a number, a date, a link."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._at: dict[int, list[Candidate]] = {}
        for candidate in candidates:
            self._at.setdefault(candidate.start, []).append(candidate)

    def kind(self, span: Span, value: Any) -> str:
        """The kind of the candidate that begins within `span` and reads as `value`; "" if there is none."""
        return next((c.kind for c in self._within(span) if same(c.text, value) and c.kind not in _PLAIN), "")

    def value(self, span: Span, kind: str) -> str | None:
        """What the first candidate of a kind within `span` reads as; money may begin with a sign just before it."""
        alike = _ALIKE.get(kind, (kind,))
        signed = Span(max(span.start - _SIGN, 0), span.start)
        return next((c.text for part in (span, signed) for c in self._within(part) if c.kind in alike), None)

    def _within(self, span: Span) -> Iterator[Candidate]:
        for start in range(span.start, span.end):
            yield from self._at.get(start, ())


def same(text: str, value: Any) -> bool:
    """Whether a candidate's text is a record's value.

    >>> same("12.50", 12.5), same("2025-01-02", "2025-01-02"), same("x", 1)
    (True, True, False)
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == float(value)
        except ValueError:
            return False
    return bool(text == value)


def field_of(block: Block, offset: int) -> tuple[int | None, Span]:
    """The cell at an offset with its span; (None, the whole block) where it has none."""
    for number, cell in enumerate(block.cells):
        if cell.span.start <= offset < cell.span.end:
            return number, cell.span
    return None, block.span


def line_of(block: Block, blocks: Sequence[Block]) -> int:
    """How many lines of the same element stand before this one."""
    at = bisect_left(blocks, block.span.start, key=lambda one: one.span.start)
    line = 0
    while line < at and blocks[at - line - 1].dom_path == block.dom_path:
        line += 1
    return line


def _place(pointer: str, value: Any, span: Span, document: Document, forms: Forms) -> Iterator[Place]:
    block = document.block_at(span.start)
    if block is None or span.end > block.span.end:
        return
    cell, field = field_of(block, span.start)
    text = document.text
    yield Place(
        pointer=pointer,
        path=block.dom_path,
        line=line_of(block, document.blocks),
        cell=cell,
        n_cells=len(block.cells),
        anchor=block.cells[0].span.of(text)[:_LONGEST] if cell else "",
        before=text[max(field.start, span.start - _LONGEST) : span.start],
        after=text[span.end : min(field.end, span.end + _LONGEST)],
        text=span.of(text),
        value=value,
        kind="" if span.of(text) == value else forms.kind(Span(max(field.start, span.start - _SIGN), span.end), value),
    )
