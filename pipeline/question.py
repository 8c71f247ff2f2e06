"""Document + Schema -> `Question`: what the model is asked, what it may answer, and what may be guessed beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.request import Hints
from lookstruct.pipeline.grounding.found import Found, find_all
from lookstruct.pipeline.grounding.holding import hold
from lookstruct.pipeline.grounding.normal_forms import normal_forms
from lookstruct.pipeline.grounding.offers import PageOffers
from lookstruct.pipeline.hints import make_hints
from lookstruct.pipeline.view import worth_showing

if TYPE_CHECKING:
    from lookstruct.pipeline.prompt import Prompt, Prompter
    from lookstruct.schemas.document import Document
    from lookstruct.schemas.loader import Schema


@dataclass(frozen=True, slots=True)
class Question:
    """Everything the decoder gets for one page; `found` is what of dates, numbers and the like stands on it."""

    prompt: Prompt
    grammar: Grammar
    hints: Hints
    found: Found


def ask(
    document: Document,
    schema: Schema,
    prompter: Prompter,
    *,
    budget: int,
    max_page_tokens: int = 8192,
    free: bool = False,
) -> Question:
    """The question for one page; `free` lets values be written that the schema would hold to the page.

    ContextOverflow if prompt and schema don't fit into `budget` tokens.
    """
    found = find_all(document)
    prompt = prompter.build(document, schema, budget, max_page_tokens, remarks=normal_forms(document, found))
    grammar = (
        Grammar.json_schema(schema.grammar_schema)
        if free
        else hold(schema.grammar_schema, PageOffers(document, worth_showing(document), found))
    )
    return Question(prompt, grammar, make_hints(document, prompt.view, schema), found)
