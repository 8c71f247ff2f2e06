"""Sections of a page + a schema -> the sections that most likely hold its values (BM25), where not all can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lookstruct.decoding.guessing.field_words import words
from lookstruct.pipeline.chunks.chunk import Chunk
from lookstruct.schemas.document import Document


def by_relevance(document: Document, sections: Sequence[Chunk], schema: Mapping[str, Any]) -> list[int]:
    """The numbers of the sections, the likeliest first; those that say nothing of any field in page order.

    The question is made of the fields' names and descriptions, with the common synonyms of both.
    """
    import bm25s

    corpus = [list(_words_of(document, section)) or ["-"] for section in sections]
    index = bm25s.BM25()
    index.index(corpus, show_progress=False)
    asked = sorted(words(" ".join(field_texts(schema))) & {word for section in corpus for word in section})
    if not asked:
        return list(range(len(sections)))
    scores = index.get_scores(asked)
    return sorted(range(len(sections)), key=lambda number: (-float(scores[number]), number))


def _words_of(document: Document, section: Chunk) -> Iterator[str]:
    """The words of each block: the more blocks use one, the more often it counts."""
    for block in section.blocks:
        yield from sorted(words(block.span.of(document.text)))


def field_texts(schema: Any) -> Iterator[str]:
    """The names and descriptions of all fields.

    >>> list(field_texts({"properties": {"due_date": {"description": "When to pay"}}}))
    ['due_date', 'When to pay']
    """
    if isinstance(schema, Mapping):
        yield from (str(name) for name in schema.get("properties", ()))
        if isinstance(description := schema.get("description"), str):
            yield description
        for child in schema.values():
            yield from field_texts(child)
    elif isinstance(schema, list | tuple):
        for child in schema:
            yield from field_texts(child)
