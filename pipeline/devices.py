"""What --device and --devices say -> one device for each model (`devices_of`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lookstruct.schemas.errors import ModelError, UsageError

if TYPE_CHECKING:
    from lookstruct.pipeline.settings import Settings

ALL = "all"
"""Stands for every GPU of this machine."""


def devices_of(settings: Settings) -> Sequence[str]:
    """The devices that hold a model each, at least one; UsageError for a list that cannot be.

    A device may be named again: `cpu,cpu` is two models.
    """
    wanted = settings.batch.devices
    if not wanted:
        return (settings.model.device,)
    if settings.model.device != "auto":
        raise UsageError(f"Both --device and --devices {','.join(wanted)} were given; give one of them.")
    return _gpus() if wanted == (ALL,) else [_checked(device) for device in wanted]


def on_device(settings: Settings, device: str) -> Settings:
    """The settings of the model on one device."""
    return settings.model_copy(update={"model": settings.model.model_copy(update={"device": device})})


def _checked(device: str) -> str:
    """The device, if it is there: each of many pages would fail for it."""
    if device == "cpu":
        return device
    import torch

    from lookstruct.decoding.loading import choose_device

    try:
        chosen = choose_device(device)
    except ModelError as exc:
        raise UsageError(str(exc)) from exc
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise UsageError(f"There is no {device}: torch sees {torch.cuda.device_count()} GPUs, counted from 0.")
    return device


def _gpus() -> Sequence[str]:
    import torch

    n_gpus = torch.cuda.device_count()
    if n_gpus == 0:
        raise UsageError("--devices all means every GPU, and torch sees none; name devices, such as --devices cpu.")
    return [f"cuda:{number}" for number in range(n_gpus)]
