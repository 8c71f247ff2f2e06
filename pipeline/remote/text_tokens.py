"""A tokenizer for a model whose own is not here: every number stands for up to three characters, about a token's worth.

So prompts are built, measured and cut as for a local model, and turned back into text before they are sent.

>>> text_of(TextTokens()("Hello")["input_ids"])
'Hello'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

CHARS = 3
_BITS = 21  # of a code point and one, so that no character is 0


class TextTokens:
    """What the pipeline asks of a tokenizer; the server adds the chat template and knows its own control tokens."""

    chat_template = None
    bos_token_id = None
    all_special_tokens: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.added_tokens_decoder: dict[int, Any] = {}

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        """The numbers of `text`, as tokenizers give them."""
        return {"input_ids": [_packed(text[at : at + CHARS]) for at in range(0, len(text), CHARS)]}

    def get_vocab(self) -> dict[str, int]:
        """None of its own."""
        return {}


def text_of(ids: Sequence[int]) -> str:
    """The text that numbers stand for."""
    return "".join(map(_unpacked, ids))


def _packed(piece: str) -> int:
    return sum((ord(one) + 1) << (_BITS * place) for place, one in enumerate(piece))


def _unpacked(number: int) -> str:
    found = []
    while number:
        found.append(chr((number & ((1 << _BITS) - 1)) - 1))
        number >>= _BITS
    return "".join(found)
