"""`extract login URL` with a window that a person could see, on a virtual screen."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import chromiums
from site_fixtures import Site, site

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("Xvfb") is None, reason="there is no Xvfb (Debian: xvfb) to show a window on"),
]
__all__ = ["site"]

FORM = """<p>x<script>
localStorage.setItem("kept", "yes")
document.cookie = "who=ann; path=/"
fetch("/inner.html?logged-in")
</script>"""
_PATIENCE_S = 120


@pytest.fixture
def screen() -> Iterator[str]:
    """A virtual screen's name."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as told:
        number = told.readline().strip()
    if not number:
        pytest.skip("Xvfb does not start here")
    yield f":{number}"
    server.terminate()
    server.wait()


def until(is_so: Callable[[], bool]) -> None:
    """Wait until it is so."""
    end = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.1)


def test_a_login_in_a_window_is_kept(site: Site, screen: str, tmp_path: Path) -> None:
    kept = tmp_path / "state.json"
    keyboard, terminal = pty.openpty()
    command = [str(Path(sys.executable).with_name("extract")), "login", site.page(FORM)]
    process = subprocess.Popen(
        [*command, "--storage-state", str(kept)],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "DISPLAY": screen},
    )
    try:
        until(lambda: "/inner.html?logged-in" in site.requests or process.poll() is not None)
        browsers = [one.cmdline() for one in chromiums(process.pid)]
        os.write(keyboard, b"\n")
        said, _ = process.communicate(timeout=_PATIENCE_S)
    finally:
        process.kill()
        os.close(keyboard)
        os.close(terminal)
    assert (process.returncode, "1 cookies are kept in" in said) == (0, True), said
    assert any("--type=renderer" in " ".join(line) for line in browsers)
    assert not any("--headless" in " ".join(line) for line in browsers)
    state = json.loads(kept.read_text())
    assert [(cookie["name"], cookie["value"]) for cookie in state["cookies"]] == [("who", "ann")]
    assert state["origins"][0]["localStorage"] == [{"name": "kept", "value": "yes"}]
