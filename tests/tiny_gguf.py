"""A complete GGUF model of 24 kB: one random Qwen2 layer and a byte tokenizer with a chat template."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFWriter
from tokenizers.pre_tokenizers import ByteLevel

WIDTH, KV_WIDTH, FF_WIDTH = 8, 4, 16
ENDOFTEXT, IM_START, IM_END = 258, 259, 260
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
TOKENS = [*sorted(ByteLevel.alphabet()), "he", "ll", "<|endoftext|>", "<|im_start|>", "<|im_end|>"]

SHAPES = {
    "token_embd.weight": (len(TOKENS), WIDTH),
    "output.weight": (len(TOKENS), WIDTH),
    "output_norm.weight": (WIDTH,),
    "blk.0.attn_norm.weight": (WIDTH,),
    "blk.0.attn_q.weight": (WIDTH, WIDTH),
    "blk.0.attn_q.bias": (WIDTH,),
    "blk.0.attn_k.weight": (KV_WIDTH, WIDTH),
    "blk.0.attn_k.bias": (KV_WIDTH,),
    "blk.0.attn_v.weight": (KV_WIDTH, WIDTH),
    "blk.0.attn_v.bias": (KV_WIDTH,),
    "blk.0.attn_output.weight": (WIDTH, WIDTH),
    "blk.0.ffn_norm.weight": (WIDTH,),
    "blk.0.ffn_gate.weight": (FF_WIDTH, WIDTH),
    "blk.0.ffn_up.weight": (FF_WIDTH, WIDTH),
    "blk.0.ffn_down.weight": (WIDTH, FF_WIDTH),
}


def write_gguf(path: Path, *, architecture: str = "qwen2") -> dict[str, np.ndarray]:
    """Writes the model and returns its tensors by their GGUF names; `eos` is named as `<|endoftext|>` only."""
    writer = GGUFWriter(path, architecture)
    _describe(writer)
    generator = np.random.default_rng(0)
    tensors = {name: generator.standard_normal(shape, dtype=np.float32) for name, shape in SHAPES.items()}
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tensors


def _describe(writer: GGUFWriter) -> None:
    writer.add_name("Tiny")
    writer.add_block_count(1)
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(FF_WIDTH)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(TOKENS)
    writer.add_token_types([1] * ENDOFTEXT + [3] * 3)
    writer.add_token_merges(["h e", "l l"])
    writer.add_bos_token_id(ENDOFTEXT)
    writer.add_eos_token_id(ENDOFTEXT)
    writer.add_pad_token_id(ENDOFTEXT)
    writer.add_chat_template(TEMPLATE)
