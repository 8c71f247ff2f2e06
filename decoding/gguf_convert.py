"""A .gguf file -> a transformers folder: float32 safetensors with exactly the dequantised values, and the tokenizer.

float32, since half precision would round: a Q5_0 weight is a half-precision scale times an integer.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from lookstruct.decoding.endings import end_ids
from lookstruct.decoding.memory import require_memory
from lookstruct.decoding.quiet import quiet_transformers
from lookstruct.schemas.errors import ModelError, ModelNotFound, ModelUnsupported

MAGIC = b"GGUF"


def require_gguf(path: Path) -> None:
    """Raises ModelNotFound unless `path` begins like a GGUF file."""
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise ModelNotFound(f"{path} is not a GGUF file: it does not begin with 'GGUF'; download it again.")


def convert(gguf: Path, folder: Path, end_tokens: Sequence[str] = ()) -> None:
    """Writes the model of `gguf` into `folder`; takes about a minute for half a billion parameters.

    `end_tokens` are tokens that end a text besides those that file and chat template name. Raises ModelUnsupported for
    an architecture that transformers cannot read, ModelError where the packages for GGUF are missing.
    """
    _require_packages()
    require_memory(peak_bytes(count_parameters(gguf)), "cpu", f"Converting {gguf.name}")
    with quiet_transformers():
        model, tokenizer = _read(gguf)
        tokenizer.model_max_length = model.config.max_position_embeddings
        extra = [tokenizer.convert_tokens_to_ids(token) for token in end_tokens]
        model.generation_config.eos_token_id = list(end_ids(model, tokenizer, extra))
        _unmark_quantised(model)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def peak_bytes(n_parameters: int) -> int:
    """The most memory that a conversion takes: the float32 weights, and a margin as measured on two models."""
    return int(1.1 * 4 * n_parameters) + 1_300_000_000


def count_parameters(gguf: Path) -> int:
    """How many weights the file holds."""
    _require_packages()
    from gguf import GGUFReader

    return sum(int(tensor.n_elements) for tensor in GGUFReader(gguf).tensors)


def _require_packages() -> None:
    missing = [name for name in ("gguf", "accelerate") if importlib.util.find_spec(name) is None]
    if missing:
        raise ModelError(
            f"Reading a GGUF model needs the package{'s' * (len(missing) > 1)} {' and '.join(missing)}: "
            "pip install 'lookstruct[gguf]'."
        )


def _read(gguf: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    try:
        with redirect_stderr(StringIO()):  # a bar that transformers does not switch off
            tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), **where)
            model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), dtype=torch.float32, **where)
    except (ValueError, KeyError, NotImplementedError) as exc:
        raise ModelUnsupported(
            f"transformers cannot read {gguf.name} ({exc}): use a GGUF of another architecture, or the model's "
            "safetensors folder."
        ) from exc
    return model, tokenizer


def _unmark_quantised(model: Any) -> None:
    """The weights are plain float32 now; `save_pretrained` refuses while the model says it came from GGUF."""
    if hasattr(model.config, "quantization_config"):
        delattr(model.config, "quantization_config")
    model.hf_quantizer = None
