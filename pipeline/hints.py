"""Document + Schema -> what the decoder may guess from (`decoding.request.Hints`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lookstruct.decoding.request import Hints
from lookstruct.schemas.document import Block, BlockKind, Document

if TYPE_CHECKING:
    from lookstruct.pipeline.view import PageView
    from lookstruct.schemas.loader import Schema


def make_hints(document: Document, view: PageView, schema: Schema) -> Hints:
    """Everything the page offers as a guess; none of it can change the output."""
    return Hints(page=view.text, rows=tuple(_rows(document)), schema=schema.grammar_schema)


def _rows(document: Document) -> Iterator[tuple[str, ...]]:
    """The texts of table rows and list items in reading order: what the items of an array are made of."""
    for block in document.blocks:
        if block.kind in (BlockKind.TABLE_ROW, BlockKind.LIST_ITEM) and not block.boilerplate:
            yield _cells(block, document.text)


def _cells(block: Block, text: str) -> tuple[str, ...]:
    return tuple(cell.span.of(text) for cell in block.cells) or (block.span.of(text),)
