"""How much memory is free, and a clear refusal before the work instead of a killed process in the middle of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from lookstruct.schemas.errors import OutOfMemory

if TYPE_CHECKING:
    import torch

_CGROUP = Path("/sys/fs/cgroup")


def free_bytes(device: torch.device | str = "cpu") -> int:
    """Bytes that can be had on `device`; on the CPU what the system and the container's limit both leave."""
    import torch

    device = torch.device(device)
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    available = int(psutil.virtual_memory().available)
    limit = _container_free(_CGROUP)
    return available if limit is None else min(available, limit)


def _container_free(cgroup: Path) -> int | None:
    """What a control group (version 2) still grants, file cache that can be dropped counted as free."""
    try:
        limit = (cgroup / "memory.max").read_text().strip()
        current = int((cgroup / "memory.current").read_text())
        stat = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return None  # no control group, or not ours to read
    if limit == "max":
        return None
    return max(0, int(limit) - current + int(stat.get("inactive_file", 0)))


SMALLER_MODEL = "choose a smaller model, a smaller --dtype or another --device"


def require_memory(needed_bytes: int, device: torch.device | str, doing: str, instead: str = SMALLER_MODEL) -> None:
    """Raises OutOfMemory when `doing` ("Loading org/model") needs more than is free on `device`.

    `instead` is what to do about it.
    """
    free = free_bytes(device)
    if needed_bytes > free:
        raise OutOfMemory(
            f"{doing} needs {needed_bytes / 1e9:.1f} GB of memory on {device} and {free / 1e9:.1f} GB are free: "
            f"{instead}."
        )
