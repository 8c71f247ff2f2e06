"""The soak in short: every fault once; all pages are read or reported, and nothing stays behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.browser
@pytest.mark.slow
def test_every_page_is_read_or_reported_and_nothing_stays_behind() -> None:
    root = Path(__file__).parent.parent
    command = [sys.executable, "-m", "bench.soak", "--pages", "100"]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=1200, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
