"""Measures a machine's cost curve once per model, device and dtype, and remembers it on disk."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lookstruct.decoding.cache import KVCache
from lookstruct.decoding.cost import POINTS, CostModel, Curve, fastest, measure
from lookstruct.decoding.modelcache import cache_root
from lookstruct.decoding.runner import Rows, Runner

CONTEXT = 512
"""Committed slots behind which the curve is measured: a short page."""
LONG_CONTEXT = 3584
"""Slots added to them to see what a row pays for each."""
MANY = 32
"""Rows with which that is measured: enough to see it."""
FORMAT = 3
"""Changes with what is measured and how, so that no file of another version is read."""


def cost_model(runner: Runner) -> CostModel:
    """The curve of this model on this machine: from disk if it was measured before, else measured in seconds."""
    path = _path(runner)
    known = _load(path)
    if known is not None:
        return replace(known, sizes=runner.row_sizes)
    model = _measure(runner)
    _save(path, model)
    return model


def forget_cost(runner: Runner) -> None:
    """Let the curve be measured again the next time: it no longer fits this machine."""
    with suppress(OSError):
        _path(runner).unlink(missing_ok=True)


def _measure(runner: Runner) -> CostModel:
    cache = runner.new_cache(CONTEXT + LONG_CONTEXT + POINTS[-1])
    runner.prefill(cache, [1])
    short = min(CONTEXT, runner.max_context // 2)
    _lengthen(cache, short - 1)
    hidden = torch.zeros(POINTS[-1], runner.hidden_size, dtype=runner.dtype, device=runner.device)

    def body(n: int) -> None:
        runner.hidden(cache, Rows([1] * n, np.full(n, short, np.int64), np.eye(n, dtype=np.bool_)))
        cache.commit([], [])
        _settle(runner.device)

    def head(n: int) -> None:
        runner.logits(hidden[:n])
        _settle(runner.device)

    body(1)
    head(1)
    measured = measure(body, head)
    n = min(MANY, measured.body.rows[-1])
    before = fastest(body, n)
    _lengthen(cache, LONG_CONTEXT)
    body(n)
    per_key = max(0.0, fastest(body, n) - before) / (n * LONG_CONTEXT)
    return replace(measured, body=measured.body.less(per_key * short), per_key=per_key, sizes=runner.row_sizes)


def _lengthen(cache: KVCache, n: int) -> None:
    """Pretend that `n` more tokens stand in the cache: what they are makes no difference to the time."""
    for layer in cache.buffers:
        some = layer.keys[:, :, :1].expand(-1, -1, n, -1)
        layer.update(some, some)
    cache.token_ids.extend([1] * n)


def _settle(device: torch.device) -> None:
    """Wait for the device, so that the clock sees the work and not its launch."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def _path(runner: Runner) -> Path:
    return cache_root() / "costs" / f"{_key(runner)}.json"


def _key(runner: Runner) -> str:
    """Everything the curve depends on."""
    device = torch.cuda.get_device_name(runner.device) if runner.device.type == "cuda" else str(runner.device)
    config: Any = runner.model.config.get_text_config(decoder=True)
    shape = {k: v for k, v in config.to_dict().items() if isinstance(v, int) and not isinstance(v, bool)}
    facts = [FORMAT, shape, str(runner.dtype), device, torch.get_num_threads(), torch.__version__, runner.linear_mode]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:24]


def _load(path: Path) -> CostModel | None:
    """A curve saved before; None if there is none, or it cannot be read: then it is measured again."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        body, head = (Curve(tuple(data[k]["rows"]), tuple(data[k]["seconds"])) for k in ("body", "head"))
        return CostModel(body, head, float(data["per_key"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(path: Path, model: CostModel) -> None:
    """Whole or not at all; a cache that cannot be written costs a few seconds next time, not the run."""
    curves = {k: {"rows": c.rows, "seconds": c.seconds} for k, c in (("body", model.body), ("head", model.head))}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps({**curves, "per_key": model.per_key}), encoding="utf-8")
        temporary.replace(path)
    except OSError:
        return
