"""Runs from claim to end, and the loop around them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from jobs_bench import MINUTE, START, Clock, Pages, job, worker

from lookstruct.pipeline.jobs.store import JobStore
from lookstruct.pipeline.jobs.worker import Worker
from lookstruct.schemas.errors import FetchTimeout, HTTPStatusError, StorageError

LAMP = "https://shop.example/lamp"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    made = JobStore(f"sqlite:///{tmp_path / 'jobs.db'}")
    yield made
    made.close()


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def last_run(store: JobStore) -> Any:
    return store.history("lamps")[0]


async def test_due_jobs_are_read_and_their_records_delivered(store: JobStore, tmp_path: Path):
    out, clock, pages = tmp_path / "x.jsonl", Clock(), Pages()
    store.add(job(to=str(out)), START)
    for hour in range(3):
        clock.now = START + timedelta(hours=hour)
        pages.default = {"name": "Lamp", "price": [45.5, 45.5, 50.0][hour]}
        await worker(store, pages, clock).serve(until_idle=True)
    assert lines(out) == [{"name": "Lamp", "price": 45.5}, {"name": "Lamp", "price": 50.0}]
    assert last_run(store).status == "done"


async def test_a_page_that_fails_fails_alone_and_only_it_is_read_again(store: JobStore, tmp_path: Path):
    out, clock = tmp_path / "x.jsonl", Clock()
    pages = Pages(**{"https://b.example": FetchTimeout("too slow")})
    store.add(job(url=["https://a.example", "https://b.example"], to=str(out)), START)
    await worker(store, pages, clock).serve(until_idle=True)
    assert (last_run(store).status, len(lines(out))) == ("waiting", 1)
    pages.data.clear()
    pages.read.clear()
    clock.now += MINUTE
    await worker(store, pages, clock).serve(until_idle=True)
    assert pages.read == ["https://b.example"]
    assert (last_run(store).status, last_run(store).attempt, len(lines(out))) == ("done", 2, 2)


async def test_what_no_other_try_would_mend_is_not_tried_again(store: JobStore):
    store.add(job(), START)
    pages = Pages(**{LAMP: HTTPStatusError("The server answered 404.", 404)})
    await worker(store, pages, Clock()).serve(until_idle=True)
    assert (last_run(store).status, last_run(store).errors) == ("failed", [f"{LAMP}: The server answered 404."])


async def test_a_fault_of_ours_fails_its_page_and_the_worker_goes_on(store: JobStore):
    store.add(job(), START)
    store.add(job("other"), START)
    await worker(store, Pages(**{LAMP: ZeroDivisionError("oh")}), Clock()).serve(until_idle=True)
    assert last_run(store).errors == [f"{LAMP}: unexpected ZeroDivisionError: oh"]
    assert store.history("other")[0].status == "failed"


async def test_a_run_that_takes_too_long_is_cut_off_and_what_it_had_read_is_kept(store: JobStore):
    store.add(job(url=["https://a.example", "https://slow.example"], timeout="1s", retries=0), START)

    class Slow(Pages):
        async def __call__(self, job: Any, url: str) -> Any:
            if "slow" in url:
                await asyncio.sleep(3600)
            return await super().__call__(job, url)

    await worker(store, Slow(), Clock()).serve(until_idle=True)
    run = last_run(store)
    assert (run.status, run.n_records) == ("failed", 1)
    assert run.errors == ["https://slow.example: was not read within 1s, the job's timeout"]


async def test_a_sink_that_fails_loses_nothing(store: JobStore, tmp_path: Path):
    out, clock = tmp_path / "later" / "x.jsonl", Clock()
    store.add(job(to=str(out)), START)
    pages = Pages()
    await worker(store, pages, clock).serve(until_idle=True)
    assert last_run(store).status == "waiting"
    assert len(store.snapshots("lamps")) == 1
    out.parent.mkdir()
    clock.now += MINUTE
    await worker(store, pages, clock).serve(until_idle=True)
    assert (last_run(store).status, len(lines(out))) == ("done", 1)
    assert pages.read == [LAMP]


async def test_a_stopped_worker_gives_its_runs_back(store: JobStore):
    clock, pages = Clock(), Pages()
    store.add(job(), START)
    pages.delay_s = 3600
    serving = asyncio.create_task(worker(store, pages, clock).serve())
    while not pages.read:
        await asyncio.sleep(0.01)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    pages.delay_s = 0
    await worker(store, pages, clock).serve(until_idle=True)
    assert (last_run(store).status, last_run(store).attempt) == ("done", 1)


async def test_a_claim_is_renewed_while_the_run_goes_on(store: JobStore):
    pages, clock = Pages(), Clock()
    store.add(job(), START)
    pages.delay_s = 3600
    serving = asyncio.create_task(worker(store, pages, clock, lease=timedelta(seconds=0.06)).serve())
    while not pages.read:
        await asyncio.sleep(0.01)
    clock.now += MINUTE
    while last_run(store).lease_until < clock.now:
        await asyncio.sleep(0.01)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


async def test_a_run_that_was_taken_up_elsewhere_is_ended_here(store: JobStore):
    pages, clock, said = Pages(), Clock(), list[str]()
    store.add(job(), START)
    pages.delay_s = 3600
    slow = worker(store, pages, clock, lease=timedelta(seconds=0.06), say=said.append)
    serving = asyncio.create_task(slow.serve())
    while not pages.read:
        await asyncio.sleep(0.01)
    taken = None
    while taken is None:  # its lease is over for a clock that is far ahead
        taken = store.claim("other", clock.now + timedelta(days=1), timedelta(days=2))
    while not any("taken up elsewhere" in line for line in said):
        await asyncio.sleep(0.01)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert store.finish(taken, clock.now) is not None


async def test_the_worker_waits_for_a_database_that_is_gone(store: JobStore, monkeypatch: pytest.MonkeyPatch):
    said: list[str] = []
    store.add(job(), START)
    answers = iter([StorageError("The database is down."), StorageError("The database is down.")])
    claim = store.claim

    def flaky(*args: Any) -> Any:
        if (fault := next(answers, None)) is not None:
            raise fault
        return claim(*args)

    monkeypatch.setattr(store, "claim", flaky)
    await worker(store, Pages(), Clock(), say=said.append).serve(until_idle=True)
    assert last_run(store).status == "done"
    assert sum("Trying again" in line for line in said) == 2


async def test_a_database_that_is_gone_at_the_end_of_a_run_costs_another_attempt(
    store: JobStore, monkeypatch: pytest.MonkeyPatch
):
    clock, said = Clock(), list[str]()
    store.add(job(), START)
    keep = store.store

    def fail(*_: Any, **__: Any) -> None:
        raise StorageError("The database is down.")

    monkeypatch.setattr(store, "store", fail)
    await worker(store, Pages(), clock, say=said.append).serve(until_idle=True)
    assert any("will be taken up again" in line for line in said)
    monkeypatch.setattr(store, "store", keep)
    clock.now += MINUTE
    await worker(store, Pages(), clock).serve(until_idle=True)
    assert (last_run(store).status, last_run(store).attempt) == ("done", 2)


async def test_events_are_told_to_those_who_want_them(store: JobStore):
    clock, pages, told = Clock(), Pages(), list[tuple[str, list[str]]]()

    async def tell(job: Any, event: str, lines: list[str]) -> None:
        del job
        told.append((event, lines))

    store.add(job(retries=0, pause_after=2, notify_on=["changed", "failed", "paused", "recovered"]), START)

    async def hour(content: Any) -> list[str]:
        told.clear()
        pages.default = content
        await worker(store, pages, clock, tell=tell).serve(until_idle=True)
        clock.now += timedelta(hours=1)
        return [event for event, _ in told]

    assert await hour({"name": "Lamp", "price": 1.0}) == []
    assert await hour({"name": "Lamp", "price": 2.0}) == ["changed"]
    assert told == [("changed", [f"{LAMP}/price: 1.0 -> 2.0"])]
    assert await hour({"name": "Lamp", "price": None}) == ["changed"]
    assert await hour(FetchTimeout("down")) == ["failed"]
    assert await hour({"name": "Lamp", "price": None}) == ["recovered"]
    assert await hour(FetchTimeout("down")) == ["failed"]
    assert await hour(FetchTimeout("down")) == ["failed", "paused"]


async def test_a_job_that_is_paused_because_its_worker_was_lost_is_told_of(store: JobStore):
    clock, told = Clock(), list[tuple[str, list[str]]]()

    async def tell(job: Any, event: str, lines: list[str]) -> None:
        del job
        told.append((event, lines))

    store.add(job(retries=0, pause_after=1), START)
    assert store.claim("dead", START, MINUTE) is not None
    clock.now += 2 * MINUTE
    await worker(store, Pages(), clock, tell=tell).serve(until_idle=True)
    assert told == [
        ("failed", ["The worker dead did not come back."]),
        ("paused", ["1 runs failed in a row; extract jobs unpause lamps goes on."]),
    ]


async def test_a_run_that_gives_way_to_the_next_time_counts_says_why_and_may_pause_the_job(store: JobStore):
    clock, told = Clock(), list[str]()

    async def tell(job: Any, event: str, lines: list[str]) -> None:
        del job, lines
        told.append(event)

    store.add(job(retries=5, backoff="2h", pause_after=2), START)
    for _ in range(4):
        await worker(store, Pages(**{LAMP: FetchTimeout("down")}), clock, tell=tell).serve(until_idle=True)
        clock.now += timedelta(hours=1)
    assert told == ["failed", "failed", "paused"]
    assert store.get("lamps").state.paused
    assert [run.status for run in store.history("lamps")] == ["failed", "failed"]
    assert last_run(store).errors == ["Try 1 failed, and the job's next time came before another."]


async def test_a_job_runs_now_when_it_is_asked_to(store: JobStore):
    pages = Pages()
    store.add(job(), START)
    report = await worker(store, pages, Clock()).run_now("lamps")
    assert report is not None
    assert report.errors == []
    assert last_run(store).manual


async def test_workers_have_names_of_their_own(store: JobStore):
    names = {Worker(store, None).name for _ in range(3)}  # type: ignore[arg-type]
    assert len(names) == 3
