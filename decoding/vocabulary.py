"""A tokenizer as the decoder needs it: text or bytes -> token ids, in context; token id -> its exact bytes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import llguidance.hf
from tokenizers import Tokenizer

from lookstruct.schemas.errors import ModelUnsupported

if TYPE_CHECKING:
    from llguidance import LLTokenizer
    from transformers import PreTrainedTokenizerBase

CONTEXT_TOKENS = 4
"""How many tokens before a draft are re-encoded with it, so that merges across the seam come out as they would."""


class Vocabulary:
    """Token ids and bytes of one tokenizer, padded to the model's `width` (rows of its output matrix).

    Text that spells a control token (`<|im_end|>`) is encoded as ordinary text, never as that token.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, width: int, eos_ids: Sequence[int]) -> None:
        backend: Any = getattr(tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise ModelUnsupported(
                f"{type(tokenizer).__name__} has no fast tokenizer; constrained decoding needs one: "
                "load the tokenizer with use_fast=True or convert it to tokenizer.json."
            )
        _require_known(tokenizer, eos_ids)
        self.width = width
        self.eos_ids = tuple(dict.fromkeys(eos_ids))
        self.tokenizer = tokenizer
        self._encoder = Tokenizer.from_str(backend.to_str())
        self._encoder.encode_special_tokens = True
        self._encoder.no_padding()
        self._encoder.no_truncation()
        self._continue = lru_cache(maxsize=4096)(self._continue_uncached)

    @cached_property
    def ll(self) -> LLTokenizer:
        """The grammar engine's view of this tokenizer (about a second to build, once)."""
        eos = list(self.eos_ids) or None
        return llguidance.hf.from_tokenizer(self.tokenizer, n_vocab=self.width, eos_token=eos)  # type: ignore[arg-type]

    @cached_property
    def token_bytes(self) -> list[bytes]:
        """The bytes of every id; control tokens and padding rows are empty: they are never text."""
        ll = self.ll
        special = {*self.eos_ids, *_special_ids(self.tokenizer)}
        known = len(self.tokenizer)
        return [
            b"" if i in special or i >= known or ll.is_special_token(i) else ll.decode_bytes([i])
            for i in range(self.width)
        ]

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """Bytes -> token id (the lowest, where two ids have the same bytes)."""
        table: dict[bytes, int] = {}
        for token_id, piece in enumerate(self.token_bytes):
            if piece:
                table.setdefault(piece, token_id)
        return table

    @cached_property
    def max_token_bytes(self) -> int:
        """The length of the longest token, at most 32: longer ones are runs of spaces that no draft needs."""
        return min(32, max(map(len, self.ids), default=1))

    def encode(self, text: str) -> list[int]:
        """Ids of `text` alone: no special token is added, and none is recognised."""
        return list(self._encoder.encode(text, add_special_tokens=False).ids)

    def decode(self, token_ids: Sequence[int]) -> bytes:
        """The exact bytes of `token_ids`, control tokens left out."""
        table = self.token_bytes
        return b"".join(table[i] for i in token_ids)

    def continuation(self, recent: Sequence[int], text: bytes) -> tuple[int, ...]:
        """Ids for `text` when it follows the tokens `recent`, as the tokenizer would cut it there.

        The last few tokens are encoded together with the text; where the cut runs through the seam (the tokenizer
        would merge across it), fewer of them are tried, and at last the text alone.
        """
        return self._continue(tuple(recent[-CONTEXT_TOKENS:]), text)

    def _continue_uncached(self, recent: tuple[int, ...], text: bytes) -> tuple[int, ...]:
        for n in (len(recent), 1, 0):
            if n > len(recent):
                continue
            seam = recent[len(recent) - n :]
            try:
                whole = (self.decode(seam) + text).decode()
            except UnicodeDecodeError:
                continue
            found = self.encode(whole)
            if tuple(found[:n]) == seam:
                return tuple(found[n:])
        return tuple(self.ll.tokenize_bytes(text))


def _require_known(tokenizer: PreTrainedTokenizerBase, eos_ids: Sequence[int]) -> None:
    """Raises ModelUnsupported for an end token that the tokenizer does not have."""
    known = len(tokenizer)
    if all(0 <= i < known for i in eos_ids):
        return
    known = 1 + max(tokenizer.get_vocab().values(), default=-1)  # ids may have gaps
    if unknown := [i for i in eos_ids if not 0 <= i < known]:
        raise ModelUnsupported(
            f"The model ends its texts with token {unknown[0]}, and the tokenizer's last one is {known - 1}: "
            "load the tokenizer that belongs to the model, or correct eos_token_id in its generation_config.json."
        )


def _special_ids(tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """Ids of the tokens that mean something other than text."""
    listed: Any = getattr(tokenizer, "all_special_ids", [])
    added: Any = getattr(tokenizer, "added_tokens_decoder", {})
    return {*listed, *(i for i, token in added.items() if token.special)}
