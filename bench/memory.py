"""The peak memory of this process, reset at will: what the system counts, so tensors and everything else are in it."""

from __future__ import annotations

from pathlib import Path

_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_PEAK = "VmHWM"


def reset_peak() -> None:
    """Let the peak begin at what is used now; without Linux's /proc nothing happens."""
    if _CLEAR.exists():
        _CLEAR.write_text("5", encoding="ascii")


def peak_bytes() -> int:
    """The most resident memory since `reset_peak`; 0 where it cannot be known."""
    if not _STATUS.exists():
        return 0
    line = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith(_PEAK))
    return int(line.split()[1]) * 1024
