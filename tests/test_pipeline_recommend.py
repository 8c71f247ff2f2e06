"""The model that fits a machine's memory."""

from __future__ import annotations

import pytest

from lookstruct.pipeline.recommend import ON_CPU, ON_GPU, Choice, recommend


@pytest.mark.parametrize(
    ("cpu_gb", "gpu_gb", "flags"),
    [
        (64, None, "--model bundled:1.5b"),
        (9, None, "--model bundled:1.5b"),
        (8.9, None, "--model bundled"),
        (2.5, None, "--model bundled --dtype bfloat16"),
        (64, 80, "--model Qwen/Qwen2.5-7B-Instruct"),
        (64, 8, "--model bundled:1.5b"),
        (64, 1, "--model bundled:1.5b"),
    ],
)
def test_the_best_model_that_fits_is_recommended(cpu_gb: float, gpu_gb: float | None, flags: str) -> None:
    choice = recommend(cpu_gb, gpu_gb)
    assert choice is not None
    assert choice.flags == flags


def test_where_nothing_fits_nothing_is_recommended() -> None:
    assert recommend(1.0, 0.5) is None


@pytest.mark.parametrize("choices", [ON_CPU, ON_GPU])
def test_better_models_need_more(choices: tuple[Choice, ...]) -> None:
    needs = [choice.needs_gb for choice in choices]
    assert needs == sorted(needs, reverse=True)
