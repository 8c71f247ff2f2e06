"""`extract jobs`, job files, and who is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from jobs_bench import START, job
from pipeline_fakes import LAMP, LAMP_SCHEMA, Decoder, Source, reader
from tiny import tokenizer

from lookstruct import cli
from lookstruct.extractors.options import FetchOptions
from lookstruct.pipeline import extractor as extractor_module
from lookstruct.pipeline.jobs.jobfile import read_jobs, sync
from lookstruct.pipeline.jobs.notify import Notifier
from lookstruct.pipeline.jobs.posting import poster
from lookstruct.pipeline.jobs.store import JobStore
from lookstruct.schemas.errors import UsageError

TOML = """
[[job]]
name = "lamps"
url = "https://shop.example/lamp"
schema = "name: str, price: float"
cron = "0 6 * * 1-5"
timezone = "Europe/Berlin"
to = "lamps.jsonl"

[[job]]
name = "chairs"
url = ["https://shop.example/1", "https://shop.example/2"]
schema = "name: str"
every = "1h30m"
fetch = { wait = "load", timeout_s = 10 }
"""


class Cli:
    """The command line on a database of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.url, self._capsys = f"sqlite:///{folder / 'jobs.db'}", capsys

    def __call__(self, *args: str, code: int = 0) -> tuple[str, str]:
        assert cli.run(["jobs", *args, "--db", self.url]) == code
        captured = self._capsys.readouterr()
        return captured.out, captured.err


@pytest.fixture
def jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(extractor_module, "_open_browser", lambda _: Source(LAMP))
    monkeypatch.setattr(extractor_module, "_load_reader", lambda _: reader(Decoder(), tokenizer())())
    return Cli(tmp_path, capsys)


ADD = ("add", "lamps", "--url", "https://shop.example/lamp", "--schema", LAMP_SCHEMA)


def test_a_job_is_added_run_paused_shown_and_removed(jobs: Cli, tmp_path: Path):
    jobs(*ADD, "--every", "6h", "--to", "x.jsonl", "--key", "name")
    _, err = jobs("start", "--once")
    assert "lamps: done, 1 new or changed" in err
    assert json.loads((tmp_path / "x.jsonl").read_text()) == {"name": "Brass lamp", "price": 45.5}
    assert "every 6h" in jobs("list")[0]
    jobs("run", "lamps")
    history = jobs("history", "lamps")[0].splitlines()
    assert "done, try 1, 1 records, 0 new or changed, by hand" in history[0]
    assert "done, try 1, 1 records, 1 new or changed" in history[1]
    assert "Brass lamp  first seen" in jobs("diff", "lamps")[0]
    jobs("pause", "lamps")
    assert "paused by hand" in jobs("list")[0]
    jobs("unpause", "lamps")
    shown = json.loads(jobs("show", "lamps")[0])
    assert (shown["every"], shown["key"], shown["state"]["paused"]) == ("6h", ["name"], False)
    assert shown["to"] == str(tmp_path / "x.jsonl")
    jobs("remove", "lamps")
    assert jobs("list")[0] == ""


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ((), "a job needs one of every and cron"),
        (("--every", "6h", "--cron", "0 6 * * *"), "a job needs one of every and cron"),
        (("--cron", "0 0 31 4 *"), "is not valid"),
        (("--every", "soon"), "no length of time"),
        (("--every", "6h", "--to", "x.txt"), "'.*x.txt' is none of"),
        (("--every", "6h", "--to", "no/such/folder/x.jsonl"), "cannot be written"),
        (("--every", "6h", "--timezone", "Mars/Olympus"), "no time zone"),
        (("--every", "6h", "--on", "sometimes"), "on: "),
        (("--every", "6h", "--url", "shop.example"), "neither an existing file nor a URL"),
        (("--every", "6h", "--schema", "Invoic"), "no built-in schema"),
    ],
)
def test_what_could_never_run_is_refused_before_it_is_kept(jobs: Cli, more: tuple[str, ...], part: str):
    import re

    _, err = jobs(*ADD, *more, code=2)
    assert re.search(part, err)
    assert jobs("list")[0] == ""


def test_a_job_keeps_how_its_pages_are_fetched(jobs: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source = Source(LAMP)
    monkeypatch.setattr(extractor_module, "_open_browser", lambda _: source)
    how = ("--wait", "load", "--timeout", "20", "--proxy", "http://127.0.0.1:3128", "--allow-private", "a.lan,b.lan")
    jobs(*ADD, "--every", "6h", "--retries", "4", "--storage-state", "login.json", "--open", *how)
    shown = json.loads(jobs("show", "lamps")[0])
    assert (shown["retries"], shown["fetch"]["storage_state"]) == (4, str(tmp_path / "login.json"))
    jobs("run", "lamps", "--delay", "3")
    options = source.options[0]
    assert options is not None
    assert (options.wait, options.timeout_s, options.proxy) == ("load", 20.0, "http://127.0.0.1:3128")
    assert (options.allow_private, options.open_folds, options.delay_s) == (("a.lan", "b.lan"), True, 3.0)
    assert options.retries == FetchOptions().retries


def test_a_page_option_of_a_job_that_cannot_be_is_refused(jobs: Cli):
    assert "--wait" in jobs(*ADD, "--every", "6h", "--wait", "forever", code=2)[1]
    assert jobs("list")[0] == ""


def test_a_job_that_failed_ends_a_run_by_hand_with_one(jobs: Cli, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(extractor_module, "_load_reader", lambda _: reader(Decoder("no json"), tokenizer())())
    jobs(*ADD, "--every", "6h")
    _, err = jobs("run", "lamps", code=1)
    assert "is no JSON" in err
    jobs("run", "chairs", code=2)


def test_a_job_file_is_kept_in_step(jobs: Cli, tmp_path: Path):
    file = tmp_path / "jobs.toml"
    file.write_text(TOML)
    assert jobs("sync", "jobs.toml", "--dry-run")[0].split() == ["add", "lamps", "add", "chairs"]
    assert jobs("list")[0] == ""
    jobs("sync", "jobs.toml")
    assert jobs("sync", "jobs.toml")[0] == ""
    file.write_text(TOML.replace("1h30m", "2h").replace('name = "lamps"', 'name = "lights"'))
    assert jobs("sync", "jobs.toml")[0].splitlines() == ["add lights", "change chairs", "remove lamps"]


def test_jobs_of_others_are_left_alone_by_a_file(jobs: Cli, tmp_path: Path):
    jobs(*ADD, "--every", "6h")
    (tmp_path / "jobs.toml").write_text(TOML)
    assert "was added by hand" in jobs("sync", "jobs.toml", code=2)[1]


def test_toml_and_yaml_say_the_same(tmp_path: Path):
    import tomllib

    import yaml

    (tmp_path / "a.toml").write_text(TOML)
    (tmp_path / "a.yaml").write_text(yaml.safe_dump({"jobs": tomllib.loads(TOML)["job"]}))
    assert read_jobs(tmp_path / "a.toml") == read_jobs(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("a.toml", "[[job]]\nname = ", "no valid TOML"),
        ("a.toml", "x = 1", "holds no list of jobs"),
        ("a.toml", '[[job]]\nname = "a"\nurl = "u"\nschema = "s"\nevery = "1h"\nevry = 2', "setting 'evry'"),
        ("a.toml", '[[job]]\nname = "a"\nurl = "u"\nschema = "s"\ncron = "x"', "has 1 fields"),
        ("a.yaml", "jobs: [1]", "1 is no job"),
        ("a.yaml", "jobs: {", "no valid YAML"),
        ("a.ini", "", "none of .toml, .yaml and .yml"),
        ("a.toml", TOML + TOML, "two jobs 'lamps'"),
    ],
)
def test_a_faulty_job_file_is_named_with_its_fault(tmp_path: Path, name: str, text: str, part: str):
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=part) as caught:
        read_jobs(tmp_path / name)
    assert name in str(caught.value)


def test_a_missing_job_file_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match=r"no\.toml cannot be read"):
        read_jobs(tmp_path / "no.toml")


def test_sync_keeps_the_history_of_a_changed_job(tmp_path: Path):
    store = JobStore(f"sqlite:///{tmp_path / 'jobs.db'}")
    sync([job(every="1h")], store, "f", START)
    assert store.claim_now("lamps", "w", START, 2 * (START - START)) is not None
    sync([job(every="2h")], store, "f", START)
    assert len(store.history("lamps")) == 1
    store.close()


async def test_a_command_gets_the_event_on_standard_input(tmp_path: Path):
    said: list[str] = []
    program = f"{sys.executable} -c \"import sys; open(r'{tmp_path / 'out'}', 'w').write(sys.stdin.read())\""
    tell = Notifier(poster(FetchOptions()), said.append)
    await tell(job(notify=[program]), "failed", ["down"])
    told = json.loads((tmp_path / "out").read_text())
    assert (told["job"], told["event"], told["lines"], said) == ("lamps", "failed", ["down"], [])


async def test_a_webhook_gets_the_event_and_redirects_are_not_followed():
    told: list[Any] = []

    async def hook(request: web.Request) -> web.Response:
        told.append(await request.json())
        return web.Response()

    async def away(request: web.Request) -> web.Response:
        del request
        raise web.HTTPFound("/hook")

    app = web.Application()
    app.add_routes([web.post("/hook", hook), web.post("/away", away)])
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}"
        said: list[str] = []
        tell = Notifier(poster(FetchOptions()), said.append)
        await tell(job(notify=[f"{base}/hook", f"{base}/away"]), "changed", ["/price: 1 -> 2"])
    finally:
        await runner.cleanup()
    assert [(t["job"], t["event"], t["lines"]) for t in told] == [("lamps", "changed", ["/price: 1 -> 2"])]
    assert len(said) == 1
    assert "status 302" in said[0]


async def test_a_failure_to_tell_is_said_and_no_more():
    said: list[str] = []
    await Notifier(poster(FetchOptions()), said.append)(job(notify=["exit 3"]), "failed", [])
    assert said == ["lamps: exit 3 could not be told of 'failed' (the command ended with code 3)."]
