"""What a process started ends with it, even where it is killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from processes import descendants, lives, survivors

from lookstruct.pipeline.cluster.guard import guarded

SLEEP = [sys.executable, "-c", "import time; time.sleep(120)"]
BATCH = """
import subprocess, sys, time
from lookstruct.pipeline.cluster.guard import guarded
with guarded(sys.argv[1]):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"], start_new_session=True)
    print(child.pid, flush=True)
    time.sleep(120)
"""


async def test_a_killed_batch_takes_along_what_it_started_and_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "ray"
    folder.mkdir()
    command = [sys.executable, "-c", BATCH, str(folder)]
    batch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert batch.stdout is not None
    batch.stdout.readline()
    family = descendants(batch.pid)
    assert len(family) == 2  # the child and the guard
    batch.kill()
    batch.wait()
    assert await survivors(family, within_s=60) == []
    assert not folder.exists()


def test_a_process_that_lost_its_environment_is_known_by_its_files(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:  # still open here: this process is spared
        with guarded(str(tmp_path)):
            inside = subprocess.Popen(SLEEP, stdout=log, env={})
        assert inside.wait(20) != 0


def test_what_was_started_inside_ends_with_the_block_and_nothing_else_does(tmp_path: Path) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def fail() -> None:
        with guarded(str(tmp_path)):
            started.append(subprocess.Popen(SLEEP))
            raise ZeroDivisionError

    outside = subprocess.Popen(SLEEP)
    with pytest.raises(ZeroDivisionError):
        fail()
    assert started[0].wait(20) != 0
    assert lives(psutil.Process(outside.pid))
    outside.kill()
    outside.wait()
