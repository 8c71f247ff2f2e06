from collections.abc import Callable
from typing import Any

import pytest
import tiny
from pipeline_fakes import Decoder, reader

from lookstruct.pipeline import doctor
from lookstruct.pipeline.doctor import Finding, examine
from lookstruct.pipeline.settings import Settings
from lookstruct.schemas.errors import BrowserUnavailable, ModelNotFound


@pytest.fixture
def without_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_browse", lambda: "rendered")


def with_model(monkeypatch: pytest.MonkeyPatch, load: Callable[[Settings], Any]) -> list[Finding]:
    monkeypatch.setattr("lookstruct.pipeline.extractor._load_reader", load)
    return list(examine(Settings()))


@pytest.mark.usefixtures("without_browser")
def test_when_all_works_every_finding_is_ok_and_the_record_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    load = reader(Decoder('{"name": "Brass lamp", "price": 45.5}'), tiny.tokenizer(), meta={"model": "tiny"})
    findings = with_model(monkeypatch, lambda _: load())
    names = [finding.name for finding in findings]
    assert names == ["software", "machine", "browser", "decoder", "model", "model", "advice", "run"]
    assert [finding.exit_code for finding in findings] == [0] * 8
    assert findings[6].text.startswith("use --model ")
    assert findings[-1].text.startswith("tiny read a page right: 12 tokens in 3 forwards")
    assert "torch 2." in findings[0].text
    assert '{"ok": ' in findings[3].text


@pytest.mark.usefixtures("without_browser")
def test_a_model_that_reads_wrong_or_is_missing_fails_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    load = reader(Decoder('{"name": "Tin lamp", "price": 45.5}'), tiny.tokenizer(), meta={"model": "tiny"})
    assert (with_model(monkeypatch, lambda _: load())[-1].exit_code) == 1

    def missing(_: Settings) -> Any:
        raise ModelNotFound("no model")

    run = with_model(monkeypatch, missing)[-1]
    assert (run.exit_code, run.line) == (4, "FAIL  run       no model")


def test_a_missing_browser_fails_with_its_code_and_the_report_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise BrowserUnavailable("no Chromium")

    monkeypatch.setattr(doctor, "_browse", missing)
    load = reader(Decoder('{"name": "Brass lamp", "price": 45.5}'), tiny.tokenizer(), meta={"model": "tiny"})
    findings = with_model(monkeypatch, lambda _: load())
    assert [(f.name, f.exit_code) for f in findings if f.exit_code] == [("browser", 3)]
    assert findings[-1].name == "run"


@pytest.mark.browser
def test_the_browser_is_tried_with_a_page_that_needs_javascript() -> None:
    assert doctor._browse().startswith("rendered a page with JavaScript in")
