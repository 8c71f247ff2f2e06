"""Which process works on a run, in a text that another process can ask about: "host:pid:start time"."""

from __future__ import annotations

import os
import socket
from functools import cache

import psutil


@cache
def _name_of(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{psutil.Process(pid).create_time():.2f}"


def own_name() -> str:
    """This process."""
    return _name_of(os.getpid())


def is_alive(owner: str) -> bool:
    """Whether the process still runs; one on another machine cannot be seen from here and counts as alive.

    >>> is_alive(own_name())
    True
    """
    host, pid, started = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return True
    try:
        process = psutil.Process(int(pid))
        return abs(process.create_time() - float(started)) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
