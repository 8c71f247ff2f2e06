import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny
from pipeline_fakes import LAMP, LAMP_SCHEMA, Decoder, Source, reader

from lookstruct import cli
from lookstruct.schemas.builtin import BUILTIN
from lookstruct.schemas.errors import FetchTimeout, ModelNotFound

URL = "https://shop.example/lamp"
RECORD = {"name": "Brass lamp", "price": 45.5}


class Result:
    """What one command line did."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code, self.out, self.err = code, out.decode("utf-8"), err.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line that says what went wrong."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1
        assert self.err.splitlines()[-1] == lines[0]
        return lines[0].removeprefix("error: ")


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def decoder() -> Decoder:
    return Decoder()


@pytest.fixture
def extract(
    source: Source,
    decoder: Decoder,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Callable[..., Result]:
    """Runs a command line with a made-up browser and model, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_, **__: tmp_path / "home")
    monkeypatch.setattr("lookstruct.pipeline.extractor._open_browser", lambda _: source)
    load: dict[str, Any] = {"settings": None}

    def load_reader(settings: Any) -> Any:
        load["settings"] = settings
        return reader(decoder, tiny.tokenizer(), options=settings.decode.options())()

    monkeypatch.setattr("lookstruct.pipeline.extractor._load_reader", load_reader)

    def run(*args: str) -> Result:
        code = cli.run(args)
        captured = capfdbinary.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.mark.parametrize("args", [(URL, "--schema", LAMP_SCHEMA), ("--url", URL, "--schema", LAMP_SCHEMA)])
def test_the_record_is_the_only_thing_on_standard_output(
    extract: Callable[..., Result], source: Source, args: tuple[str, ...]
) -> None:
    result = extract(*args)
    assert (result.code, result.json) == (0, RECORD)
    assert result.out == json.dumps(RECORD, indent=2) + "\n"
    assert source.fetched == [URL]


def test_a_summary_of_one_line_goes_to_standard_error(extract: Callable[..., Result]) -> None:
    lines = extract(URL, "--schema", LAMP_SCHEMA).err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("12 tokens in 3 forwards (4.0 a forward), ")


def test_evidence_prints_data_evidence_and_meta(extract: Callable[..., Result]) -> None:
    full = extract(URL, "--schema", LAMP_SCHEMA, "--evidence").json
    assert list(full) == ["data", "evidence", "meta"]
    assert full["data"] == RECORD
    assert full["evidence"]["/name"] == {
        "status": "exact",
        "start": full["evidence"]["/name"]["start"],
        "end": full["evidence"]["/name"]["start"] + 10,
        "text": "Brass lamp",
        "dom_path": "html > body > h1",
        "confidence": full["evidence"]["/name"]["confidence"],
    }
    assert full["meta"]["url"] == URL


def test_stats_are_written_as_json_with_the_promised_names(extract: Callable[..., Result], tmp_path: Path) -> None:
    assert extract(URL, "--schema", LAMP_SCHEMA, "--stats", "stats.json").json == RECORD
    stats = json.loads((tmp_path / "stats.json").read_text())
    promised = (
        "prompt_tokens new_tokens forced_tokens forwards tokens_per_forward prefill_s decode_s grammar_s token_ids"
    )
    assert set(promised.split()) <= set(stats)
    assert (stats["new_tokens"], stats["tokens_per_forward"]) == (12, 4.0)


def test_to_a_file_leaves_standard_output_empty(extract: Callable[..., Result], tmp_path: Path) -> None:
    for name in ("out.json", "out.jsonl", "out.jsonl"):
        assert extract(URL, "--schema", LAMP_SCHEMA, "--to", name).out == ""
    assert json.loads((tmp_path / "out.json").read_text()) == RECORD
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [RECORD] * 2


def test_html_from_a_file_is_read_without_a_browser_and_url_is_its_base(
    extract: Callable[..., Result], source: Source, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(LAMP)
    result = extract("--html", "page.html", "--url", "https://a.example/", "--schema", LAMP_SCHEMA)
    assert result.code == 0
    assert source.fetched == [str(tmp_path / "page.html")]
    options = source.options[0]
    assert options is not None
    assert (options.render, options.base_url) == (False, "https://a.example/")


def test_html_may_come_from_standard_input(extract: Callable[..., Result], source: Source) -> None:
    assert extract("--html", "-", "--schema", LAMP_SCHEMA).code == 0
    assert source.fetched == ["-"]


def test_options_reach_the_decoder(extract: Callable[..., Result], decoder: Decoder) -> None:
    options = "--decoding lookahead --sources window,page --nodes 9 --window 8,4,6 --max-new-tokens 99 "
    extract(URL, "--schema", LAMP_SCHEMA, *(options + "--temperature 0.5 --seed 3").split())
    used = decoder.options[0]
    assert (used.mode, used.sources, used.nodes) == ("lookahead", ("window", "page"), 9)
    assert used.window is not None
    assert (used.window.W, used.window.N, used.window.G) == (8, 4, 6)
    assert (used.max_new_tokens, used.temperature, used.seed) == (99, 0.5, 3)


def test_a_settings_file_is_read_and_flags_win_over_it(
    extract: Callable[..., Result], decoder: Decoder, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text("[decode]\nseed = 1\nmax_new_tokens = 50")
    extract(URL, "--schema", LAMP_SCHEMA, "--config", "mine.toml", "--seed", "2")
    assert (decoder.options[0].seed, decoder.options[0].max_new_tokens) == (2, 50)


USAGE_ERRORS = [
    ((URL,), "add --schema"),
    (("--schema", "Invoice"), "No page was named: name one URL or file, or pass HTML with --html"),
    ((URL, "--url", URL, "--schema", "Invoice"), "Both .* were given"),
    ((URL, "--html", "-", "--schema", "Invoice"), "give one of them"),
    (("shop.example/lamp", "--schema", "Invoice"), "did you mean https://shop.example/lamp"),
    (("gone.html", "--schema", "Invoice"), "neither an existing file nor a URL"),
    (("--html", "gone.html", "--schema", "Invoice"), "gone.html does not exist"),
    ((URL, "--schema", "Invoise"), "did you mean Invoice"),
    ((URL, "--schema", '{"type": 3}'), "JSON Schema is invalid"),
    ((URL, "--schema", '{"type": "object", "properties": {"x": {"not": {}}}}'), "'?not'?"),
    ((URL, "--schema", '{"type": "string", "minLength": 5, "maxLength": 2}'), "minLength|impossible|nothing"),
    ((URL, "--schema", "Invoice", "--to", "gone/out.json"), "cannot be written"),
    ((URL, "--schema", "Invoice", "--to", "out.xlsx"), "none of -, a .json, .jsonl"),
    ((URL, "--schema", "Invoice", "--stats", "gone/stats.json"), "cannot be written"),
    ((URL, "--schema", "Invoice", "--max-new-tokens", "0"), "--max-new-tokens: .*greater than or equal to 1"),
    ((URL, "--schema", "Invoice", "--window", "8,4"), "--window: .*three whole numbers W,N,G"),
    ((URL, "--schema", "Invoice", "--decoding", "quick"), "--decoding: "),
    ((URL, "--schema", "Invoice", "--sources", "page,pages"), "no draft source 'pages'"),
    ((URL, "--schema", "Invoice", "--config", "gone.toml"), "gone.toml does not exist"),
    ((URL, "--schema", "Invoice", "--colour"), "No such option.* See extract --help"),
    ((URL, "extra", "--schema", "Invoice"), "unexpected extra argument.* See extract --help"),
    (("schemas", "show", "Invoise"), "did you mean Invoice"),
    (("models", "prepare", "bundled:9b"), "9b"),
]


@pytest.mark.parametrize(("args", "message"), USAGE_ERRORS, ids=[" ".join(args)[-50:] for args, _ in USAGE_ERRORS])
def test_a_wrong_call_is_one_sentence_before_any_work(
    extract: Callable[..., Result], source: Source, decoder: Decoder, args: tuple[str, ...], message: str
) -> None:
    result = extract(*args)
    assert result.code == (4 if args[0] == "models" else 2)
    assert result.out == ""
    assert "Traceback" not in result.err
    assert re.search(message, result.error)
    assert (source.opened, decoder.prompts) == (0, [])


def test_a_page_that_cannot_be_had_is_exit_code_3(extract: Callable[..., Result], source: Source) -> None:
    source.error = FetchTimeout("the page did not answer: raise timeout_s")
    result = extract(URL, "--schema", LAMP_SCHEMA)
    assert (result.code, result.out, result.error) == (3, "", "the page did not answer: raise timeout_s")


def test_a_model_that_cannot_be_had_is_exit_code_4(
    extract: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> Any:
        raise ModelNotFound("no model x")

    monkeypatch.setattr("lookstruct.pipeline.extractor._load_reader", fail)
    result = extract(URL, "--schema", LAMP_SCHEMA)
    assert (result.code, result.out, result.error) == (4, "", "no model x")


def test_a_record_that_cannot_be_made_valid_is_exit_code_1_and_its_text_is_not_lost(
    extract: Callable[..., Result], decoder: Decoder
) -> None:
    decoder.text = '{"name": "Brass lamp", "price": "dear"}'
    result = extract(URL, "--schema", LAMP_SCHEMA)
    assert (result.code, result.out) == (1, "")
    assert "/price" in result.error
    assert decoder.text in result.err


def test_an_unforeseen_failure_is_exit_code_70_and_asks_to_be_reported(
    extract: Callable[..., Result], source: Source
) -> None:
    source.error = ZeroDivisionError("division by zero")
    result = extract(URL, "--schema", LAMP_SCHEMA)
    assert (result.code, result.out) == (70, "")
    assert "ZeroDivisionError: division by zero" in result.error
    assert "Traceback" not in result.err


def test_verbose_adds_the_traceback(extract: Callable[..., Result], source: Source) -> None:
    source.error = FetchTimeout("too slow")
    result = extract(URL, "--schema", LAMP_SCHEMA, "--verbose")
    assert "Traceback (most recent call last)" in result.err
    assert (result.code, result.error) == (3, "too slow")


def test_ctrl_c_is_exit_code_130_with_the_browser_closed(extract: Callable[..., Result], source: Source) -> None:
    source.error = KeyboardInterrupt()  # type: ignore[assignment]
    source.fetch = _interrupt  # type: ignore[method-assign]
    result = extract(URL, "--schema", LAMP_SCHEMA)
    assert (result.code, result.out, result.err) == (130, "", "Interrupted.\n")
    assert source.closed == source.opened == 1


async def _interrupt(*_: Any) -> Any:
    import _thread
    import asyncio

    _thread.interrupt_main()
    await asyncio.sleep(30)


class Terminal(io.StringIO):
    """A standard error that people look at."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_standard_error_shows_what_is_going_on(
    extract: Callable[..., Result], source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    source.delay_s = 0.3
    result = extract(URL, "--schema", LAMP_SCHEMA)
    assert result.json == RECORD
    assert "fetching the page" in terminal.getvalue()
    assert "12 tokens in 3 forwards" in terminal.getvalue().splitlines()[-1]


def test_where_standard_error_is_no_terminal_nothing_moves(extract: Callable[..., Result], source: Source) -> None:
    source.delay_s = 0.3
    assert "\x1b" not in extract(URL, "--schema", LAMP_SCHEMA).err


def test_notes_go_to_standard_error(extract: Callable[..., Result], decoder: Decoder) -> None:
    decoder.finish = "closed"
    result = extract(URL, "--schema", LAMP_SCHEMA)
    assert result.json == RECORD
    assert result.err.splitlines()[0].startswith("note: The record was closed early")


def test_schemas_are_listed_and_shown(extract: Callable[..., Result]) -> None:
    listed = extract("schemas", "list")
    assert [line.split()[0] for line in listed.out.splitlines()] == list(BUILTIN)
    shown = extract("schemas", "show", "Invoice").json
    assert "total" in shown["properties"]


def test_models_are_listed_with_their_state(extract: Callable[..., Result]) -> None:
    out = extract("models", "list").out
    assert [line.split()[0] for line in out.splitlines()] == ["bundled:0.5b", "bundled:1.5b"]


def test_version_is_printed(extract: Callable[..., Result]) -> None:
    result = extract("--version")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("lookstruct 0.")


def command(*args: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "lookstruct", *args], capture_output=True, timeout=60, **options)


@pytest.mark.parametrize("args", [(), ("--help",)])
def test_help_names_every_option_and_command_within_80_columns(args: tuple[str, ...]) -> None:
    done = command(*args, env={**os.environ, "COLUMNS": "80"})
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert max(map(len, text.splitlines())) <= 80
    for word in ("--url", "--html", "--schema", "--model", "--device", "--dtype", "--decoding", "--max-new-tokens"):
        assert word in text
    for word in ("--evidence", "--stats", "--to", "--lenient", "--config", "--verbose", "--seed", "doctor"):
        assert word in text


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from lookstruct.cli import run; run(['--help']);"
        "heavy = {'torch', 'transformers', 'playwright', 'outlines', 'llguidance', 'bs4', 'pydantic_settings'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert done.stderr.decode().strip() == "[]"


def test_importing_the_package_is_light() -> None:
    code = "import sys, lookstruct; print(len([m for m in sys.modules if m.startswith('lookstruct')]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert int(done.stdout) <= 3  # the package, and the finder of an editable install


def test_the_package_offers_its_public_names() -> None:
    import lookstruct

    for name in lookstruct.__all__:
        assert getattr(lookstruct, name) is not None
    assert set(lookstruct.__all__) <= set(dir(lookstruct))
    with pytest.raises(AttributeError, match="no attribute 'Extracter'"):
        lookstruct.Extracter  # noqa: B018


def test_standard_output_is_utf8_on_a_console_that_is_not() -> None:
    code = (
        "from lookstruct.pipeline.commands.console import print_result, say;"
        "from lookstruct.pipeline.output import to_json;"
        "print_result(to_json({'price': '5 €', 'name': 'ランプ'})); say('note: ランプ')"
    )
    env = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True, env=env)
    assert json.loads(done.stdout.decode("utf-8")) == {"price": "5 €", "name": "ランプ"}
    assert b"\\u30e9" in done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    code = "import sys; from lookstruct.cli import run; sys.exit(run(['schemas', 'show', 'Invoice']))"
    pipe = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}
    )
    assert pipe.stdout is not None
    pipe.stdout.close()
    _, err = pipe.communicate(timeout=60)
    assert (pipe.returncode, err) == (0, b"")


def test_a_trace_is_drawn_even_when_no_valid_record_comes_out(
    extract: Callable[..., Result], decoder: Decoder, tmp_path: Path
) -> None:
    assert extract(URL, "--schema", LAMP_SCHEMA, "--trace", "decode.html").json == RECORD
    assert (tmp_path / "decode.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    (tmp_path / "decode.html").unlink()
    decoder.text = "{"
    assert extract(URL, "--schema", LAMP_SCHEMA, "--trace", "decode.html").code == 1
    assert (tmp_path / "decode.html").exists()
    assert "cannot be written" in extract(URL, "--schema", LAMP_SCHEMA, "--trace", "gone/decode.html").error
