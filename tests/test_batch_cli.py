import asyncio
import errno
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import batch_stub
import pytest
import sqlalchemy as sa
from postgres_fixtures import Server

from lookstruct import cli
from lookstruct.pipeline.storage.database import open_database
from lookstruct.schemas.errors import ModelNotFound

N = 12
ALL = [batch_stub.record_of(number) for number in range(N)]


class Result:
    """What one command line did."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code, self.out, self.err = code, out.decode("utf-8"), err.decode("utf-8")

    @property
    def records(self) -> list[Any]:
        return by_price([json.loads(line) for line in self.out.splitlines()])


Run = Callable[..., Result]


def by_price(records: list[Any]) -> list[Any]:
    return sorted(records, key=lambda record: record["price"])


@pytest.fixture
def source() -> batch_stub.Source:
    return batch_stub.Source()


@pytest.fixture
def reader() -> batch_stub.Reader:
    return batch_stub.Reader()


@pytest.fixture
def extract(
    source: batch_stub.Source,
    reader: batch_stub.Reader,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Run:
    """Runs a command line in a folder with `N` pages and their list, with a made-up browser and model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_, **__: tmp_path / "home")
    monkeypatch.setattr("platformdirs.user_state_path", lambda *_, **__: tmp_path / "state")
    monkeypatch.setattr("lookstruct.pipeline.extractor._open_browser", lambda _: source)
    monkeypatch.setattr("lookstruct.pipeline.extractor._load_reader", lambda _: reader)
    (tmp_path / "list.txt").write_text("\n".join(batch_stub.write_pages(tmp_path, N)))

    def run(*args: str) -> Result:
        code = cli.run(args)
        captured = capfdbinary.readouterr()
        return Result(code, captured.out, captured.err)

    return run


def batch(run: Run, *args: str) -> Result:
    """A new batch of the list."""
    return run("batch", "list.txt", "--schema", batch_stub.SCHEMA, *args)


def prices_in(url: str) -> list[float]:
    engine = open_database(url)
    with engine.begin() as connection:
        found = [float(row.price) for row in connection.execute(sa.text("SELECT price FROM record"))]
    engine.dispose()
    return found


def lines_of(path: str) -> list[Any]:
    return by_price([json.loads(line) for line in Path(path).read_text().splitlines()])


def test_every_page_of_the_list_is_a_line_on_standard_output(extract: Run) -> None:
    result = batch(extract)
    assert (result.code, result.records) == (0, ALL)


def test_a_table_of_what_became_of_it_goes_to_standard_error(extract: Run) -> None:
    lines = batch(extract, "--to", "out.jsonl").err.splitlines()
    assert lines[0].startswith("run      20")
    assert lines[1:3] == ["pages    12 done, 0 failed, 0 left of 12", "tokens   144 in 36 forwards (4.0 a forward)"]
    assert lines[4] == f"output   {Path('out.jsonl').absolute()}"


def test_the_report_is_for_programs(extract: Run) -> None:
    Path("page0003.html").write_text("missing")
    batch(extract, "--to", "out.jsonl", "--report", "report.json")
    report = json.loads(Path("report.json").read_text())
    assert report["pages"] == {"total": 12, "waiting": 0, "done": 11, "failed": 1}
    assert report["costs"]["tokens_per_forward"] == 4.0
    assert report["failures"] == [
        {
            "page": 3,
            "line": 4,
            "target": str(Path("page0003.html").absolute()),
            "kind": "FetchTimeout",
            "reason": "The page did not answer.",
        }
    ]
    assert json.loads(extract("runs", "show").out) == report


def test_a_poisoned_page_fails_alone_and_can_be_retried_alone(extract: Run, source: batch_stub.Source) -> None:
    for number, poison in ((3, "missing"), (5, "broken"), (7, "no lines that could be read")):
        Path(f"page{number:04}.html").write_text(poison)
    result = batch(extract, "--to", "out.jsonl")
    assert (result.code, len(lines_of("out.jsonl"))) == (1, N - 3)
    assert f"failed: line 4, {Path('page0003.html').absolute()}: The page did not answer." in result.err
    assert "--retry-failed" in result.err

    source.fetched.clear()
    for number in (3, 5, 7):
        Path(f"page{number:04}.html").write_text(f"<h1>Lamp {number}</h1><p>{number + 0.5}</p>")
    assert extract("batch", "--resume", "last", "--retry-failed").code == 0
    assert sorted(Path(path).name for path in source.fetched) == ["page0003.html", "page0005.html", "page0007.html"]
    assert lines_of("out.jsonl") == ALL


def test_a_fetch_that_ends_as_if_cancelled_fails_its_page_alone(extract: Run, source: batch_stub.Source) -> None:
    def cancel() -> None:
        raise asyncio.CancelledError

    source.after = {4: cancel}
    result = batch(extract)
    assert (result.code, len(result.records)) == (1, N - 1)
    assert "given up by the browser" in result.err


def test_a_page_that_is_listed_twice_runs_once(extract: Run, source: batch_stub.Source) -> None:
    Path("list.txt").write_text("page0001.html\npage0001.html\n./page0001.html")
    result = batch(extract)
    assert (result.records, len(source.fetched)) == ([ALL[1]], 1)
    assert "note: 2 pages were listed more than once" in result.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--to", "out.xlsx"), "none of -"),
        (("--to", "gone/out.csv"), "cannot be written"),
        (("--to", "out.csv", "--key", "ean"), "cannot be keyed by 'ean'"),
        (("--to", "sqlite:////proc/none/x.db"), "cannot be written"),
        (("--ledger", "sqlite:////proc/none/x.db"), "check --ledger"),
        (("--report", "gone/report.json"), "cannot be written"),
        (("--concurrency", "0"), "--concurrency"),
        (("--sources", "nonsense"), "no draft source"),
        (("--retry-failed",), "name it with --resume"),
        (("--resume", "last"), "keeps its schema"),
    ],
)
def test_a_wrong_call_is_found_out_before_any_work(
    extract: Run, source: batch_stub.Source, args: tuple[str, ...], message: str
) -> None:
    result = batch(extract, *args)
    assert (result.code, result.out, source.fetched) == (2, "", [])
    assert message in result.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--schema", "Invoice"), "No list was named"),
        (("list.txt",), "add --schema"),
        (("gone.txt", "--schema", "Invoice"), "gone.txt cannot be read"),
        (("--resume", "last"), "has no run 'last'"),
    ],
)
def test_a_call_that_lacks_something_says_what(extract: Run, args: tuple[str, ...], message: str) -> None:
    result = extract("batch", *args)
    assert (result.code, message in result.err) == (2, True)


def test_a_list_with_lines_that_are_no_pages_is_refused_whole(extract: Run, source: batch_stub.Source) -> None:
    Path("list.txt").write_text("page0001.html\nshop.example\n")
    result = batch(extract)
    assert (result.code, source.fetched) == (2, [])
    assert "line 2: " in result.err


def test_what_no_page_could_survive_ends_the_run_and_nothing_is_lost(
    extract: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> Any:
        raise ModelNotFound("There is no model x.")

    with monkeypatch.context() as patch:
        patch.setattr("lookstruct.pipeline.extractor._load_reader", fail)
        result = batch(extract, "--to", "out.jsonl")
    assert result.code == 4
    assert "Go on with: extract batch --resume" in result.err
    assert "pages    0 done, 0 failed, 12 left of 12" in result.err
    assert extract("batch", "--resume", "last").code == 0
    assert lines_of("out.jsonl") == ALL


@pytest.mark.parametrize("to", ["out.jsonl", "out.csv"])
def test_a_full_disk_at_the_sink_stops_cleanly_and_loses_nothing(
    extract: Run, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    fsync, calls = os.fsync, iter(range(100))

    def fill(descriptor: int) -> None:
        if next(calls) >= 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fill)
        result = batch(extract, "--to", to)
    assert result.code == 5
    assert "No space left on device" in result.err.splitlines()[-1]
    assert "Go on with" in result.err
    assert "Traceback" not in result.err
    result = extract("batch", "--resume", "last")
    assert (result.code, "12 done, 0 failed, 0 left" in result.err) == (0, True)
    assert len(set(Path(to).read_text().splitlines())) == N + (to == "out.csv")
    assert len(Path(to).read_text().splitlines()) == N + (to == "out.csv")


def test_a_database_that_is_lost_stops_cleanly(
    extract: Run, source: batch_stub.Source, postgres: Server, postgres_url: str
) -> None:
    name = postgres_url.partition("?")[0].rpartition("/")[2]
    source.after = {6: lambda: postgres.sql(f"DROP DATABASE {name} WITH (FORCE)")}
    for arguments in (("--to", postgres_url), ("--to", "out.jsonl", "--ledger", postgres_url)):
        result = batch(extract, *arguments, "--concurrency", "1")
        assert result.code == 5
        assert "what was done is kept" in result.err.splitlines()[-1]
        assert "Traceback" not in result.err
        source.fetched.clear()
        postgres.sql(f"CREATE DATABASE {name}")


def test_a_run_goes_on_when_the_lost_database_is_back(
    extract: Run, source: batch_stub.Source, postgres: Server, postgres_url: str
) -> None:
    source.after = {6: postgres.stop}
    try:
        assert batch(extract, "--to", postgres_url, "--concurrency", "1").code == 5
    finally:
        postgres.start()
    assert extract("batch", "--resume", "last").code == 0
    assert sorted(prices_in(postgres_url)) == [record["price"] for record in ALL]


def test_a_record_that_the_sink_cannot_hold_fails_its_page_alone(extract: Run) -> None:
    Path("page0002.html").write_text(f"<h1>Lamp 2</h1><p>{2**70}</p>")
    schema = "name: str, price: int"
    for number in (n for n in range(N) if n != 2):
        Path(f"page{number:04}.html").write_text(f"<h1>Lamp {number}</h1><p>{number}</p>")
    result = extract("batch", "list.txt", "--schema", schema, "--to", "sqlite:///out.db", "--lenient")
    assert result.code == 1
    assert "pages    11 done, 1 failed, 0 left of 12" in result.err
    assert "64 bits" in result.err


@pytest.mark.parametrize("to", ["out.json", "out.parquet"])
def test_files_that_are_written_whole_have_the_order_of_the_list(extract: Run, to: str) -> None:
    assert batch(extract, "--to", to, "--concurrency", "8").code == 0
    if to == "out.json":
        assert json.loads(Path(to).read_text()) == ALL
    else:
        import pyarrow.parquet as pq

        assert pq.read_table(to, columns=["name", "price"]).to_pylist() == ALL


def test_options_that_a_resumed_run_is_not_given_are_as_they_were(extract: Run) -> None:
    Path("page0003.html").write_text("missing")
    batch(extract, "--to", "out.jsonl", "--evidence", "--seed", "7")
    Path("page0003.html").write_text("<h1>Lamp 3</h1><p>3.5</p>")
    assert extract("batch", "--resume", "last", "--retry-failed").code == 0
    assert [set(line) for line in map(json.loads, Path("out.jsonl").read_text().splitlines())] == [
        {"data", "evidence", "meta"}
    ] * N


def test_a_resumed_run_goes_on_from_another_folder(
    extract: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("page0003.html").write_text("missing")
    batch(extract, "--to", "out.jsonl")
    Path("page0003.html").write_text("<h1>Lamp 3</h1><p>3.5</p>")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert extract("batch", "--resume", "last", "--to", "out.jsonl").code == 2
    assert extract("batch", "--resume", "last", "--to", "../out.jsonl").code == 1
    assert extract("batch", "--resume", "last", "--retry-failed").code == 0
    assert lines_of(str(tmp_path / "out.jsonl")) == ALL


def test_a_resumed_run_keeps_its_sink_and_its_schema(extract: Run) -> None:
    Path("mine.json").write_text('{"properties": {"name": {"type": "string"}, "price": {"type": "number"}}}')
    extract("batch", "list.txt", "--schema", "mine.json", "--to", "out.jsonl")
    assert "writes to" in extract("batch", "--resume", "last", "--to", "other.jsonl").err
    Path("mine.json").write_text('{"properties": {"name": {"type": "string"}}}')
    result = extract("batch", "--resume", "last")
    assert (result.code, "has changed since" in result.err) == (2, True)


def test_a_list_that_has_grown_adds_its_new_pages(extract: Run) -> None:
    paths = Path("list.txt").read_text().splitlines()
    Path("list.txt").write_text("\n".join(paths[:5]))
    batch(extract, "--to", "out.jsonl")
    Path("list.txt").write_text("\n".join(paths))
    assert extract("batch", "list.txt", "--resume", "last").code == 0
    assert lines_of("out.jsonl") == ALL


def test_fetching_runs_ahead_of_reading_but_not_without_bounds(
    extract: Run, source: batch_stub.Source, reader: batch_stub.Reader
) -> None:
    most_ahead = 0

    def look() -> None:
        nonlocal most_ahead
        most_ahead = max(most_ahead, len(source.fetched) - reader.n_read)

    reader.before = look
    reader.thinks_s = 0.02
    batch(extract, "--concurrency", "2")
    assert 2 <= most_ahead <= 2 + 2 + 1  # being fetched, waiting in the queue, being read


def test_runs_are_listed_the_newest_first(extract: Run) -> None:
    batch(extract, "--to", "first.jsonl")
    Path("page0003.html").write_text("missing")
    batch(extract, "--to", "postgresql://me:secret@127.0.0.1:1/x")
    batch(extract, "--to", "second.jsonl")
    second, first = extract("runs", "list").out.splitlines()
    assert "11 done    1 failed      0 left" in second
    assert second.endswith("second.jsonl")
    assert first.endswith("first.jsonl")


@pytest.mark.parametrize("to", ["again.jsonl", "again.csv", "again.json", "sqlite:///again.db"])
def test_a_run_is_exported_to_another_sink(extract: Run, source: batch_stub.Source, to: str) -> None:
    batch(extract, "--to", "out.jsonl")
    source.fetched.clear()
    assert extract("runs", "export", "last", "--to", to).code == 0
    assert source.fetched == []
    if to == "again.jsonl":
        assert [json.loads(line) for line in Path(to).read_text().splitlines()] == ALL
    elif to.startswith("sqlite"):
        assert sorted(prices_in("sqlite:///again.db")) == [record["price"] for record in ALL]
    else:
        assert Path(to).read_text().count("Lamp") == N


def test_a_run_that_is_removed_is_forgotten_and_its_output_stays(extract: Run) -> None:
    batch(extract, "--to", "out.jsonl")
    run = extract("runs", "list").out.split()[0]
    assert extract("runs", "remove", run).code == 0
    assert extract("runs", "list").out == ""
    assert lines_of("out.jsonl") == ALL


class Terminal(io.StringIO):
    """A standard error that people look at."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_a_bar_shows_pages_speed_and_failures(extract: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    Path("page0003.html").write_text("missing")
    batch(extract, "--to", "out.jsonl")
    text = terminal.getvalue()
    assert "12/12" in text
    assert "tokens/s, 4.0 a forward, 1 failed" in text
