"""Document + Schema -> `Question`: what the model is asked, what it may answer, and what may be guessed beforehand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.request import Hints
from lookstruct.pipeline.grounding.fields import leaves_of
from lookstruct.pipeline.hints import make_hints
from lookstruct.pipeline.holding.grammar import hold
from lookstruct.pipeline.holding.offers import PageOffers, telling_durations
from lookstruct.pipeline.metadata.guess import MetadataGuess, guess_from_metadata
from lookstruct.pipeline.values.found import Found, find_all
from lookstruct.pipeline.values.normal_forms import normal_forms
from lookstruct.pipeline.values.numbers import Number, plain_number
from lookstruct.pipeline.view import Remark, worth_showing

if TYPE_CHECKING:
    from lookstruct.pipeline.prompt import Prompt, Prompter
    from lookstruct.schemas.document import Document
    from lookstruct.schemas.loader import Schema

_MOMENTS = {"date": ("date",), "date-time": ("date", "datetime"), "datetime": ("date", "datetime"), "time": ("time",)}
"""Of which kinds of moments the normal form helps a field of this format."""
_SEPARATED = re.compile(r"\d[^\d\w]\d")


MetadataUse = Literal["trust", "draft", "ignore"]
"""What the page's own metadata is used for: shown to the model and believed, only drafted from, or nothing."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a page before the model reads it: what has a form of its own there, the record that the page's
    metadata gives, and what earlier pages of the site lead one to expect: whole records, and the tokens of theirs."""

    found: Found
    guess: MetadataGuess | None = None
    expected: tuple[Any, ...] = ()
    past: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """Everything the decoder gets for one page, and the facts it was made from."""

    prompt: Prompt
    grammar: Grammar
    hints: Hints
    facts: Facts


def facts_of(document: Document, schema: Schema, metadata: MetadataUse = "draft") -> Facts:
    """Reads a page without a model; linear in its length."""
    found = find_all(document)
    return Facts(found, None if metadata == "ignore" else guess_from_metadata(document, schema, found))


def ask(
    document: Document,
    schema: Schema,
    prompter: Prompter,
    *,
    budget: int,
    max_page_tokens: int = 8192,
    free: bool = False,
    metadata: MetadataUse = "draft",
    facts: Facts | None = None,
) -> Question:
    """The question for one page; `free` lets values be written that the schema would hold to the page.

    `facts` saves reading the page again. ContextOverflow if prompt and schema don't fit into `budget` tokens.
    """
    facts = facts_of(document, schema, metadata) if facts is None else facts
    guess = facts.guess.data if facts.guess is not None else None
    prompt = prompter.build(
        document,
        schema,
        budget,
        max_page_tokens,
        remarks=remarks_for(document, schema, facts.found),
        own_data=own_data(facts, metadata),
    )
    trusted = guess if metadata == "trust" else None
    grammar = Grammar.json_schema(schema.grammar_schema) if free else _held(document, schema, facts, trusted)
    guesses = (*facts.expected, *(() if guess is None else (guess,)))
    hints = make_hints(document, prompt.view, schema, facts.found, guesses, facts.past)
    return Question(prompt, grammar, hints, facts)


def own_data(facts: Facts, metadata: MetadataUse) -> str:
    """What of its metadata the prompt shows with a page, as JSON text; "" unless it is to be believed."""
    shown = metadata == "trust" and facts.guess is not None
    return json.dumps(facts.guess.data, ensure_ascii=False) if shown and facts.guess else ""


def _held(document: Document, schema: Schema, facts: Facts, trusted: Any) -> Grammar:
    """The grammar that holds values to the page, and to data that is trusted besides."""
    also: dict[str, list[Any]] = {}
    for leaf in leaves_of(trusted or {}, schema.grammar_schema):
        also.setdefault(leaf.source or "", []).append(leaf.value)
    return hold(schema.grammar_schema, PageOffers(document, worth_showing(document), facts.found, also))


def remarks_for(document: Document, schema: Schema, found: Found) -> list[Remark]:
    """The normal forms of what the schema asks for: a page without date fields needs no ISO dates on it."""
    asked = set(_kinds(schema.grammar_schema))
    moments = {kind for word in asked for kind in _MOMENTS.get(word, ())}
    wanted = replace(
        found,
        moments=tuple(moment for moment in found.moments if moment.kind in moments),
        durations=telling_durations(document, found.durations) if "duration" in asked else (),
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
