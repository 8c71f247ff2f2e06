"""Measures a machine's cost curve once per model, device and dtype, and remembers it on disk."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import torch

from lookstruct.decoding.cache import KVCache
from lookstruct.decoding.cost import CostModel, Curve, measure
from lookstruct.decoding.runner import Rows, Runner

CONTEXT = 512
"""Committed slots behind which the curve is measured: a short page."""


def cost_model(runner: Runner, *, remember: bool = True) -> CostModel:
    """The curve of this model on this machine: from disk if it was measured before, else measured in seconds."""
    path = _folder() / f"{_key(runner)}.json"
    known = _load(path) if remember else None
    if known is not None:
        return known
    model = _measure(runner)
    if remember:
        _save(path, model)
    return model


def _measure(runner: Runner) -> CostModel:
    cache = KVCache(CONTEXT + 256)
    runner.prefill(cache, [1 + i % 50 for i in range(min(CONTEXT, runner.max_context // 2))])
    hidden_size = runner.hidden_size
    hidden = torch.zeros(128, hidden_size, dtype=runner.dtype, device=runner.device)

    def body(n: int) -> None:
        positions = np.full(n, cache.length, np.int64)
        runner.hidden(cache, Rows([1] * n, positions, np.eye(n, dtype=np.bool_)))
        cache.commit([], [])
        _settle(runner.device)

    def head(n: int) -> None:
        runner.logits(hidden[:n])
        _settle(runner.device)

    body(1)
    head(1)
    return measure(body, head)


def _settle(device: torch.device) -> None:
    """Wait for the device, so that the clock sees the work and not its launch."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def _folder() -> Path:
    root = os.environ.get("LOOKSTRUCT_CACHE") or platformdirs.user_cache_dir("lookstruct", appauthor=False)
    return Path(root).expanduser() / "costs"


def _key(runner: Runner) -> str:
    """Everything the curve depends on."""
    device = torch.cuda.get_device_name(runner.device) if runner.device.type == "cuda" else str(runner.device)
    config: Any = runner.model.config.get_text_config(decoder=True)
    shape = {k: v for k, v in config.to_dict().items() if isinstance(v, int) and not isinstance(v, bool)}
    facts = [shape, str(runner.dtype), device, torch.get_num_threads(), torch.__version__, runner.linear_mode]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:24]


def _load(path: Path) -> CostModel | None:
    """A curve saved before; None if there is none, or it cannot be read: then it is measured again."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        body, head = (Curve(tuple(data[k]["rows"]), tuple(data[k]["seconds"])) for k in ("body", "head"))
        return CostModel(body, head, block=int(data["block"]), measured=True)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(path: Path, model: CostModel) -> None:
    """Whole or not at all; a cache that cannot be written costs a few seconds next time, not the run."""
    curves = {k: {"rows": c.rows, "seconds": c.seconds} for k, c in (("body", model.body), ("head", model.head))}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps({**curves, "block": model.block}), encoding="utf-8")
        temporary.replace(path)
    except OSError:
        return
