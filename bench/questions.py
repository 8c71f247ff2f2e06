"""The bench pages as questions to the decoder, cleaned without a browser so that every run sees the same text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.pages import PAGES, BenchPage
from lookstruct.extractors.clean import clean
from lookstruct.pipeline.prompt import Prompter
from lookstruct.pipeline.question import Question, ask
from lookstruct.schemas.document import Document, Page
from lookstruct.schemas.loader import Schema, load_schema

BUDGET = 24_000
"""Prompt tokens that any page of ours stays far below."""


@dataclass(frozen=True, slots=True)
class Case:
    """One page, ready to be asked."""

    page: BenchPage
    document: Document
    schema: Schema
    question: Question


def chosen(names: Iterable[str] | None = None, half: str | None = None) -> list[BenchPage]:
    """The pages of these names (all if None) and this half (both if None); ValueError for an unknown name."""
    wanted = None if names is None else set(names)
    unknown = (wanted or set()) - {page.name for page in PAGES}
    if unknown:
        raise ValueError(f"no such bench pages: {', '.join(sorted(unknown))}")
    return [p for p in PAGES if (wanted is None or p.name in wanted) and (half is None or p.half == half)]


def cases(pages: Iterable[BenchPage], tokenizer: Any, *, free: bool = False) -> Iterator[Case]:
    """Each page cleaned, its schema loaded, its question asked."""
    prompter = Prompter(tokenizer)
    for page in pages:
        document = clean(Page(url=page.url, final_url=page.url, html=page.html()), include_hidden=page.include_hidden)
        schema = load_schema(page.schema)
        yield Case(page, document, schema, ask(document, schema, prompter, budget=BUDGET, free=free))
