"""Document + Schema -> `Question`: what the model is asked, what it may answer, and what may be guessed beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.request import Hints
from lookstruct.pipeline.grounding.found import Found, find_all
from lookstruct.pipeline.grounding.holding import hold
from lookstruct.pipeline.grounding.normal_forms import normal_forms
from lookstruct.pipeline.grounding.numbers import Number, plain_number
from lookstruct.pipeline.grounding.offers import PageOffers
from lookstruct.pipeline.hints import make_hints
from lookstruct.pipeline.view import Remark, worth_showing

if TYPE_CHECKING:
    from lookstruct.pipeline.prompt import Prompt, Prompter
    from lookstruct.schemas.document import Document
    from lookstruct.schemas.loader import Schema

_MOMENTS = {"date": ("date",), "date-time": ("date", "datetime"), "datetime": ("date", "datetime"), "time": ("time",)}
"""Of which kinds of moments the normal form helps a field of this format."""
_SEPARATED = re.compile(r"\d[^\d\w]\d")


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
    prompt = prompter.build(document, schema, budget, max_page_tokens, remarks=_remarks(document, schema, found))
    grammar = (
        Grammar.json_schema(schema.grammar_schema)
        if free
        else hold(schema.grammar_schema, PageOffers(document, worth_showing(document), found))
    )
    return Question(prompt, grammar, make_hints(document, prompt.view, schema, found), found)


def _remarks(document: Document, schema: Schema, found: Found) -> list[Remark]:
    """The normal forms of what the schema asks for: a page without date fields needs no ISO dates on it."""
    asked = set(_kinds(schema.grammar_schema))
    moments = {kind for word in asked for kind in _MOMENTS.get(word, ())}
    wanted = replace(
        found,
        moments=tuple(moment for moment in found.moments if moment.kind in moments),
        durations=found.durations if "duration" in asked else (),
        numbers=tuple(n for n in found.numbers if _puzzles(n, document)) if asked & {"number", "integer"} else (),
    )
    return [Remark(span.end, f" ({form})") for span, form in normal_forms(document, wanted, all_readings=True)]


def _kinds(schema: Any) -> Iterator[str]:
    """Every type, format and source that the schema names."""
    if isinstance(schema, Mapping):
        yield from (value for key in ("type", "format", "x-source") if isinstance(value := schema.get(key), str))
    for child in schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list) else ():
        yield from _kinds(child)


def _puzzles(number: Number, document: Document) -> bool:
    """Whether a model might misread it: 1.234,56 and 1 234 do, 1,234.56 and 04229 do not."""
    written = number.span.of(document.text)
    return bool(_SEPARATED.search(written)) and plain_number(number.value) != written.replace(",", "").lstrip("+")
