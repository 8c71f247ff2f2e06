"""Ends what a killed batch leaves of the Ray that it started (`guarded`): some of Ray's helpers outlive the rest of it.

    python -m lookstruct.pipeline.cluster.guard MARK FOLDER

is a process that waits for the end of its input, which comes when the batch ends in whatever way. Then it ends all
processes that were started with MARK in their environment, or write to files in FOLDER, and removes FOLDER. Both, as
those of Ray's processes that change their titles lose their environment by it, and browsers write elsewhere.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

NAME = "LOOKSTRUCT_RAY_MARK"
"""The variable of the environment that holds the mark."""
_WITHIN_S = 10.0
_PAUSE_S = 0.2


@contextmanager
def guarded(folder: str) -> Iterator[None]:
    """What is started inside and still runs at the end of the block, or of this process, is ended then.

    `folder` goes too. Nothing else that should live on may be started inside.
    """
    mark = secrets.token_hex()
    command = [sys.executable, "-m", __name__, mark, folder]
    guard = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)  # Ctrl-C is not for it
    os.environ[NAME] = mark
    try:
        yield
    finally:
        del os.environ[NAME]
        guard.communicate()


def end_marked(mark: str, folder: str, batch: int) -> None:
    """Ends the processes with this mark or with files in `folder`, those too that they start meanwhile.

    Not process `batch`, which may live on and may still have a log open there.
    """
    end = time.monotonic() + _WITHIN_S
    while (marked := list(_marked(mark, os.path.realpath(folder), batch))) and time.monotonic() < end:
        for process in marked:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(marked, timeout=_PAUSE_S)


def _marked(mark: str, folder: str, batch: int) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            is_ours = process.environ().get(NAME) == mark or _has_files_in(process, folder)
            if is_ours and process.pid != batch and process.status() != psutil.STATUS_ZOMBIE:
                yield process


def _has_files_in(process: psutil.Process, folder: str) -> bool:
    return any(Path(file.path).is_relative_to(folder) for file in process.open_files())


def main() -> None:
    """Wait, end, remove."""
    mark, folder = sys.argv[1:]
    batch = os.getppid()
    sys.stdin.read()
    end_marked(mark, folder, batch)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
