"""How much memory may still be taken: what the machine has free, or the control group that this process is held to.

In a container the machine's figures are those of its host: the limit that ends a browser is the group's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil

_GROUPS = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_NO_LIMIT = 1 << 60


def free_bytes(groups: Path = _GROUPS, own: Path = _OWN) -> int:
    """Bytes that this process and those it starts may still take; Linux tells of groups in `groups` and `own`."""
    rooms = [_room(folder) for folder in _folders(groups, own)]
    return max(min([int(psutil.virtual_memory().available), *(room for room in rooms if room is not None)]), 0)


def _folders(groups: Path, own: Path) -> Iterator[Path]:
    """Every group whose memory this process counts in: its own, and those around it."""
    try:
        lines = own.read_text().splitlines()
    except OSError:  # no Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):  # of version 2, where one group has all, and of version 1
            folder = groups / controllers
            yield folder
            for name in Path(path.lstrip("/")).parts:
                folder = folder / name
                yield folder


def _room(folder: Path) -> int | None:
    """What a group has left, its file cache counted as free; None for one without a limit."""
    limit = _number(folder / "memory.max") or _number(folder / "memory.limit_in_bytes")
    used = _number(folder / "memory.current") or _number(folder / "memory.usage_in_bytes")
    if limit is None or used is None or limit >= _NO_LIMIT:
        return None
    return limit - used + _cached(folder)


def _cached(folder: Path) -> int:
    try:
        pairs = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(pairs.get("total_inactive_file") or pairs.get("inactive_file") or 0)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # not there, or "max"
        return None
