"""Processes below a test, looked at and ended in whatever moment they are: a process may be gone at any time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress

import psutil


def descendants(of: int | None = None, name: str = "") -> set[psutil.Process]:
    """The living processes below `of` (this process unless told) whose name holds `name`; none if `of` is gone.

    >>> descendants(name="no such program")
    set()
    """
    try:
        below = psutil.Process(of).children(recursive=True)
    except psutil.NoSuchProcess:
        return set()
    return {process for process in below if lives(process) and name in name_of(process)}


def chromiums(of: int | None = None) -> set[psutil.Process]:
    """The Chromium processes below `of`."""
    return descendants(of, "chrom")


def chromiums_besides(others: set[psutil.Process]) -> set[psutil.Process]:
    """Those of browsers that are not among `others`: a browser that was there before may start processes meanwhile."""
    return {process for process in chromiums() - others if others.isdisjoint(parents(process))}


def parents(process: psutil.Process) -> list[psutil.Process]:
    """Those above it; none once it is gone."""
    try:
        return process.parents()
    except psutil.NoSuchProcess:
        return []


def name_of(process: psutil.Process) -> str:
    """The program's name in lower case; empty once it is gone."""
    try:
        return process.name().lower()
    except psutil.NoSuchProcess:
        return ""


def lives(process: psutil.Process) -> bool:
    """Whether it still runs: a zombie does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill(processes: Iterable[psutil.Process]) -> None:
    """End them at once; those that ended by themselves are fine."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


async def survivors(processes: Iterable[psutil.Process], within_s: float = 10) -> list[str]:
    """Those that have not ended in time, each in words."""
    left = set(processes)
    until = time.monotonic() + within_s
    while (left := {process for process in left if lives(process)}) and time.monotonic() < until:
        await asyncio.sleep(0.05)
    return [told for process in left if (told := in_words(process))]


def in_words(process: psutil.Process) -> str:
    """What it is and does, for a test's message; empty once it is gone."""
    try:
        return f"{process.pid} below {process.ppid()}, {process.status()}: {' '.join(process.cmdline()[-8:])}"
    except psutil.NoSuchProcess:
        return ""
