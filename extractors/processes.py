"""The processes of one browser, found by a mark on its command line: what they hold, and their end."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

_END_S = 5.0
_PROFILE = "--user-data-dir="


@dataclass(frozen=True, slots=True)
class Family:
    """A browser's first process and, when asked, all below it; empty if it was never found.

    `profile` is the folder that the browser was given for its files.
    """

    head: psutil.Process | None
    profile: Path | None = None

    def members(self) -> list[psutil.Process]:
        """All that live now."""
        if self.head is None:
            return []
        try:
            return [self.head, *self.head.children(recursive=True)] if self.head.is_running() else []
        except psutil.NoSuchProcess:
            return []

    def memory(self) -> int:
        """Bytes that they hold, what they share left out."""
        return sum(own_bytes(process) for process in self.members())

    def pages(self) -> list[psutil.Process]:
        """Those that show pages and frames."""
        return [process for process in self.members() if _is_page(process)]

    def largest_page(self) -> psutil.Process | None:
        """The page process that holds most."""
        return max(self.pages(), key=own_bytes, default=None)

    def kill(self, known: Iterable[psutil.Process] = ()) -> None:
        """End them all, at once, and wait for it; with them `known`, which may have outlived the first process."""
        members = {*self.members(), *known}
        for process in members:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(members, timeout=_END_S)

    def clean_up(self) -> None:
        """Remove the profile, where whoever made it did not."""
        if self.profile is not None:
            shutil.rmtree(self.profile, ignore_errors=True)


def family_of(mark: str) -> Family:
    """The browser below this process that was started with `mark` among its arguments."""
    head = next(_marked(mark), None)
    return Family(head, _profile(head) if head else None)


def _profile(head: psutil.Process) -> Path | None:
    try:
        command = head.cmdline()
    except psutil.Error:
        return None
    given = (part.removeprefix(_PROFILE) for part in command if part.startswith(_PROFILE))
    return next((Path(folder) for folder in given), None)


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            command = process.cmdline()
            if mark in command and not any(part.startswith("--type=") for part in command):
                yield process


def own_bytes(process: psutil.Process) -> int:
    """What a process holds, what it shares left out; 0 for one that is gone."""
    try:
        memory = process.memory_info()
    except psutil.Error:
        return 0
    return int(memory.rss - getattr(memory, "shared", 0))


def _is_page(process: psutil.Process) -> bool:
    try:
        return "--type=renderer" in process.cmdline()
    except psutil.Error:
        return False
