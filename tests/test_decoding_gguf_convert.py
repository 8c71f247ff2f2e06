"""decoding/gguf_convert.py: exact values, all end tokens, clear refusals."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from tiny_gguf import ENDOFTEXT, IM_END, IM_START, write_gguf

from lookstruct.decoding import gguf_convert, memory
from lookstruct.decoding.gguf_convert import convert, count_parameters, require_gguf
from lookstruct.schemas.errors import ModelError, ModelNotFound, ModelUnsupported, OutOfMemory


def test_conversion_keeps_every_value_and_names_every_end(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tensors = write_gguf(tmp_path / "tiny.gguf")
    out = tmp_path / "out"
    out.mkdir()
    convert(tmp_path / "tiny.gguf", out, ("<|im_start|>",))

    saved = safetensors.numpy.load_file(out / "model.safetensors")
    assert len(saved) == len(tensors)
    np.testing.assert_array_equal(saved["lm_head.weight"], tensors["output.weight"])
    np.testing.assert_array_equal(saved["model.layers.0.mlp.down_proj.weight"], tensors["blk.0.ffn_down.weight"])
    assert {array.dtype for array in saved.values()} == {np.dtype("float32")}
    assert count_parameters(tmp_path / "tiny.gguf") == sum(tensor.size for tensor in tensors.values())

    generation = json.loads((out / "generation_config.json").read_text())
    assert generation["eos_token_id"] == [ENDOFTEXT, IM_END, IM_START]
    assert "quantization_config" not in json.loads((out / "config.json").read_text())
    assert json.loads((out / "tokenizer_config.json").read_text())["model_max_length"] == 128
    assert capfd.readouterr() == ("", "")


def test_an_unknown_architecture_is_refused_by_name(tmp_path: Path) -> None:
    write_gguf(tmp_path / "odd.gguf", architecture="notaknownone")
    with pytest.raises(ModelUnsupported, match="notaknownone"):
        convert(tmp_path / "odd.gguf", tmp_path)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.gguf").write_text("<html>not found</html>")
    with pytest.raises(ModelNotFound, match="not a GGUF file"):
        require_gguf(tmp_path / "page.gguf")


def test_missing_packages_are_named_with_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "accelerate" else object())
    with pytest.raises(ModelError, match=r"the package accelerate: pip install 'lookstruct\[gguf\]'"):
        convert(tmp_path / "tiny.gguf", tmp_path)


def test_too_little_memory_is_said_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_gguf(tmp_path / "tiny.gguf")
    monkeypatch.setattr(memory, "free_bytes", lambda _device: 10**9)
    monkeypatch.setattr(gguf_convert, "_read", lambda _gguf: pytest.fail("read nevertheless"))
    with pytest.raises(OutOfMemory, match=r"Converting tiny.gguf needs 1\.3 GB of memory on cpu and 1\.0 GB are free"):
        convert(tmp_path / "tiny.gguf", tmp_path)
