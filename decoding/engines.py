"""A model -> the engine that decodes for it, built at its first use and kept as long as the model itself.

An engine takes about a second to build (the grammar engine's view of the tokenizer) and keeps prompts' KV for the next
call, so callers who come back with the same model should find it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lookstruct.decoding.endings import end_ids
from lookstruct.decoding.engine import Engine

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ATTRIBUTE = "_lookstruct_engines"
KEPT = 4
"""Engines of one model at most: one for each tokenizer and set of end tokens that it is used with."""


def engine_for(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, eos_ids: Sequence[int] | None = None
) -> Engine:
    """The engine of `model` with `tokenizer`; `eos_ids` end a text (None: all that model and tokenizer name)."""
    ends = end_ids(model, tokenizer) if eos_ids is None else tuple(eos_ids)
    engines = _engines_of(model)
    key = (id(tokenizer), ends, model.device, model.dtype)
    engine = engines.pop(key, None)
    if engine is None or engine.runner.model is not model:
        engine = Engine(model, tokenizer, eos_ids=ends)
    engines[key] = engine
    while len(engines) > KEPT:
        del engines[next(iter(engines))]
    return engine


class Engines(dict[Any, Engine]):
    """The engines of one model, the last used last. They hang on the model, so that they die with it and not later.

    A copied, pickled or unpickled model starts without any.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> Engines:
        return Engines()

    def __reduce__(self) -> tuple[Any, ...]:
        return Engines, ()


def _engines_of(model: Any) -> Engines:
    engines = model.__dict__.get(ATTRIBUTE)
    if not isinstance(engines, Engines):
        engines = model.__dict__[ATTRIBUTE] = Engines()
    return engines
