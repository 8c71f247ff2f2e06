"""An Outlines model that decodes with this engine, and streams.

    generator = outlines.Generator(lookstruct.from_transformers(model, tokenizer), Invoice)
    for piece in generator.stream("Read this invoice: ..."): ...

Outlines knows two kinds of models: those it hands a logits processor, which sees one token at a time, and "black
boxes", which it hands the output type itself. Only the type allows drafting, so this model passes for a black box.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outlines.inputs import Chat
from outlines.models import Dottxt
from outlines.models.base import Model, ModelTypeAdapter
from outlines.types import CFG, JsonSchema
from outlines.types.dsl import Term, python_types_to_terms, to_regex

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.decode import as_options, hints_from, prompt_ids
from lookstruct.decoding.engines import engine_for
from lookstruct.decoding.grammars import json_grammar
from lookstruct.decoding.request import Completion
from lookstruct.schemas.errors import SchemaError, UsageError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class LookaheadModel(Model):
    """A transformers model behind Outlines' interface; made by `from_transformers`.

    Calls take the options of `lookstruct.decode` by name: `max_new_tokens`, `temperature`, `seed`, `stop`, `nodes`, ...
    `completion` tells how the last call went.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self.type_adapter = TypeAdapter(tokenizer)
        self.completion: Completion | None = None
        self._model = model
        self._tokenizer = tokenizer

    def generate(self, model_input: Any, output_type: Any = None, **inference_kwargs: Any) -> str:
        """The text that the model writes, held to `output_type`."""
        return "".join(self.generate_stream(model_input, output_type, **inference_kwargs))

    def generate_batch(self, model_input: list[Any], output_type: Any = None, **inference_kwargs: Any) -> list[str]:
        """The texts for several prompts, one after the other."""
        return [self.generate(prompt, output_type, **inference_kwargs) for prompt in model_input]

    def generate_stream(self, model_input: Any, output_type: Any = None, **inference_kwargs: Any) -> Iterator[str]:
        """The text piece by piece, as soon as it is certain; the pieces together are what `generate` returns."""
        grammar = self.type_adapter.format_output_type(output_type)
        ids = self.type_adapter.format_input(model_input)
        options = as_options(inference_kwargs)
        engine = engine_for(self._model, self._tokenizer)
        pieces: list[str] = []
        hints = hints_from(engine, ids, grammar)
        job = engine.begin(ids, grammar=grammar, hints=hints, options=options, on_text=pieces.append)
        for _ in engine.steps(job):
            yield from pieces
            pieces.clear()
        self.completion = engine.completion(job[0])


Dottxt.register(LookaheadModel)  # a "black box" to Outlines: see the module's docstring


class TypeAdapter(ModelTypeAdapter):
    """Outlines' prompts and output types in this engine's terms."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer

    def format_input(self, model_input: Any) -> list[int]:
        """Token ids; text becomes a user's turn where there is a chat template, as with Outlines' own models."""
        if isinstance(model_input, str):
            turn = [{"role": "user", "content": model_input}]
            return prompt_ids(self._tokenizer, turn if self._tokenizer.chat_template else model_input)
        if isinstance(model_input, Chat):
            return prompt_ids(self._tokenizer, model_input.messages)
        raise UsageError(f"The prompt is a {type(model_input).__name__}; give text or an outlines Chat.")

    def format_output_type(self, output_type: Any = None) -> Grammar | None:
        """The grammar of an output type; SchemaError if Outlines or the grammar engine knows no such type."""
        if output_type is None or isinstance(output_type, Grammar):
            return output_type
        if JsonSchema.is_json_schema(output_type):
            return _json(output_type)
        term = _term(output_type)
        if isinstance(term, CFG):
            return Grammar.lark(term.definition)
        if isinstance(term, JsonSchema):
            return _json(term)
        if _holds_schema(term) and not isinstance(output_type, Term):
            return json_grammar(output_type)
        return Grammar.regex(to_regex(term))


def _term(output_type: Any) -> Term:
    try:
        return python_types_to_terms(output_type)
    except (TypeError, RecursionError) as exc:
        raise SchemaError(f"{output_type!r} is no output type that Outlines knows: {exc}") from exc


def _json(schema: Any) -> Grammar:
    if not isinstance(schema, JsonSchema):
        return json_grammar(schema)
    if schema.whitespace_pattern is not None:
        raise SchemaError("whitespace_pattern cannot be chosen: JSON is written with one blank after ',' and ':'.")
    return json_grammar(json.loads(schema.schema))


def _holds_schema(term: Any) -> bool:
    """Whether a JSON Schema is part of the term, as in list[Invoice]."""
    parts = [*getattr(term, "terms", ()), *([term.term] if hasattr(term, "term") else [])]
    return isinstance(term, JsonSchema) or any(map(_holds_schema, parts))


def from_transformers(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> LookaheadModel:
    """An Outlines model of a transformers model: `outlines.Generator(from_transformers(model, tokenizer), Invoice)`."""
    return LookaheadModel(model, tokenizer)
