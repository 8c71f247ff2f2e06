"""The processes of a browser end, also those that outlive its first one."""

from __future__ import annotations

import subprocess
import sys

import psutil
from processes import survivors

from lookstruct.extractors.processes import Family, family_of

PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


async def test_processes_that_outlive_their_browser_are_ended() -> None:
    head = subprocess.Popen([sys.executable, "-c", PARENT, "--lookstruct-run=test"], stdout=subprocess.PIPE, text=True)
    assert head.stdout is not None
    child = psutil.Process(int(head.stdout.readline()))
    family = family_of("--lookstruct-run=test")
    members = family.members()
    head.kill()
    head.wait()
    assert child in members
    assert family.members() == []
    family.kill(members)
    assert await survivors(members) == []


def test_a_browser_that_was_never_found_has_no_processes() -> None:
    family = family_of("--lookstruct-run=never")
    family.kill()
    assert family == Family(None)
    assert family.members() == []
