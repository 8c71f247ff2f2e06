"""The cost curve is measured once, kept on disk, and has a line of its own in the stats."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny

from lookstruct.decoding import engine as engine_module
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.request import Options
from lookstruct.decoding.runner import Runner

PROMPT = tiny.tokenizer()("Steel bolt M8, 4.50 EUR.\n")["input_ids"]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What was measured so far, one entry a time; a measurement lasts 100 s of a clock that otherwise hardly moves."""
    now, done = [0.0], list[bool]()

    def measure(_: Runner) -> CostModel:
        now[0] += 100.0
        done.append(True)
        return CostModel.assumed()

    def clock() -> float:
        now[0] += 1e-6
        return now[0]

    monkeypatch.setattr(engine_module, "cost_model", measure)
    monkeypatch.setattr(engine_module.time, "perf_counter", clock)
    return done


def test_measuring_is_no_part_of_prefill_and_decoding(measured: list[bool]) -> None:
    engine = Engine(tiny.model("llama"), tiny.tokenizer())
    first, second = (engine.generate(PROMPT, options=Options(max_new_tokens=8)).stats for _ in range(2))
    assert first.measuring_s == pytest.approx(100.0)
    assert second.measuring_s == 0.0
    assert first.prefill_s + first.decode_s < 1.0
    assert len(measured) == 1


@pytest.mark.parametrize("options", [Options(mode="autoregressive"), Options(nodes=8)])
def test_nothing_is_measured_where_nothing_is_bought(options: Options, measured: list[bool]) -> None:
    Engine(tiny.model("llama"), tiny.tokenizer()).generate(PROMPT, options=options)
    assert not measured


def test_a_curve_is_read_back_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKSTRUCT_CACHE", str(tmp_path))
    first = Engine(tiny.model("llama"), tiny.tokenizer()).cost
    assert list((tmp_path / "costs").iterdir())
    assert Engine(tiny.model("llama"), tiny.tokenizer()).cost == first
