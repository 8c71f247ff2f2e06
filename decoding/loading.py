"""A model's name -> a model and tokenizer ready to decode with (`LoadedModel`), or one sentence that says why not.

    bundled, bundled:0.5b, bundled:1.5b    installed with the package's extras (bundled.py)
    path/to/folder                         a transformers model on this disk
    path/to/file.gguf                      converted once into the cache, found again by its sha256
    org/name                               a hub id; fetched and cached by transformers

torch and transformers are imported when a model is loaded: `extract --help` does not wait for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookstruct.decoding import bundled
from lookstruct.decoding.endings import end_ids
from lookstruct.decoding.memory import require_memory
from lookstruct.decoding.modelcache import Notify, build_once, file_sha256, models_folder, require_disk, to_stderr
from lookstruct.decoding.quiet import quiet_transformers
from lookstruct.schemas.errors import ModelError, ModelNotFound, ModelUnsupported

if TYPE_CHECKING:
    import torch
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

TWO_WAYS = "pip install 'lookstruct[bundled-model]', or name one with --model <hub id or folder>"
DTYPES = ("float32", "bfloat16", "float16", "float64")
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A frozen model in evaluation mode on `device`, with every id that ends a text.

    `name` is the spec in full ("bundled:0.5b"); `notes` tell what was chosen otherwise than asked.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    device: torch.device
    dtype: torch.dtype
    eos_ids: tuple[int, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A bundled model as `extract models list` shows it: `folder` is None until it is converted."""

    spec: str
    title: str
    licence: str
    n_parameters: int
    extra: str
    installed: bool
    folder: Path | None


def list_models() -> tuple[ModelInfo, ...]:
    """The bundled models, the default one first."""
    return tuple(
        ModelInfo(
            spec=f"bundled:{model.name}",
            title=model.title,
            licence=model.licence,
            n_parameters=model.n_parameters,
            extra=model.extra,
            installed=bundled.is_installed(model),
            folder=bundled.prepared(model),
        )
        for model in bundled.BUNDLED.values()
    )


def prepare(spec: str = "bundled", *, thorough: bool = True, notify: Notify = to_stderr) -> Path | str:
    """Does once what loading `spec` needs first, and returns what transformers then loads: a folder or a hub id.

    A bundled or GGUF model is converted; one that was is read in full (`thorough`) and rebuilt if a byte changed.
    """
    if spec == "bundled" or spec.startswith("bundled:"):
        model = bundled.bundled_model(spec.partition(":")[2] or bundled.DEFAULT)
        return bundled.prepare_bundled(model, thorough=thorough, notify=notify)
    path = Path(spec).expanduser()
    if path.is_dir():
        return _model_folder(path)
    if path.suffix == ".gguf":
        return _converted(path, thorough, notify)
    if path.is_file():
        raise ModelNotFound(f"{spec} is neither a .gguf file nor a folder with a model.")
    if not _HUB_ID.fullmatch(spec) or spec.startswith("."):
        raise ModelNotFound(f"There is no folder or file {spec}, and it is no hub id: {TWO_WAYS}.")
    return spec


def load_model(
    spec: str = "bundled",
    *,
    device: str = "auto",
    dtype: str = "auto",
    attn_implementation: str | None = None,
    trust_remote_code: bool = False,
    notify: Notify = to_stderr,
) -> LoadedModel:
    """Loads `spec` (see the module) onto `device`, in seconds once it is prepared.

    `device` "auto" takes cuda, else mps, else cpu; `dtype` "auto" is bfloat16 on cuda and float32 elsewhere.
    Raises ModelNotFound, ModelUnsupported (not a decoder-only model, or its code is not trusted) and OutOfMemory
    (before loading, when the weights cannot fit).
    """
    chosen_device = choose_device(device)
    chosen_dtype = choose_dtype(dtype, chosen_device)
    source = prepare(spec, thorough=False, notify=notify)
    options = {"trust_remote_code": trust_remote_code}
    with quiet_transformers(bars=isinstance(source, str)):
        config = _read(spec, lambda auto: auto.AutoConfig.from_pretrained(source, **options))
        attention, notes = choose_attention(config, attn_implementation)
        _require_fit(spec, config, chosen_dtype, chosen_device, trust_remote_code)
        tokenizer = _read(spec, lambda auto: auto.AutoTokenizer.from_pretrained(source, **options))
        load = partial(_load_weights, source, config, chosen_dtype, attention, options)
        model = _read(spec, load).to(chosen_device).eval().requires_grad_(False)
    return LoadedModel(
        model=model,
        tokenizer=tokenizer,
        name=f"bundled:{bundled.DEFAULT}" if spec == "bundled" else spec,
        device=chosen_device,
        dtype=model.dtype,
        eos_ids=end_ids(model, tokenizer),
        notes=notes,
    )


def choose_device(name: str) -> torch.device:
    """A torch device by name; "auto" takes the first that is there of cuda, mps and cpu."""
    import torch

    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, there in present.items() if there))
    kind = name.partition(":")[0]
    if kind not in present:
        raise ModelError(f"There is no device {name!r}: choose one of auto, {', '.join(present)}.")
    if not present[kind]:
        raise ModelError(f"torch sees no {kind} device on this machine: use auto or cpu.")
    return torch.device(name)


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """A torch dtype by name; "auto" is bfloat16 on cuda and float32 elsewhere."""
    import torch

    if name == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    if name not in DTYPES:
        raise ModelError(f"There is no dtype {name!r} here: choose one of auto, {', '.join(DTYPES)}.")
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype


def choose_attention(config: PretrainedConfig, asked: str | None) -> tuple[str | None, tuple[str, ...]]:
    """The attention implementation to load with (None: the model's own default) and notes on what was changed.

    FlashAttention takes any mask for padding, so a draft tree would be read wrong; sdpa knows no soft cap.
    """
    wanted = asked or getattr(config, "_attn_implementation", None) or ""
    if getattr(config.get_text_config(), "attn_logit_softcapping", None) and wanted in ("", "sdpa"):
        return "eager", (("sdpa cannot cap attention logits as this model asks: eager is used.",) if asked else ())
    if "flash" in wanted:
        return "sdpa", (f"{wanted} ignores the mask of a draft tree: sdpa is used.",)
    return asked, ()


def _model_folder(path: Path) -> Path:
    if not (path / "config.json").is_file():
        raise ModelNotFound(f"The folder {path} holds no config.json, so no transformers model: {TWO_WAYS}.")
    return path


def _converted(gguf: Path, thorough: bool, notify: Notify) -> Path:
    """The cached conversion of a .gguf file, made if need be."""
    from lookstruct.decoding.gguf_convert import convert, count_parameters, require_gguf

    if not gguf.is_file():
        raise ModelNotFound(f"There is no file {gguf}: {TWO_WAYS}.")
    require_gguf(gguf)

    def build(folder: Path) -> None:
        require_disk(folder, 4 * count_parameters(gguf))
        notify(f"Converting {gguf.name} once into {models_folder()}; this takes a few minutes.")
        convert(gguf.resolve(), folder)
        notify(f"{gguf.name} is ready.")

    return build_once(f"gguf-{file_sha256(gguf)[:24]}", build, thorough=thorough, notify=notify)


def _read(spec: str, load: Callable[[Any], Any]) -> Any:
    """Calls `load` with transformers; what it raises becomes a sentence about `spec`."""
    import transformers
    from safetensors import SafetensorError

    try:
        return load(transformers)
    except SafetensorError as exc:
        raise ModelNotFound(f"The weights of {spec} are damaged ({exc}): fetch the model again.") from exc
    except OSError as exc:
        raise ModelNotFound(
            f"{spec} could not be had, neither from this disk nor from the hub (is its name right, is the machine "
            f"online?): {TWO_WAYS}."
        ) from exc
    except (ValueError, ImportError) as exc:
        if "trust_remote_code" in str(exc):
            raise ModelUnsupported(
                f"{spec} brings code of its own, which is not run unasked: read it, then set trust_remote_code."
            ) from exc
        raise ModelUnsupported(f"transformers cannot load {spec}: {_first_line(exc)}") from exc


def _first_line(exc: Exception) -> str:
    return next((line for line in str(exc).splitlines() if line.strip()), type(exc).__name__)


def _load_weights(
    source: Path | str,
    config: PretrainedConfig,
    dtype: torch.dtype,
    attention: str | None,
    options: dict[str, bool],
    auto: Any,
) -> Any:
    return auto.AutoModelForCausalLM.from_pretrained(
        source, config=config, dtype=dtype, attn_implementation=attention, **options
    )


def _require_fit(spec: str, config: PretrainedConfig, dtype: torch.dtype, device: torch.device, trust: bool) -> None:
    """Refuses what is not a decoder-only model, and weights larger than the free memory."""
    if config.is_encoder_decoder:
        raise ModelUnsupported(f"{spec} is an encoder-decoder model; a decoder-only (causal) one is needed.")
    if getattr(config, "quantization_config", None) is not None:
        return  # its size in memory is the quantiser's business
    n_parameters = _read(spec, lambda auto: _count_parameters(auto, config, trust))
    require_memory(n_parameters * dtype.itemsize, device, f"Loading {spec}")


def _count_parameters(auto: Any, config: PretrainedConfig, trust: bool) -> int:
    """Builds the model without memory and counts; tied weights count once."""
    import torch

    with torch.device("meta"):
        model = auto.AutoModelForCausalLM.from_config(config, trust_remote_code=trust)
    return sum(parameter.numel() for parameter in model.parameters())
