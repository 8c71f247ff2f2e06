"""The bench for GPUs runs anywhere, on a tiny shape, and counts what it was told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from bench import gpu
from bench.acceptance import Forward, Recorded, load, prompt_lookup, save
from lookstruct.decoding.runner import Runner
from lookstruct.decoding.static.runner import StaticRunner

PAGE = Recorded(
    "page",
    40,
    30,
    0.001,
    {
        "lookahead, 16 nodes": [Forward(3, 16, 9), Forward(1, 0, 1), Forward(2, 12, 13), Forward(1, 5, 4)],
        "prompt lookup": prompt_lookup([1, 2, 3, 4, 5, 6] * 4, [1, 2, 3, 4, 5, 6, 7, 8] * 4)[:6],
    },
)


def test_every_arm_runs_and_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path / "recorded.json", [PAGE, PAGE])
    gpu.main(
        ["--shape", "tiny", "--device", "cpu", "--dtype", "float32", "--recorded", str(tmp_path / "recorded.json"),
         "--tokens", "12"]
    )  # fmt: skip
    out = capsys.readouterr().out
    arms = [line.split("|")[1].strip() for line in out.splitlines() if line.startswith("| ")]
    assert arms == [
        *("arm", "autoregressive", "autoregressive, fixed shapes", "lookahead, 16 nodes, fixed shapes"),
        *("transformers generate", "prompt lookup (its acceptance replayed)"),
        *("t(n) in ms behind 1024 tokens", "launched one by one", "fixed shapes"),
    ]


def test_a_replayed_page_has_the_tokens_and_the_text_that_were_recorded() -> None:
    model = gpu.build("tiny", "cpu", torch.float32)
    for runner in (Runner(model), StaticRunner(model)):
        speed = gpu.replay(runner, PAGE, "lookahead, 16 nodes")
        assert (speed.tokens, speed.forwards) == (9 + 2 + 1 + 13 + 1 + 4, 4)
        cache = runner.new_cache()
        runner.prefill(cache, list(range(40)))
        for forward in PAGE.policies["lookahead, 16 nodes"]:
            gpu.step(runner, cache, forward, gpu.n_words(runner))
        assert cache.length == 40 + speed.tokens


def test_accepted_nodes_form_one_path_and_the_others_stand_alone() -> None:
    forward = Forward(2, 9, 4)
    path = gpu.on_path(forward)
    rows = gpu.lay_out(forward, path, 100)
    assert len(path) == 3
    assert rows.positions[path].tolist() == [102, 103, 104]
    assert rows.positions[:2].tolist() == [100, 101]
    assert bool((rows.visible == (rows.visible & np.tri(11, dtype=bool))).all())
    others = [i for i in range(2, 11) if i not in path]
    assert rows.visible[others].sum(1).tolist() == [3] * 6


def test_prompt_lookup_accepts_what_repeats_and_writes_every_token() -> None:
    output = [5, 1, 2, 3, 4, 9]
    steps = prompt_lookup([1, 2, 3, 4, 5], output)
    assert sum(step.accepted for step in steps) == len(output)
    assert max(step.accepted for step in steps) >= 3


def test_recorded_pages_are_read_as_they_were_written(tmp_path: Path) -> None:
    save(tmp_path / "pages.json", [PAGE])
    assert load(tmp_path / "pages.json") == [PAGE]
