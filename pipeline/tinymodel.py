"""A tiny random model and a tokenizer of single bytes, made here: to try the decoder without a download."""

from __future__ import annotations

from typing import Any

END = "<end>"


def tiny_tokenizer() -> Any:
    """One token a byte, and one that ends a text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    make: Any = PreTrainedTokenizerFast
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[]))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    return make(tokenizer_object=raw, eos_token=END)


def tiny_model() -> Any:
    """A two-layer Llama with random weights, the same ones each time."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=260,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=None,
        eos_token_id=256,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model: Any = LlamaForCausalLM(config)
    return model.eval()
