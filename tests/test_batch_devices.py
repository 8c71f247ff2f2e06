"""A batch with a model on each of several devices: the same output, each page once."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import batch_stub
import pytest
import tiny
import torch

from lookstruct import cli
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.request import Options
from lookstruct.pipeline.batch.report import report_of
from lookstruct.pipeline.batch.running import Batch, Step
from lookstruct.pipeline.batch.start import begin
from lookstruct.pipeline.devices import devices_of, on_device
from lookstruct.pipeline.extractor import Extractor
from lookstruct.pipeline.reader import Reader
from lookstruct.pipeline.settings import Settings
from lookstruct.pipeline.storage.ledger import open_ledger
from lookstruct.schemas.errors import ModelNotFound, UsageError

N = 16
ALL = [batch_stub.record_of(number) for number in range(N)]


class Devices:
    """A made-up model for each device; `fault` keeps the second one from being loaded."""

    def __init__(self) -> None:
        self.readers: list[batch_stub.Reader] = []
        self.names: list[str] = []
        self.fault: Exception | None = None
        self.both = threading.Barrier(2, timeout=60)

    def load(self, settings: Settings) -> batch_stub.Reader:
        self.names.append(settings.model.device)
        if self.fault is not None and len(self.names) > 1:
            raise self.fault
        reader = batch_stub.Reader()
        reader.before = lambda: self._meet(reader)
        self.readers.append(reader)
        return reader

    def _meet(self, reader: batch_stub.Reader) -> None:
        """The first page of each waits for the other's: they are read at the same time, or not at all."""
        if reader.n_read == 0 and self.fault is None:
            self.both.wait()


@pytest.fixture
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Devices:
    found = Devices()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_, **__: tmp_path / "home")
    monkeypatch.setattr("platformdirs.user_state_path", lambda *_, **__: tmp_path / "state")
    monkeypatch.setattr("lookstruct.pipeline.extractor._open_browser", lambda _: batch_stub.Source())
    monkeypatch.setattr("lookstruct.pipeline.extractor._load_reader", found.load)
    (tmp_path / "list.txt").write_text("\n".join(batch_stub.write_pages(tmp_path, N)))
    return found


def batch(*more: str) -> int:
    return cli.run(["batch", "list.txt", "--schema", batch_stub.SCHEMA, "--to", "out.jsonl", *more])


def lines() -> list[Any]:
    return sorted(map(json.loads, Path("out.jsonl").read_text().splitlines()), key=lambda line: line["price"])


def test_two_devices_read_at_once_and_every_page_is_there_once(devices: Devices) -> None:
    assert batch("--devices", "cpu,cpu", "--report", "report.json") == 0
    assert devices.names == ["cpu", "cpu"]
    assert [reader.n_read > 0 for reader in devices.readers] == [True, True]
    assert sum(reader.n_read for reader in devices.readers) == N
    assert lines() == ALL
    report = json.loads(Path("report.json").read_text())
    assert report["pages"] == {"total": N, "waiting": 0, "done": N, "failed": 0}
    assert report["costs"]["new_tokens"] == 12 * N


@pytest.mark.usefixtures("devices")
def test_each_page_is_reported_once_however_many_readers_there_are(tmp_path: Path) -> None:
    settings = Settings.model_validate({"output": {"to": "out.jsonl"}, "batch": {"devices": "cpu,cpu"}})
    ledger, seen = open_ledger(f"sqlite:///{tmp_path}/ledger.db"), list[Step]()
    Path("page0003.html").write_text("missing")
    Path("page0005.html").write_text("broken")
    with Extractor(settings=settings) as extractor:
        started = begin(ledger, "list.txt", batch_stub.SCHEMA, settings, {})
        job = Batch(ledger, started.run, started.schema, started.sink, started.position, watch=seen.append)
        extractor.run(job.work)
    assert sorted(step.page.number for step in seen) == list(range(N))
    assert [step.page.number for step in sorted(seen, key=lambda step: step.page.number) if step.error] == [3, 5]
    assert report_of(ledger, started.run.id).counts.failed == 2
    ledger.close()


def test_a_device_whose_model_cannot_be_had_stops_the_run_and_it_can_be_gone_on_with(devices: Devices) -> None:
    devices.fault = ModelNotFound("There is no model x.")
    assert batch("--devices", "cpu,cpu") == 4
    devices.fault = None
    assert cli.run(["batch", "--resume", "last"]) == 0
    assert lines() == ALL


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--devices", "cpu,quantum"), "There is no device 'quantum'"),
        (("--devices", "cpu", "--device", "cpu"), "give one of them"),
    ],
)
def test_a_device_that_cannot_be_is_found_out_before_any_work(
    devices: Devices, args: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert batch(*args) == 2
    assert message in capsys.readouterr().err
    assert devices.names == []
    assert not Path("out.jsonl").exists()


def test_all_stands_for_every_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.model_validate({"batch": {"devices": "all"}})
    monkeypatch.setattr("torch.cuda.device_count", lambda: 3)
    assert [on_device(settings, name).model.device for name in devices_of(settings)] == ["cuda:0", "cuda:1", "cuda:2"]
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    with pytest.raises(UsageError, match="torch sees none"):
        devices_of(settings)


def test_two_real_engines_at_once_write_what_one_alone_writes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The decoder keeps nothing that two threads would share."""
    monkeypatch.chdir(tmp_path)
    n_threads = torch.get_num_threads()

    def load(_: Settings) -> Reader:
        engine = Engine(tiny.model("llama", dtype=torch.float64), tiny.tokenizer())
        return Reader(engine, tiny.tokenizer(), options=Options(max_new_tokens=48, nodes=8, reserve=24))

    monkeypatch.setattr("lookstruct.pipeline.extractor._load_reader", load)
    monkeypatch.setattr("lookstruct.pipeline.extractor._open_browser", lambda _: batch_stub.Source())
    names = ("Brass lamp", "Oak chair", "Tin box", "Iron bell")
    for number, name in enumerate(names):
        (tmp_path / f"{number}.html").write_text(f"<title>Shop</title><h1>{name}</h1><p>Article AB-{number}")
    Path("list.txt").write_text("".join(f"{number}.html\n" for number in range(len(names))))
    try:
        torch.set_num_threads(1)
        found = [_records(name, devices) for name, devices in (("one", "cpu"), ("two", "cpu,cpu"))]
    finally:
        torch.set_num_threads(n_threads)
    assert len(found[0]) == len(names)
    assert found[1] == found[0]


def _records(name: str, devices: str) -> list[Any]:
    args = ["--to", f"{name}.jsonl", "--evidence", "--memory", "off", "--ledger", f"sqlite:///{name}.db"]
    code = cli.run(["batch", "list.txt", "--schema", "name: line, article: line", "--devices", devices, *args])
    assert code == 0
    found = [json.loads(line) for line in Path(f"{name}.jsonl").read_text().splitlines()]
    return sorted(([line["meta"]["url"], line["data"], line["evidence"]] for line in found), key=lambda one: one[0])
