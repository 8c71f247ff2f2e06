"""Jobs, runs and records in a database."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from jobs_bench import MINUTE, START, job, record
from postgres_fixtures import postgres as postgres
from postgres_fixtures import postgres_url as postgres_url

from lookstruct.pipeline.jobs.claiming import backoff
from lookstruct.pipeline.jobs.keys import results_of
from lookstruct.pipeline.jobs.states import Claim, Closed, Result, Status
from lookstruct.pipeline.jobs.store import JobStore
from lookstruct.schemas.errors import StorageError, UsageError

LEASE = 5 * MINUTE


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[JobStore]:
    is_sqlite = request.param == "sqlite"
    made = JobStore(f"sqlite:///{tmp_path / 'jobs.db'}" if is_sqlite else request.getfixturevalue("postgres_url"))
    yield made
    made.close()


def results(data: Any, claim: Claim, url: str = "https://shop.example/lamp") -> list[Result]:
    return list(results_of(record(data, url), f"{claim.job.name}/{claim.run_id}", url, claim.job.key))


def carry_out(store: JobStore, data: Any, now: Any) -> Claim:
    claim = store.claim("w", now, LEASE)
    assert claim is not None
    assert store.store(claim, results(data, claim), now) is not None
    ended = store.finish(claim, now)
    assert ended is not None
    assert ended.status is Status.DONE
    return claim


def test_a_name_is_taken_once(store: JobStore):
    store.add(job(), START)
    with pytest.raises(UsageError, match="There is a job 'lamps' already"):
        store.add(job(), START)


@pytest.mark.parametrize("command", ["get", "pause", "remove", "history", "snapshots"])
def test_an_unknown_job_is_named_with_a_near_one(store: JobStore, command: str):
    store.add(job(), START)
    with pytest.raises(UsageError, match="There is no job 'lamp'; did you mean 'lamps'"):
        getattr(store, command)("lamp")


def test_a_run_is_claimed_by_one_of_many_workers(store: JobStore):
    for n in range(5):
        store.add(job(f"job-{n}"), START)

    def work(n: int) -> list[Claim]:
        found = []
        while (claim := store.claim(f"w{n}", START, LEASE)) is not None:
            found.append(claim)
        return found

    with ThreadPoolExecutor(6) as pool:
        claims = [claim for found in pool.map(work, range(6)) for claim in found]
    assert sorted(claim.job.name for claim in claims) == [f"job-{n}" for n in range(5)]


def test_a_lost_claim_changes_nothing(store: JobStore):
    store.add(job(to="-"), START)
    lost = store.claim("w1", START, LEASE)
    assert lost is not None
    taken = store.claim("w2", START + LEASE, LEASE)
    assert taken == replace(lost, worker="w2", attempt=2)
    assert not store.renew(lost, START + 2 * LEASE)
    assert store.store(lost, results({"name": "x"}, lost), START) is None
    assert store.finish(lost, START) is None
    store.release(lost, START)
    assert store.undelivered(taken)[0] == []
    assert store.renew(taken, START + 2 * LEASE)


def test_the_same_worker_that_took_its_own_lost_run_up_again_holds_only_the_new_claim(store: JobStore):
    store.add(job(), START)
    first, second = store.claim("w", START, LEASE), store.claim("w", START + LEASE, LEASE)
    assert first is not None
    assert second is not None
    assert not store.renew(first, START + 2 * LEASE)


def test_a_run_that_kills_its_workers_is_closed_at_last(store: JobStore):
    store.add(job(retries=1, pause_after=1), START)
    now = START
    for _ in range(2):
        assert store.claim("w", now, LEASE) is not None
        now += LEASE
    closed: list[Closed] = []
    assert store.claim("w", now, LEASE, closed.append) is None
    run = store.history("lamps")[0]
    assert (run.status, run.errors) == ("lost", ["The worker w did not come back."])
    assert store.get("lamps").state.paused
    assert [(one.job.name, one.status, one.errors, one.paused) for one in closed] == [
        ("lamps", Status.LOST, ["The worker w did not come back."], True)
    ]


def test_a_released_run_is_taken_up_at_once_and_its_attempt_does_not_count(store: JobStore):
    store.add(job(retries=0), START)
    claim = store.claim("w", START, LEASE)
    assert claim is not None
    store.release(claim, START)
    again = store.claim("w", START, LEASE)
    assert again is not None
    assert (again.run_id, again.attempt) == (claim.run_id, 1)


def test_pages_that_another_attempt_may_read_are_all_that_it_reads(store: JobStore):
    store.add(job(url=["https://a.example", "https://b.example"]), START)
    claim = store.claim("w", START, LEASE)
    assert claim is not None
    assert claim.todo is None
    store.store(claim, results({"name": "a"}, claim, "https://a.example"), START, todo=["https://b.example"])
    ended = store.finish(claim, START, ["https://b.example: down"])
    assert ended is not None
    assert ended.retry_at == START + MINUTE
    again = store.claim("w", START + MINUTE, LEASE)
    assert again is not None
    assert again.todo == ("https://b.example",)
    store.store(again, results({"name": "b"}, again, "https://b.example"), START)
    assert store.finish(again, START).status is Status.DONE  # type: ignore[union-attr]
    assert store.history("lamps")[0].n_records == 2


def test_what_no_attempt_would_mend_fails_the_run_though_the_rest_was_read(store: JobStore):
    store.add(job(), START)
    claim = store.claim("w", START, LEASE)
    assert claim is not None
    store.store(claim, results({"name": "a"}, claim), START, errors=["https://gone.example: 404"])
    ended = store.finish(claim, START)
    assert ended is not None
    assert ended.status is Status.FAILED
    assert store.history("lamps")[0].errors == ["https://gone.example: 404"]
    assert len(store.snapshots("lamps")) == 1


def test_records_are_kept_when_they_changed_and_only_then(store: JobStore):
    store.add(job(), START)
    for hour, price in enumerate([45.5, 45.50, 47.0, 47.0]):
        carry_out(store, {"name": "Lamp", "price": price}, START + timedelta(hours=hour))
    seen = store.snapshots("lamps")
    assert [row.changes for row in seen] == [
        [{"pointer": "/price", "kind": "changed", "before": 45.5, "after": 47.0}],
        [],
    ]
    assert seen[0].seen_at == START + timedelta(hours=2)
    assert [run.n_changed for run in store.history("lamps")] == [0, 1, 0, 1]


@pytest.mark.parametrize(("on", "expected"), [("change", [1, 1, 2]), ("always", [1, 2, 3])])
def test_a_sink_gets_changed_records_or_all(store: JobStore, on: str, expected: list[int]):
    store.add(job(on=on, to="-"), START)
    counts = []
    for hour, price in enumerate([1, 1, 2]):
        claim = carry_out(store, {"name": "Lamp", "price": price}, START + timedelta(hours=hour))
        counts.append(len(store.undelivered(claim)[0]))
    assert counts == expected


def test_entries_have_numbers_of_their_own_and_go_when_they_are_delivered(store: JobStore):
    store.add(job(on="always", to="-"), START)
    carry_out(store, {"name": "Lamp"}, START)
    claim = carry_out(store, {"name": "Lamp"}, START + timedelta(hours=1))
    entries, position = store.undelivered(claim)
    assert (len({entry.page for entry in entries}), position) == (2, "")
    store.delivered(claim, entries[:1], "17")
    assert store.undelivered(claim) == (entries[1:], "17")


def test_a_list_of_records_is_kept_item_by_item_under_its_keys(store: JobStore):
    store.add(job(key=["sku"], schema='[{"sku": "str"}]'), START)
    carry_out(store, [{"sku": "a", "price": 1}, {"sku": "b", "price": 2}], START)
    carry_out(
        store, [{"sku": "c", "price": 9}, {"sku": "a", "price": 1}, {"sku": "b", "price": 3}], START + 60 * MINUTE
    )
    assert [(row.key, len(row.changes)) for row in store.snapshots("lamps")] == [("b", 1), ("c", 0), ("b", 0), ("a", 0)]
    assert [row.key for row in store.snapshots("lamps", key="a")] == ["a"]


def test_a_vanished_field_and_a_drop_are_warnings_of_the_run(store: JobStore):
    store.add(job(), START)
    for hour in range(4):
        carry_out(store, {"name": "Lamp", "price": 1.0}, START + timedelta(hours=hour))
    carry_out(store, {"name": "Lamp", "price": None}, START + timedelta(hours=4))
    warnings = store.history("lamps")[0].warnings
    assert "the field /price vanished; it was '1.0' at html > p ('1.0')" in warnings[0]
    assert "share of filled fields fell to 0.50" in warnings[1]


def test_a_changed_schedule_counts_from_the_change_and_history_stays(store: JobStore):
    store.add(job(), START, "jobs.toml")
    carry_out(store, {"name": "Lamp"}, START)
    store.replace(job(every="2h"), START + 10 * MINUTE, "jobs.toml")
    assert store.claim("w", START + 10 * MINUTE, LEASE).scheduled_at == START + 10 * MINUTE  # type: ignore[union-attr]
    store.replace(job(every="2h", retries=7), START + 20 * MINUTE, "jobs.toml")
    assert store.get("lamps").state.anchor == START + 10 * MINUTE
    assert len(store.history("lamps")) == 2


def test_a_removed_job_takes_its_history_along_and_its_running_claim_counts_no_more(store: JobStore):
    store.add(job(to="-"), START)
    claim = store.claim("w", START, LEASE)
    assert claim is not None
    store.remove("lamps")
    assert store.store(claim, results({"name": "x"}, claim), START) is None
    assert store.all() == []


def test_a_run_by_hand_stands_beside_the_schedule_and_overlaps_nothing(store: JobStore):
    store.add(job(), START)
    by_hand = store.claim_now("lamps", "me", START + MINUTE, LEASE)
    assert store.claim("w", START + MINUTE, LEASE) is None
    with pytest.raises(UsageError, match="is running since"):
        store.claim_now("lamps", "you", START + 2 * MINUTE, LEASE)
    assert store.finish(by_hand, START + 2 * MINUTE, ["down"]).status is Status.FAILED  # type: ignore[union-attr]
    assert store.claim("w", START + 2 * MINUTE, LEASE).scheduled_at == START  # type: ignore[union-attr]


def test_waits_between_tries_are_doubled_up_to_hours():
    waits = [backoff(job(backoff="1m"), attempt) for attempt in (1, 2, 3, 90)]
    assert waits == [MINUTE, 2 * MINUTE, 4 * MINUTE, timedelta(hours=6)]


def test_a_database_that_cannot_be_had_is_named_without_its_password(tmp_path: Path):
    with pytest.raises(StorageError, match="job database"):
        JobStore(f"sqlite:///{tmp_path / 'no' / 'jobs.db'}")
    with pytest.raises(UsageError, match="no database URL"):
        JobStore("jobs.db")
    with pytest.raises(StorageError) as caught:
        JobStore("postgresql://me:secret@127.0.0.1:1/x")
    assert "secret" not in str(caught.value)
