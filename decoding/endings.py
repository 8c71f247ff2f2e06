"""A model and its tokenizer -> every token id that ends a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_MARK = "Qzx"
"""An answer that no chat template contains."""


def end_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, extra: Iterable[int] = ()) -> tuple[int, ...]:
    """All ids that generation and model configuration, tokenizer and chat template name as an end, in that order."""
    generation = getattr(model, "generation_config", None)
    text_config = model.config.get_text_config()
    named = (
        *_as_ids(getattr(generation, "eos_token_id", None)),
        *_as_ids(getattr(model.config, "eos_token_id", None)),
        *_as_ids(getattr(text_config, "eos_token_id", None)),
        *_as_ids(tokenizer.eos_token_id),
        *turn_end_ids(tokenizer),
        *extra,
    )
    return tuple(dict.fromkeys(named))


def turn_end_ids(tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """The control token that the chat template writes after an answer, if there is a template and it writes one.

    Llama 3's `<|eot_id|>` and Gemma's `<end_of_turn>` end a turn, and `eos_token` is often something else.
    """
    tail = _after_answer(tokenizer)
    if not tail:
        return ()
    special = {token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special}
    ids = tokenizer.encode(tail.lstrip(), add_special_tokens=False)
    return (ids[0],) if ids and ids[0] in special else ()


def _after_answer(tokenizer: PreTrainedTokenizerBase) -> str:
    """What the chat template appends to an assistant's answer."""
    if not tokenizer.chat_template:
        return ""
    from jinja2.exceptions import TemplateError

    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": _MARK}]
    try:
        text = str(tokenizer.apply_chat_template(turns, tokenize=False))
    except (TemplateError, ValueError, TypeError, KeyError):
        return ""  # a template that wants other turns: the named ids have to do
    return text.rpartition(_MARK)[2]


def _as_ids(value: Any) -> tuple[int, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else tuple(value)
