import os
import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from lookstruct.pipeline.sinks.entry import Entry
from lookstruct.pipeline.storage import ledger as module
from lookstruct.pipeline.storage.ledger import MOST_DEATHS, Ledger, open_ledger
from lookstruct.pipeline.storage.owner import is_alive, own_name
from lookstruct.pipeline.storage.run import Costs, Counts, PageRow, Run, Spec
from lookstruct.schemas.errors import FetchTimeout, StorageError, UsageError

SPEC = Spec("a: str", "Record", {"type": "object"}, "/tmp/out.jsonl", {"decode": {"seed": "1"}})
PAGES = [PageRow(number, f"https://a.example/{number}", number + 1) for number in range(5)]
COSTS = Costs(20, 12, 3, 0.5, 0.25)
DEAD = f"{os.uname().nodename}:999999999:1.00"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def ledger(url: str) -> Any:
    ledger = open_ledger(url)
    yield ledger
    ledger.close()


def entry(run: Run, page: int, data: Any = None) -> Entry:
    return Entry(
        run.id, page, PAGES[page].target, "https://a.example/x", data or {"a": "ü\ud83d\0"}, {"/a": {}}, {}, "now"
    )


def read(ledger: Ledger, run: Run, page: int) -> None:
    ledger.begin(run.id, page)
    assert ledger.keep(entry(run, page), COSTS)


def set_owner(ledger: Ledger, run: Run, owner: str) -> Run:
    with ledger._engine.begin() as connection:
        connection.execute(sa.update(module.runs).values(owner=owner))
    return ledger.find(run.id)


def test_a_run_begins_with_all_its_pages_waiting(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "7")
    assert (run.spec, run.state, run.position, run.owner) == (SPEC, "running", "7", own_name())
    assert ledger.waiting(run.id) == PAGES
    assert ledger.counts(run.id) == Counts(5, 0, 0)


def test_a_result_comes_back_as_it_was_until_it_is_delivered(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "")
    read(ledger, run, 2)
    assert ledger.undelivered(run.id) == [entry(run, 2)]
    ledger.delivered(run.id, [2], "99")
    assert ledger.undelivered(run.id) == []
    assert ledger.find(run.id).position == "99"
    assert list(ledger.entries(run.id)) == [entry(run, 2)]


def test_a_page_gets_one_result_only(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "")
    read(ledger, run, 0)
    assert not ledger.keep(entry(run, 0, {"a": "other"}), COSTS)
    assert [found.data for found in ledger.entries(run.id)] == [{"a": "ü\ud83d\0"}]


def test_results_come_in_the_order_of_the_list_however_many(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "A_TIME", 2)
    run = ledger.create(SPEC, PAGES, "")
    for page in (4, 0, 3, 1, 2):
        read(ledger, run, page)
    assert [found.page for found in ledger.entries(run.id)] == [0, 1, 2, 3, 4]


def test_costs_are_summed(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "")
    assert ledger.costs(run.id) == Costs()
    read(ledger, run, 0)
    read(ledger, run, 1)
    assert ledger.costs(run.id) == Costs(40, 24, 6, 1.0, 0.5)


def test_failures_have_their_reasons_and_can_be_retried_alone(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "")
    read(ledger, run, 0)
    ledger.fail(run.id, 1, FetchTimeout("The page\0 did not answer."))
    (failure,) = ledger.failures(run.id)
    assert (failure.page, failure.kind, failure.reason) == (PAGES[1], "FetchTimeout", "The page did not answer.")
    assert ledger.retry_failed(run.id) == 1
    assert ledger.failures(run.id) == []
    assert ledger.waiting(run.id) == PAGES[1:]


def test_a_result_that_no_sink_could_hold_is_dropped_and_its_page_has_failed(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "")
    read(ledger, run, 0)
    ledger.fail(run.id, 0, ValueError("too large"))
    assert (ledger.undelivered(run.id), ledger.counts(run.id)) == ([], Counts(4, 0, 1))


def test_a_run_of_a_living_process_cannot_be_claimed_unless_it_is_taken_over(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "")
    with pytest.raises(UsageError, match="is being worked on"):
        ledger.claim(run)
    elsewhere = set_owner(ledger, run, "another-machine:1:1.00")
    with pytest.raises(UsageError, match="--take-over"):
        ledger.claim(elsewhere)
    ledger.claim(elsewhere, take_over=True)
    assert ledger.find(run.id).owner == own_name()


def test_who_has_lost_a_run_begins_no_page_more(ledger: Ledger) -> None:
    run = set_owner(ledger, ledger.create(SPEC, PAGES, ""), "another-machine:1:1.00")
    with pytest.raises(UsageError, match="taken over by another process"):
        ledger.begin(run.id, 0)
    assert ledger.waiting(run.id) == PAGES


def test_of_two_that_claim_a_dead_run_one_gets_it(ledger: Ledger) -> None:
    run = set_owner(ledger, ledger.create(SPEC, PAGES, ""), DEAD)
    ledger.claim(run)
    with pytest.raises(UsageError, match="taken up by another process"):
        ledger.claim(run)


def test_pages_that_a_dead_process_left_half_read_wait_again(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "")
    ledger.begin(run.id, 1)
    ledger.claim(set_owner(ledger, run, DEAD))
    assert ledger.waiting(run.id) == PAGES


def test_a_page_that_was_the_death_of_too_many_has_failed_alone(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "")
    for _ in range(MOST_DEATHS):
        ledger.begin(run.id, 1)
        ledger.claim(set_owner(ledger, run, DEAD))
    assert [(failure.page.number, failure.kind) for failure in ledger.failures(run.id)] == [(1, "Died")]
    assert ledger.counts(run.id) == Counts(4, 0, 1)


def test_an_orderly_stop_is_no_death(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "")
    for _ in range(MOST_DEATHS + 1):
        ledger.begin(run.id, 1)
        ledger.release(run.id, "stopped")
        ledger.claim(ledger.find(run.id))
    assert ledger.counts(run.id) == Counts(5, 0, 0)


def test_only_new_targets_of_a_grown_list_are_added(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES[:2], "")
    assert ledger.add_pages(run.id, [PAGES[1], PAGES[3], PAGES[4]]) == 2
    assert [page.target[-1] for page in ledger.waiting(run.id)] == ["0", "1", "3", "4"]


def test_the_latest_run_is_found_by_last(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="has no run 'last'"):
        ledger.find("last")
    runs = [ledger.create(SPEC, PAGES, "") for _ in range(3)]
    with ledger._engine.begin() as connection:
        late = sa.update(module.runs).where(module.runs.c.id == runs[0].id)
        connection.execute(late.values(started_at="9999-01-01"))
    assert ledger.find("last").id == runs[0].id
    assert [run.id for run in ledger.runs(1)] == [runs[0].id]


def test_others_at_a_sink_are_the_living_ones(ledger: Ledger) -> None:
    run = ledger.create(SPEC, PAGES, "")
    assert ledger.others_at(SPEC.sink) == []
    set_owner(ledger, run, DEAD)
    assert ledger.others_at(SPEC.sink) == []
    set_owner(ledger, run, "another-machine:1:1.00")
    assert ledger.others_at(SPEC.sink) == [run.id]
    assert ledger.others_at("/tmp/other.jsonl") == []


def test_several_threads_and_connections_lose_nothing(ledger: Ledger, url: str) -> None:
    run = ledger.create(SPEC, [PageRow(n, f"https://a.example/{n}") for n in range(40)], "")

    def work(first: int) -> None:
        mine = open_ledger(url)
        for page in range(first, 40, 4):
            mine.begin(run.id, page)
            mine.keep(Entry(run.id, page, "t", "u", {"n": page}), COSTS)
        mine.close()

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found.data["n"] for found in ledger.entries(run.id)] == list(range(40))


def test_a_full_disk_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    ledger = open_ledger(url)
    run = ledger.create(SPEC, PAGES, "")
    read(ledger, run, 0)
    with ledger._engine.begin() as connection:
        n_pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {n_pages}")
    ledger.begin(run.id, 1)
    with pytest.raises(StorageError, match=r"full.*what was done is kept"):
        ledger.keep(entry(run, 1, {"a": "x" * 20_000}), COSTS)
    ledger.close()
    again = open_ledger(url)
    assert again.undelivered(run.id) == [entry(run, 0)]
    assert again.counts(run.id) == Counts(4, 1, 0)
    again.close()


@pytest.mark.parametrize("url", ["sqlite:////proc/none/ledger.db", "mysql://host/x", "nonsense", "sqlite://"])
def test_a_ledger_that_cannot_be_opened_is_a_wrong_call(url: str) -> None:
    with pytest.raises(UsageError, match=r"--ledger|sqlite:///file\.db"):
        open_ledger(url)


def test_without_a_url_the_ledger_is_a_file_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_state_path", lambda *_, **__: tmp_path / "state")
    open_ledger().close()
    assert (tmp_path / "state" / "ledger.db").is_file()


def test_a_process_that_is_gone_is_not_alive() -> None:
    assert is_alive(own_name())
    assert not is_alive(DEAD)
    assert not is_alive(own_name().rpartition(":")[0] + ":1.00")
