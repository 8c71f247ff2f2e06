"""Batches that are killed, and go on: every page is in the output exactly once."""

import csv
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import batch_stub
import pytest
import sqlalchemy as sa

from lookstruct.pipeline.storage.database import open_database

STUB = Path(batch_stub.__file__)
PATIENCE_S = 600


class Runs:
    """Starts batches in a folder, with a ledger there."""

    def __init__(self, folder: Path, to: str, n_pages: int, ledger: str | None = None, *more: str) -> None:
        self.folder, self.to, self.more = folder, to, more
        self.ledger = ledger or f"sqlite:///{folder}/ledger.db"
        folder.mkdir(exist_ok=True)
        self.beats = folder / "beats"
        self.beats.touch()
        (folder / "pages").mkdir()
        paths = batch_stub.write_pages(folder / "pages", n_pages)
        (folder / "list.txt").write_text("\n".join(paths))

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """A batch in a process of its own; it goes on with the last one if there is one."""
        new = ["list.txt", "--schema", batch_stub.SCHEMA, "--to", self.to, *self.more]
        old = ["--resume", "last", *arguments]
        what = old if self.has_run() else new
        environment = {
            **os.environ,
            "LOOKSTRUCT_STUB_S": "0.01",
            "LOOKSTRUCT_STUB_BEATS": str(self.beats),
            "LOOKSTRUCT_STUB_TORN": "1",
        }
        return subprocess.Popen(
            [sys.executable, str(STUB), "batch", *what, "--ledger", self.ledger],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def has_run(self) -> bool:
        """Whether a run was begun."""
        engine = open_database(self.ledger)
        try:
            with engine.begin() as connection:
                return bool(connection.scalar(sa.text("SELECT count(*) FROM batch_runs")))
        except sa.exc.SQLAlchemyError:
            return False
        finally:
            engine.dispose()

    def wait_for(self, n_beats: int, process: "subprocess.Popen[bytes]") -> None:
        """Waits until so many pages more have begun, or the process has ended."""
        wanted, end = self.beats.stat().st_size + n_beats, time.monotonic() + PATIENCE_S
        while self.beats.stat().st_size < wanted and process.poll() is None:
            assert time.monotonic() < end, "the batch does not go on"
            time.sleep(0.002)

    def finish(self) -> None:
        """Lets the batch run to its end."""
        _, err = self.start().communicate(timeout=PATIENCE_S)
        assert b"0 left" in err, err.decode()


def kill_often(runs: Runs, n_kills: int, chance: random.Random) -> int:
    """Kills a batch `n_kills` times, at its start or some pages later; how often it was still running."""
    n_killed = 0
    for _ in range(n_kills):
        process = runs.start()
        if chance.random() < 0.8:
            runs.wait_for(chance.randint(2, 6), process)
            time.sleep(chance.uniform(0, 0.04))
        else:
            time.sleep(chance.uniform(0, 1.0))
        process.kill()
        process.communicate()
        n_killed += process.returncode == -signal.SIGKILL
    return n_killed


def read_jsonl(to: str) -> list[Any]:
    return [json.loads(line) for line in Path(to).read_text().splitlines()]


def read_csv(to: str) -> list[Any]:
    with open(to, newline="") as file:
        return [{"name": row["name"], "price": float(row["price"])} for row in csv.DictReader(file)]


def read_database(to: str) -> list[Any]:
    engine = open_database(to)
    with engine.begin() as connection:
        found = connection.execute(sa.text("SELECT name, price FROM record"))
        rows = [{"name": row.name, "price": row.price} for row in found]
    engine.dispose()
    return rows


READERS: dict[str, Callable[[str], list[Any]]] = {
    "jsonl": read_jsonl,
    "csv": read_csv,
    "sqlite": read_database,
    "postgresql": read_database,
}


def runs_into(kind: str, tmp_path: Path, request: pytest.FixtureRequest, n_pages: int) -> Runs:
    if kind == "postgresql":
        url = str(request.getfixturevalue("postgres_url"))
        return Runs(tmp_path, url, n_pages, ledger=url)
    to = f"sqlite:///{tmp_path}/out.db" if kind == "sqlite" else str(tmp_path / f"out.{kind}")
    return Runs(tmp_path, to, n_pages)


def check_kills(kind: str, n_kills: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    n_pages = 12 * n_kills
    runs = runs_into(kind, tmp_path, request, n_pages)
    assert kill_often(runs, n_kills, random.Random(f"{kind} {n_kills}")) == n_kills
    runs.finish()
    found = READERS[kind](runs.to)
    assert sorted(found, key=lambda row: row["price"]) == [batch_stub.record_of(number) for number in range(n_pages)]


@pytest.mark.parametrize("kind", ["jsonl", "sqlite", "postgresql"])
def test_a_batch_that_is_killed_again_and_again_gives_every_page_once(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    check_kills(kind, 3, tmp_path, request)


def test_a_batch_on_two_devices_that_is_killed_again_and_again_gives_every_page_once(tmp_path: Path) -> None:
    runs = Runs(tmp_path, str(tmp_path / "out.jsonl"), 30, None, "--devices", "cpu,cpu")
    assert kill_often(runs, 2, random.Random("devices")) == 2
    runs.finish()
    assert sorted(row["price"] for row in read_jsonl(runs.to)) == [number + 0.5 for number in range(30)]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", list(READERS))
def test_a_batch_that_is_killed_twenty_times_gives_every_page_once(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    check_kills(kind, 20, tmp_path, request)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_batch_that_is_interrupted_says_how_to_go_on(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    runs = Runs(tmp_path, str(tmp_path / "out.jsonl"), 60)
    process = runs.start()
    runs.wait_for(3, process)
    process.send_signal(sent)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code
    assert b"Go on with: extract batch --resume" in err
    assert b"Traceback" not in err
    states = sqlite3.connect(tmp_path / "ledger.db").execute("SELECT state, owner FROM batch_runs").fetchall()
    assert states == [("stopped", None)]
    runs.finish()
    assert sorted(row["price"] for row in read_jsonl(runs.to)) == [number + 0.5 for number in range(60)]


def test_a_run_belongs_to_one_process_at_a_time(tmp_path: Path) -> None:
    runs = Runs(tmp_path, str(tmp_path / "out.jsonl"), 200)
    first = runs.start()
    runs.wait_for(2, first)
    second = runs.start()
    _, err = second.communicate(timeout=PATIENCE_S)
    assert (second.returncode, first.poll()) == (2, None)
    assert b"is being worked on" in err
    first.kill()
    first.communicate()


def test_two_batches_share_a_ledger_and_a_file(tmp_path: Path) -> None:
    both = [Runs(tmp_path / name, str(tmp_path / "out.jsonl"), 25) for name in ("a", "b")]
    ledger = f"sqlite:///{tmp_path}/ledger.db"
    for runs in both:
        runs.ledger = ledger
    processes = [runs.start() for runs in both]
    for process in processes:
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, err.decode()
    prices = sorted(row["price"] for row in read_jsonl(both[0].to))
    assert prices == sorted([number + 0.5 for number in range(25)] * 2)
