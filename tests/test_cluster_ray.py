"""A batch on Ray, which is started here with two workers: the same as on one machine, whatever dies in between."""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from openai_stub import Reply, Stub, refused, said
from processes import descendants, lives, name_of

from lookstruct import cli

pytest.importorskip("ray", reason="ray is not installed: pip install 'lookstruct[ray]'")
PAGE = "<title>Shop</title><main><h1>Lamp {n}</h1><p>Price: {n}.50 EUR</main>"
REFUSED, N_PAGES = 7, 10
SCHEMA = '''
import os
import signal
from pathlib import Path

from pydantic import BaseModel, model_validator


class Product(BaseModel):
    """Ends the process that makes one of these, as often as the file of its name says."""

    name: str
    price: float

    @model_validator(mode="after")
    def _die(self):
        left = Path(__file__).with_name(f"deaths {self.name}")
        if left.exists() and int(left.read_text()) > 0:
            left.write_text(str(int(left.read_text()) - 1))
            os.kill(os.getpid(), signal.SIGKILL)
        return self
'''


class Shop:
    """A folder with pages, a schema and a list, and a server that has the model. The first two answers of a run wait
    for each other where `together` says so: two workers ask at once, or none goes on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.together: threading.Barrier | None = None
        self.refuses = True
        self.wait_at = -1
        self.waits, self.goes_on = threading.Event(), threading.Event()
        self.server = Stub(self._reply)
        self._n_asked = 0
        (folder / "lookstruct.toml").write_text("[fetch]\nrender = false\n")
        (folder / "shop.py").write_text(SCHEMA)
        for n in range(N_PAGES):
            (folder / f"{n}.html").write_text(PAGE.format(n=n))
        (folder / "urls.txt").write_text("".join(f"{folder / f'{n}.html'}\n" for n in range(N_PAGES)))

    def _reply(self, body: dict[str, Any]) -> Reply:
        number = re.findall(r"Lamp (\d+)", body["messages"][0]["content"])[0]
        self._n_asked += 1
        if self.together is not None and self._n_asked <= 2:
            self.together.wait()
        if int(number) == self.wait_at:
            self.waits.set()
            self.goes_on.wait(900)
        if int(number) == REFUSED and self.refuses:
            return refused(400, "this one is poisoned")
        return said(json.dumps({"name": f"Lamp {number}", "price": float(number) + 0.5}))

    def dies(self, number: int, times: int) -> None:
        """The next so many processes that read this page end."""
        (self.folder / f"deaths Lamp {number}").write_text(str(times))

    def args(self, name: str, *more: str) -> list[str]:
        """A new batch into files of this name."""
        args = ["batch", str(self.folder / "urls.txt"), "--schema", f"{self.folder / 'shop.py'}:Product", "--evidence"]
        args += ["--engine", "openai", "--model", "big", "--base-url", self.server.url, "--requests", "1"]
        return [*args, "--to", str(self.folder / f"{name}.jsonl"), "--memory", "off", *self.where(name), *more]

    def where(self, name: str) -> list[str]:
        """The settings and the ledger of this name."""
        return ["--config", str(self.folder / "lookstruct.toml"), "--ledger", f"sqlite:///{self.folder / name}.db"]

    def lines(self, name: str) -> dict[str, Any]:
        """Data and evidence by the page's address; fails if a page is there twice."""
        lines = [json.loads(line) for line in (self.folder / f"{name}.jsonl").read_text().splitlines()]
        found = {line["meta"]["url"]: (line["data"], line["evidence"]) for line in lines}
        assert len(found) == len(lines), "a page came twice"
        return found


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.server.close()


@pytest.fixture(autouse=True)
def no_process_stays() -> Iterator[None]:
    before = descendants()
    yield
    assert left_of(lambda: descendants() - before) == set()


def left_of(look: Callable[[], Iterable[psutil.Process]]) -> set[str]:
    """The names of the processes that still live after a minute."""
    end = time.monotonic() + 60
    while (left := {process for process in look() if lives(process)}) and time.monotonic() < end:
        time.sleep(0.1)
    return {name_of(process) for process in left}


def on_ray(args: list[str], code: int) -> str:
    """Runs a command line that starts Ray, and returns what it said; skips the test on a machine too busy for Ray."""
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        found = cli.run(args)
    skip_where_ray_did_not_start(err.getvalue())
    assert found == code, err.getvalue()
    return err.getvalue()


def skip_where_ray_did_not_start(told: str) -> None:
    """Skips the test where Ray's own time for starting was over; any other fault is one."""
    if "timed out during startup" in told:
        pytest.skip("this machine is too busy to start Ray in Ray's own time")


ON_RAY = ("--ray", "local", "--models", "2", "--concurrency", "2")


@pytest.mark.timeout(900)
def test_ray_gives_the_same_data_and_evidence_as_one_machine_though_a_worker_is_killed(shop: Shop) -> None:
    assert cli.run(shop.args("alone")) == 1
    shop.dies(3, 1)
    shop.together, shop._n_asked = threading.Barrier(2, timeout=600), 0
    on_ray(shop.args("spread", *ON_RAY), 1)
    assert (shop.folder / "deaths Lamp 3").read_text() == "0"
    assert shop.lines("spread") == shop.lines("alone")
    assert len(shop.lines("spread")) == N_PAGES - 1  # the refused page failed, alone
    shop.refuses = False
    assert cli.run(["batch", "--resume", "last", "--retry-failed", "--ray", "off", *shop.where("spread")]) == 0
    assert len(shop.lines("spread")) == N_PAGES


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_page_that_kills_every_worker_fails_alone_and_the_others_are_there_once(shop: Shop) -> None:
    shop.refuses = False
    shop.dies(4, 1000)
    err = on_ray(shop.args("spread", *ON_RAY), 1)
    assert f"pages    {N_PAGES - 1} done, 1 failed, 0 left" in err
    assert "The process ended 5 times while this page was read" in err
    assert (shop.folder / "deaths Lamp 4").read_text() == "995"
    shop.dies(4, 0)
    on_ray(["batch", "--resume", "last", "--retry-failed", *shop.where("spread")], 0)
    assert len(shop.lines("spread")) == N_PAGES


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_batch_on_ray_that_is_ended_leaves_no_process_and_goes_on(shop: Shop, sent: signal.Signals) -> None:
    shop.refuses = False
    on_ray(shop.args("alone"), 0)
    shop.wait_at = 4
    command = [sys.executable, "-m", "lookstruct", *shop.args("spread", *ON_RAY)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        while not shop.waits.wait(1):
            if process.poll() is not None:
                told = process.communicate()[1].decode()
                skip_where_ray_did_not_start(told)
                pytest.fail(f"the batch ended before its page was asked for: {told}")
        family = descendants(process.pid)
        process.send_signal(sent)
        shop.goes_on.set()
        _, err = process.communicate(timeout=900)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}[sent], err.decode()
    assert len(family) > 5  # Ray's own and three workers
    assert left_of(lambda: family) == set()
    assert len(shop.lines("spread")) < N_PAGES
    on_ray(["batch", "--resume", "last", "--ray", "off", *shop.where("spread")], 0)
    assert shop.lines("spread") == shop.lines("alone")


def test_a_ray_that_is_not_there_is_found_out_before_any_work(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: Any) -> None:
        raise ConnectionError("ray client connection timeout")

    monkeypatch.setattr("ray.init", fail)
    assert cli.run(shop.args("spread", "--ray", "127.0.0.1:1")) == 2
    assert "There is no Ray at 127.0.0.1:1 (ray client connection timeout)" in capsys.readouterr().err
    assert not (shop.folder / "spread.jsonl").exists()


def test_ray_and_devices_exclude_each_other(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(shop.args("spread", "--ray", "local", "--devices", "cpu")) == 2
    assert "Both --ray and --devices were given" in capsys.readouterr().err
