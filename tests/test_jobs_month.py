"""A month of a set of jobs on a clock of our own: every firing, across clock changes, pauses, outages and overlaps."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from lookstruct.pipeline.jobs.job import make_job
from lookstruct.pipeline.jobs.states import Claim
from lookstruct.pipeline.jobs.store import JobStore

BERLIN = ZoneInfo("Europe/Berlin")
MINUTE = timedelta(minutes=1)
LEASE = timedelta(minutes=5)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


class World:
    """One worker on a simulated clock: looks every `step`, and each run takes as long as `lasts` says."""

    def __init__(self, folder: Path, start: datetime) -> None:
        self.store = JobStore(f"sqlite:///{folder / 'jobs.db'}")
        self.now = start
        self.lasts: dict[str, timedelta] = {}
        self.fails: Callable[[Claim], bool] = lambda _: False
        self.ran: dict[str, list[datetime]] = defaultdict(list)
        self.started: dict[str, list[datetime]] = defaultdict(list)
        self.missed: dict[str, int] = defaultdict(int)
        self.at_work: list[tuple[datetime, int, Claim]] = []

    def add(self, name: str, **given: Any) -> None:
        self.store.add(make_job({"name": name, "url": "https://shop.example", "schema": "Product", **given}), self.now)

    def until(self, end: datetime, step: timedelta = MINUTE, *, away: bool = False) -> None:
        """Lets time pass; `away` means that no worker runs."""
        while self.now < end:
            if not away:
                self.work()
            self.now += step

    def work(self) -> None:
        while self.at_work and self.at_work[0][0] <= self.now:
            _, _, claim = heapq.heappop(self.at_work)
            assert self.store.store(claim, [], self.now) is not None
            assert self.store.finish(claim, self.now, ["no page"] if self.fails(claim) else []) is not None
        for _, _, claim in self.at_work:
            assert self.store.renew(claim, self.now + LEASE)
        while (claim := self.store.claim("worker", self.now, LEASE)) is not None:
            assert all(other.job.name != claim.job.name for _, _, other in self.at_work), "a job overlaps itself"
            self.ran[claim.job.name].append(claim.scheduled_at)
            self.started[claim.job.name].append(self.now)
            self.missed[claim.job.name] += claim.missed
            end = self.now + self.lasts.get(claim.job.name, timedelta())
            heapq.heappush(self.at_work, (end, claim.run_id, claim))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Callable[[datetime], World]]:
    made: list[World] = []

    def make(start: datetime) -> World:
        made.append(World(tmp_path, start))
        return made[-1]

    yield make
    for each in made:
        each.store.close()


def days(times: list[datetime]) -> list[str]:
    return [time.astimezone(BERLIN).strftime("%d %H:%M") for time in times]


@pytest.mark.parametrize("length_days", [4, pytest.param(31, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("start", "night"), [(utc(2025, 3, 28), "30 03:00"), (utc(2025, 10, 24), "26 02:30")], ids=["spring", "autumn"]
)
def test_a_month_across_a_clock_change(world: Any, start: datetime, night: str, length_days: int):
    w = world(start)
    w.add("nightly", cron="30 2 * * *", timezone="Europe/Berlin")
    w.add("six-hours", every="6h")
    w.add("hourly", cron="0 * * * *", timezone="Europe/Berlin")
    w.until(start + timedelta(days=length_days), timedelta(minutes=10))
    assert len(w.ran["nightly"]) == length_days
    assert night in days(w.ran["nightly"])
    assert {d.split()[1] for d in days(w.ran["nightly"])} <= {"02:30", "03:00"}
    assert w.ran["six-hours"] == [start + k * timedelta(hours=6) for k in range(4 * length_days)]
    assert w.ran["hourly"] == [start + k * timedelta(hours=1) for k in range(24 * length_days)]
    assert w.started == w.ran
    assert sum(w.missed.values()) == 0


def test_an_outage_makes_one_run_for_all_that_was_missed(world: Any):
    w = world(utc(2025, 6, 1))
    w.add("hourly", cron="0 * * * *")
    w.until(utc(2025, 6, 1, 3), 10 * MINUTE)
    w.until(utc(2025, 6, 1, 20, 30), 10 * MINUTE, away=True)
    w.until(utc(2025, 6, 1, 22), 10 * MINUTE)
    assert [time.hour for time in w.ran["hourly"]] == [0, 1, 2, 20, 21]
    assert w.missed["hourly"] == 17


def test_a_pause_is_not_made_up_for_and_the_grid_is_kept(world: Any):
    w = world(utc(2025, 6, 1, 0, 20))
    w.add("six-hours", every="6h")
    w.add("noon", cron="0 12 * * *")
    w.until(utc(2025, 6, 1, 7), 10 * MINUTE)
    for name in ("six-hours", "noon"):
        w.store.pause(name)
    w.until(utc(2025, 6, 2, 13), 10 * MINUTE)
    for name in ("six-hours", "noon"):
        w.store.unpause(name, w.now)
    w.until(utc(2025, 6, 3, 13), 10 * MINUTE)
    assert [(t.day, t.hour, t.minute) for t in w.ran["six-hours"]] == [
        (1, 0, 20),
        (1, 6, 20),
        (2, 18, 20),
        (3, 0, 20),
        (3, 6, 20),
        (3, 12, 20),
    ]
    assert [(t.day, t.hour) for t in w.ran["noon"]] == [(3, 12)]


def test_a_run_that_lasts_longer_than_its_interval_never_overlaps_itself(world: Any):
    w = world(utc(2025, 6, 1))
    w.add("slow", every="10m")
    w.lasts["slow"] = timedelta(minutes=25)
    w.until(utc(2025, 6, 1, 2))
    assert [time.minute + 60 * time.hour for time in w.ran["slow"]] == [0, 20, 50, 70, 100]
    assert w.missed["slow"] == 1 + 2 + 1 + 2


def test_a_clock_that_jumps_back_runs_nothing_twice(world: Any):
    w = world(utc(2025, 6, 1))
    w.add("ten", every="10m")
    w.add("cron", cron="*/10 * * * *")
    w.until(utc(2025, 6, 1, 1))
    w.now = utc(2025, 6, 1, 0, 15)
    w.until(utc(2025, 6, 1, 1, 11))
    for name in ("ten", "cron"):
        assert [time.minute + 60 * time.hour for time in w.ran[name]] == list(range(0, 71, 10))


def test_a_failing_job_is_tried_again_with_longer_waits_and_gives_way_to_the_next_time(world: Any):
    w = world(utc(2025, 6, 1))
    w.add("bad", every="30m", retries=3, backoff="4m", pause_after=0)
    w.fails = lambda _: True
    w.until(utc(2025, 6, 1, 0, 35))
    assert [time.minute for time in w.started["bad"]] == [0, 5, 14, 30]  # each ends a minute after it began
    assert [time.minute for time in w.ran["bad"]] == [0, 0, 0, 30]
    assert [(run.status, run.attempt) for run in w.store.history("bad")] == [("waiting", 1), ("failed", 3)]
    assert w.store.get("bad").failures == 1


def test_a_job_that_keeps_failing_is_paused_and_says_so(world: Any):
    w = world(utc(2025, 6, 1))
    w.add("bad", every="1h", retries=0, pause_after=3)
    w.fails = lambda _: True
    w.until(utc(2025, 6, 1, 12), 10 * MINUTE)
    row = w.store.get("bad")
    assert len(w.ran["bad"]) == 3
    assert (row.state.paused, row.paused_because) == (True, "3 runs failed in a row")
    w.fails = lambda _: False
    w.store.unpause("bad", w.now)
    w.until(utc(2025, 6, 1, 14), 10 * MINUTE)
    assert [time.hour for time in w.ran["bad"]] == [0, 1, 2, 13]
    assert w.store.get("bad").failures == 0


def test_jitter_starts_each_run_within_its_bounds_and_never_changes_the_grid(world: Any):
    w = world(utc(2025, 6, 1))
    w.add("spread", every="1h", jitter="30m")
    w.until(utc(2025, 6, 3))
    delays = [start - due for start, due in zip(w.started["spread"], w.ran["spread"], strict=True)]
    assert w.ran["spread"] == [utc(2025, 6, 1) + k * timedelta(hours=1) for k in range(len(delays))]
    assert len(delays) >= 47
    assert all(timedelta() <= delay <= timedelta(minutes=31) for delay in delays)
    assert len(set(delays)) > 10


def test_a_run_whose_worker_vanished_is_taken_up_after_its_lease(world: Any):
    w = world(utc(2025, 6, 1))
    w.add("job", every="1h")
    lost = w.store.claim("dead", w.now, LEASE)
    w.until(utc(2025, 6, 1, 0, 30))
    assert w.started["job"] == [utc(2025, 6, 1) + LEASE]
    assert w.store.finish(lost, w.now) is None
    assert w.store.history("job")[0].attempt == 2
