"""Prompt + what the answer must look like -> `Completion`, for any decoder-only transformers model: `decode`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.engines import engine_for
from lookstruct.decoding.grammars import as_grammar
from lookstruct.decoding.request import Completion, Hints, Options, Window
from lookstruct.schemas.errors import UsageError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Prompt = str | Sequence[int] | Sequence[Mapping[str, Any]]
"""Text as the model shall see it, token ids, or the messages of a chat."""
NAMES = tuple(option.name for option in fields(Options))


def decode(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompt: Prompt,
    grammar: Any = None,
    *,
    hints: Hints | None = None,
    on_text: Callable[[str], None] | None = None,
    cancel: Callable[[], bool] = lambda: False,
    **options: Any,
) -> Completion:
    """What `model` writes after `prompt`, held to `grammar`.

    `grammar` is None for free text, a `Grammar` (`Grammar.regex`, `Grammar.lark`), a compiled regular expression, or
    whatever `load_schema` takes: a pydantic model, a JSON Schema, "title, price: float", "Invoice". `options` are
    those of `Options`. Drafts come from the prompt, or from `hints`. Greedy unless `temperature` says otherwise.

    >>> decode(model, tokenizer, "Two primes: ", re.compile("[0-9]+, [0-9]+")).text  # doctest: +SKIP
    '3, 5'
    """
    engine = engine_for(model, tokenizer)
    ids = prompt_ids(tokenizer, prompt)
    held = as_grammar(grammar)
    return engine.generate(
        ids,
        grammar=held,
        hints=hints or hints_from(engine, ids, held),
        options=as_options(options),
        on_text=on_text,
        cancel=cancel,
    )


def prompt_ids(tokenizer: PreTrainedTokenizerBase, prompt: Prompt) -> list[int]:
    """The token ids of a prompt; messages go through the tokenizer's chat template, which opens the answer."""
    if isinstance(prompt, str):
        return list(tokenizer(prompt)["input_ids"])
    items: list[Any] = list(prompt)
    if not items or not isinstance(items[0], Mapping):
        return items
    if not tokenizer.chat_template:
        raise UsageError("The prompt is a chat, and this tokenizer has no chat template; give the prompt as text.")
    templated: Any = tokenizer.apply_chat_template(items, add_generation_prompt=True, return_dict=True)
    return list(templated["input_ids"])


def as_options(given: Mapping[str, Any]) -> Options:
    """The options by name; UsageError for one that there is not."""
    unknown = [name for name in given if name not in NAMES]
    if unknown:
        raise UsageError(f"There is no option {unknown[0]!r}; the known ones are {', '.join(NAMES)}.")
    chosen = dict(given)
    for name in ("stop", "sources"):
        if isinstance(chosen.get(name), str):
            chosen[name] = (chosen[name],)
        elif chosen.get(name) is not None:
            chosen[name] = tuple(chosen[name])
    if isinstance(chosen.get("window"), Sequence):
        chosen["window"] = Window(*chosen["window"])
    return Options(**chosen)


def hints_from(engine: Engine, ids: Sequence[int], grammar: Grammar | None) -> Hints:
    """Guess from the prompt's own text, and from the schema where there is one."""
    text = engine.vocabulary.decode(ids).decode("utf-8", "replace")
    schema = json.loads(grammar.source) if grammar is not None and grammar.kind == "json" else None
    return Hints(page=text, schema=schema)
