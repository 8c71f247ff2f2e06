"""Whatever ends a fetch, no process and no file stays behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from processes import chromiums, chromiums_besides, kill, survivors
from site_fixtures import Site, site

from lookstruct.extractors import Fetcher, FetchOptions, Target, browser, find_chromium
from lookstruct.schemas.errors import BrowserUnavailable, FetchTimeout

pytestmark = pytest.mark.browser
__all__ = ["site"]

SCRIPT = """
import asyncio, sys
from lookstruct.extractors import Fetcher
async def main():
    async with Fetcher() as fetcher:
        await fetcher.fetch(sys.argv[1])
        print("warm", flush=True)
        await fetcher.fetch(sys.argv[2])
asyncio.run(main())
"""


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where this process and its browsers put temporary files; short, as Chromium's sockets need it."""
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(folder)


async def test_leaving_stops_the_browser_and_removes_its_files(site: Site, temporary: Path) -> None:
    others = chromiums()
    async with Fetcher() as fetcher:
        await fetcher.fetch(site.url("/inner.html"))
        running = chromiums_besides(others)
        assert running
        assert list(temporary.iterdir()) != []
    assert await survivors(running) == []
    assert list(temporary.iterdir()) == []


async def test_cancelling_stops_the_browser_and_removes_its_files(site: Site, temporary: Path) -> None:
    async def work() -> None:
        async with Fetcher() as fetcher:
            await fetcher.fetch(site.url("/slow"))

    others = chromiums()
    task = asyncio.create_task(work())
    while not chromiums_besides(others):
        await asyncio.sleep(0.1)
    await asyncio.sleep(0.5)
    running = chromiums_besides(others)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await survivors(running) == []
    assert list(temporary.iterdir()) == []


async def test_an_error_in_the_block_stops_the_browser(site: Site, temporary: Path) -> None:
    others, running = chromiums(), set[psutil.Process]()

    async def work() -> None:
        async with Fetcher() as fetcher:
            await fetcher.fetch(site.url("/inner.html"))
            running.update(chromiums_besides(others))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await work()
    assert running
    assert await survivors(running) == []
    assert list(temporary.iterdir()) == []


async def test_a_cancelled_fetch_leaves_the_browser_to_the_others(site: Site) -> None:
    async with Fetcher() as fetcher:
        await fetcher.fetch(site.url("/inner.html"))
        slow = asyncio.create_task(fetcher.fetch(site.url("/slow")))
        await asyncio.sleep(0.5)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        assert (await fetcher.fetch(site.url("/inner.html"))).status == 200


async def test_a_browser_that_died_is_replaced(site: Site) -> None:
    others = chromiums()
    async with Fetcher() as fetcher:
        await fetcher.fetch(site.url("/inner.html"))
        killed = chromiums_besides(others)
        kill(killed)
        assert await survivors(killed) == []
        await asyncio.sleep(0.5)
        assert (await fetcher.fetch(site.url("/inner.html"))).status == 200


async def test_timeouts_leave_no_tabs_behind(site: Site) -> None:
    others = chromiums()
    async with Fetcher() as fetcher:
        await fetcher.fetch(site.url("/inner.html"))
        before = len(chromiums_besides(others))
        for path in ("/slow", "/drip", "/hung.html"):
            with pytest.raises(FetchTimeout):
                await fetcher.fetch(site.url(path), FetchOptions(timeout_s=1, retries=0))
        await fetcher.fetch(site.url("/inner.html"))
        await asyncio.sleep(1)
        assert len(chromiums_besides(others)) <= before + 1


@pytest.mark.parametrize("whom", ["process", "group"])
async def test_ctrl_c_leaves_nothing(site: Site, temporary: Path, whom: str) -> None:
    await interrupted(site, temporary, lambda pid: (os.kill if whom == "process" else os.killpg)(pid, signal.SIGINT))


async def test_a_killed_process_takes_its_browser_along(site: Site, temporary: Path) -> None:
    process = start(site, temporary)
    running = chromiums(process.pid)
    process.kill()
    process.wait(20)
    assert await survivors(running) == []


def start(site: Site, temporary: Path) -> subprocess.Popen[str]:
    """A process of its own group whose browser is warm and which waits for a page."""
    command = [sys.executable, "-c", SCRIPT, site.url("/inner.html"), site.url("/slow")]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "warm\n"
    return process


async def interrupted(site: Site, temporary: Path, send: Callable[[int], None]) -> None:
    process = start(site, temporary)
    running = chromiums(process.pid)
    assert running
    send(process.pid)
    assert process.wait(20) != 0
    assert await survivors(running) == []
    assert list(temporary.iterdir()) == []


async def test_a_long_path_for_temporary_files_does_not_stop_chromium(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    monkeypatch.setattr(tempfile, "tempdir", None)
    async with Fetcher() as fetcher:
        assert (await fetcher.fetch(site.url("/inner.html"))).status == 200
    assert list(long.iterdir()) == []


def test_a_fetcher_serves_one_event_loop_after_another(site: Site) -> None:
    async def once() -> int:
        async with Fetcher() as fetcher:
            return (await fetcher.fetch(site.url("/inner.html"))).status

    assert [asyncio.run(once()), asyncio.run(once())] == [200, 200]


async def test_static_input_starts_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(browser.ENV_CHROMIUM, "/no/such/chromium")
    async with Fetcher() as fetcher:
        assert (await fetcher.fetch(Target.html("<p>x"))).html == "<p>x"
        with pytest.raises(BrowserUnavailable, match="/no/such/chromium"):
            await fetcher.fetch("http://127.0.0.1:1/")


async def test_a_program_that_is_no_chromium_is_reported(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    monkeypatch.setenv(browser.ENV_CHROMIUM, "/bin/false")
    with pytest.raises(BrowserUnavailable, match="/bin/false would not start"):
        async with Fetcher() as fetcher:
            await fetcher.fetch("http://127.0.0.1:1/")
    assert list(temporary.iterdir()) == []


def test_a_chromium_is_found_on_this_machine() -> None:
    assert find_chromium().origin in ("system", browser.ENV_CHROMIUM)
