"""The command as its own process: interrupted and terminated in the middle of its work."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from processes import chromiums, descendants

pytestmark = [pytest.mark.browser, pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")]


@pytest.fixture
def silent_server() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    held.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        for connection in held:
            connection.close()


@pytest.mark.parametrize(
    ("sent", "to_group", "code"),
    [
        (signal.SIGINT, True, 130),
        (signal.SIGINT, False, 130),
        (signal.SIGTERM, False, 143),
        (signal.SIGHUP, False, 143),
    ],
)
def test_a_signal_while_fetching_ends_the_browser_and_removes_its_files(
    silent_server: str, tmp_path: Path, sent: signal.Signals, to_group: bool, code: int
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "lookstruct", silent_server, "--schema", "Invoice"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        start_new_session=True,
    )
    try:
        end = time.monotonic() + 30
        while not chromiums(process.pid) and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(1)  # now it waits for the answer
        started = descendants(process.pid)
        assert len(started) >= 2
        if to_group:  # as a terminal does
            os.killpg(process.pid, sent)
        else:
            process.send_signal(sent)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (code, b"")
        assert b"Traceback" not in err
        assert psutil.wait_procs(started, timeout=5)[1] == []
        assert os.listdir(tmp_path) == []
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
