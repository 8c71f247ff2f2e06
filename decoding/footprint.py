"""A model and a request -> the memory that decoding it takes, so that too long a page is refused before the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig

WIDTHS = 8
"""Rows as wide as a hidden state that a layer holds at once, about: residual, query, key, value and their copies."""


def kv_bytes_per_token(config: PreTrainedConfig, dtype: torch.dtype) -> int:
    """Bytes of keys and values that one token adds over all layers; an estimate from above for unusual attention."""
    text: Any = config.get_text_config(decoder=True)
    heads = int(getattr(text, "num_attention_heads", 1) or 1)
    kv_heads = int(getattr(text, "num_key_value_heads", None) or heads)
    head_dim = int(getattr(text, "head_dim", None) or text.hidden_size // heads)
    return 2 * int(text.num_hidden_layers) * kv_heads * head_dim * dtype.itemsize


def activation_bytes(config: PreTrainedConfig, dtype: torch.dtype, rows: int, keys: int) -> int:
    """Bytes that a forward of `rows` rows over `keys` keys holds at once: one layer's rows, masks and products."""
    text: Any = config.get_text_config(decoder=True)
    inner = int(getattr(text, "intermediate_size", None) or 4 * text.hidden_size)
    return rows * dtype.itemsize * (WIDTHS * int(text.hidden_size) + 3 * inner + 2 * keys)


def request_bytes(config: PreTrainedConfig, dtype: torch.dtype, tokens: int, rows: int) -> int:
    """Bytes for a text of `tokens` tokens, prompt and answer together, evaluated `rows` rows at a time."""
    return tokens * kv_bytes_per_token(config, dtype) + activation_bytes(config, dtype, min(rows, tokens), tokens)
