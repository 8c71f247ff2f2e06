"""Tiny random models and a tokenizer trained here: every family in milliseconds, no download."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedModel, PreTrainedTokenizerFast

CORPUS = """
{"name": "Anvil", "price": 129.5, "tags": ["black", "blue"], "date": "2024-08-21", "total": 1200.00, "ok": true, "none": null}
{"lines": [{"description": "Steel bolt M8", "quantity": 12, "unit_price": 0.35}, {"description": "Nut", "quantity": 4}]}
Invoice number INV-2024-0017, issued on 21 August 2024 by Harrow & Finch Ltd. Total due: 1,234.56 EUR.
The quick brown fox jumps over the lazy dog while the invoice waits for its payment on the kitchen table.
Straße, café, naïve, 東京の天気, 価格は千円です, مرحبا بالعالم, emoji 🙂🚀.
"""  # noqa: E501

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


@cache
def tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level BPE of about 500 tokens, its special tokens last but present."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(CORPUS.splitlines() * 4, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>")


WIDTH = 520
COMMON: dict[str, Any] = {
    "vocab_size": WIDTH,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
    "eos_token_id": 2,
    "bos_token_id": 0,
    "pad_token_id": 0,
}
NEOX: dict[str, Any] = {k: v for k, v in COMMON.items() if k != "num_key_value_heads"}

CONFIGS: dict[str, Any] = {
    "llama": lambda: transformers.LlamaConfig(**COMMON),
    "qwen2": lambda: transformers.Qwen2Config(**COMMON),
    "qwen3": lambda: transformers.Qwen3Config(**COMMON, head_dim=12),
    "mistral_window": lambda: transformers.MistralConfig(**COMMON, sliding_window=24),
    "gemma2": lambda: transformers.Gemma2Config(**COMMON, head_dim=12, sliding_window=24, query_pre_attn_scalar=12),
    "gemma3": lambda: transformers.Gemma3TextConfig(
        **{**COMMON, "num_hidden_layers": 3},
        head_dim=12,
        sliding_window=24,
        query_pre_attn_scalar=12,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    ),
    "phi3": lambda: transformers.Phi3Config(**COMMON),
    "gpt2": lambda: transformers.GPT2Config(
        vocab_size=WIDTH, n_embd=48, n_layer=2, n_head=4, n_positions=2048, eos_token_id=2, bos_token_id=0
    ),
    "gpt_neox": lambda: transformers.GPTNeoXConfig(**NEOX),
    "mixtral": lambda: transformers.MixtralConfig(**COMMON, num_local_experts=4, num_experts_per_tok=2),
    "cohere": lambda: transformers.CohereConfig(**COMMON, logit_scale=0.25),
}

CANNOT_DRAFT: dict[str, Any] = {
    "bloom": lambda: transformers.BloomConfig(vocab_size=WIDTH, hidden_size=48, n_layer=2, n_head=4, eos_token_id=2),
    "mamba": lambda: transformers.MambaConfig(
        vocab_size=WIDTH, hidden_size=48, num_hidden_layers=2, state_size=8, eos_token_id=2
    ),
}
"""Families whose drafts cannot be verified: alibi positions, recurrent state."""


@cache
def model(family: str, seed: int = 0, dtype: torch.dtype = torch.float64) -> PreTrainedModel:
    """A random model of `family`; weights are scaled up so that its argmax depends on more than the last token."""
    torch.manual_seed(seed)
    config = (CONFIGS | CANNOT_DRAFT)[family]()
    config._experts_implementation = "eager"  # the grouped kernel has no float64
    made = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.dim() > 1:
                parameter.mul_(4.0)
    return made.to(dtype).eval()
