"""Workers that are killed at any moment: every record is delivered once, by whoever is left."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jobs_bench import Pages, job, worker
from postgres_fixtures import Server
from postgres_fixtures import postgres as postgres
from postgres_fixtures import postgres_url as postgres_url

from lookstruct.pipeline.jobs.running import utc_now
from lookstruct.pipeline.jobs.store import JobStore

BENCH = Path(__file__).parent / "jobs_bench.py"
N_JOBS = 8


@pytest.fixture
def start() -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(url: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, str(BENCH), url, "0.05"]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.02)


def all_done(store: JobStore) -> bool:
    return all(row.state.last is not None and row.state.open is None for row in store.all())


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'jobs.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.mark.parametrize("n_kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_workers_deliver_every_record_once(
    url: str, tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]], n_kills: int
):
    out, chance = tmp_path / "x.jsonl", random.Random(n_kills)
    store = JobStore(url)
    for n in range(N_JOBS * max(1, n_kills // 4)):
        page = f"https://shop.example/{n}"
        store.add(job(f"job-{n}", url=page, every="90d", retries=99, to=str(out), evidence=True), utc_now())
    for _ in range(n_kills):
        process = start(url)
        wait_until(lambda: any(row.state.open for row in store.all()) or all_done(store))
        time.sleep(chance.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        process.wait()
    last = [start(url), start(url)]
    wait_until(lambda: all_done(store))
    for process in last:
        process.terminate()
    delivered = [json.loads(line)["meta"]["final_url"] for line in out.read_text().splitlines()]
    assert sorted(delivered) == sorted(f"https://shop.example/{n}" for n in range(len(store.all())))
    assert {store.history(row.job.name)[0].status for row in store.all()} == {"done"}
    store.close()


async def test_two_workers_on_one_database_never_run_a_job_twice(url: str):
    pages = Pages()
    stores = [JobStore(url), JobStore(url)]
    for n in range(12):
        stores[0].add(job(f"job-{n}", url=f"https://shop.example/{n}", every="90d"), utc_now())
    await asyncio.gather(*(worker(store, pages, slots=3).serve(until_idle=True) for store in stores))
    assert sorted(pages.read) == sorted(f"https://shop.example/{n}" for n in range(12))
    assert {len(stores[0].history(f"job-{n}")) for n in range(12)} == {1}
    for store in stores:
        store.close()


async def test_the_worker_outlives_a_restart_of_its_database(postgres: Server, postgres_url: str):
    pages, said = Pages(), list[str]()
    store = JobStore(postgres_url)
    store.add(job("before", every="90d"), utc_now())
    serving = asyncio.create_task(worker(store, pages, say=said.append).serve())
    try:
        while not any("done" in line for line in said):
            await asyncio.sleep(0.01)
        await asyncio.to_thread(postgres.stop)
        while not any("Trying again" in line for line in said):
            await asyncio.sleep(0.01)
        await asyncio.to_thread(postgres.start)
        store.add(job("after", every="90d"), utc_now())
        while not any(line.startswith("after: done") for line in said):
            await asyncio.sleep(0.01)
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        store.close()
