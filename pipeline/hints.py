"""Document + Schema -> what the decoder may guess from (`decoding.request.Hints`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lookstruct.decoding.request import Candidate, Hints
from lookstruct.pipeline.values.candidates import find_candidates
from lookstruct.schemas.document import Block, BlockKind, Document

if TYPE_CHECKING:
    from lookstruct.pipeline.values.found import Found
    from lookstruct.pipeline.view import PageView
    from lookstruct.schemas.loader import Schema


def make_hints(
    document: Document,
    view: PageView,
    schema: Schema,
    found: Found | None = None,
    guesses: Iterable[Any] = (),
    past: Iterable[tuple[int, ...]] = (),
) -> Hints:
    """Everything the page offers as a guess; none of it can change the output. `found` saves reading the page again.

    `guesses` are whole records that may come out, `past` the tokens that came out for earlier pages.
    """
    return Hints(
        page=view.text,
        candidates=tuple(_shown(find_candidates(document, found), view)),
        rows=tuple(_rows(document)),
        guesses=tuple(guesses),
        past=tuple(past),
        schema=schema.grammar_schema,
    )


def _shown(candidates: Iterable[Candidate], view: PageView) -> Iterator[Candidate]:
    """The candidates that the model is shown, with their offsets in the view."""
    for candidate in candidates:
        start = view.from_document(candidate.start)
        if start is not None:
            yield replace(candidate, start=start)


def _rows(document: Document) -> Iterator[tuple[str, ...]]:
    """The texts of table rows and list items in reading order: what the items of an array are made of."""
    for block in document.blocks:
        if block.kind in (BlockKind.TABLE_ROW, BlockKind.LIST_ITEM) and not block.boilerplate:
            yield _cells(block, document.text)


def _cells(block: Block, text: str) -> tuple[str, ...]:
    return tuple(cell.span.of(text) for cell in block.cells) or (block.span.of(text),)
