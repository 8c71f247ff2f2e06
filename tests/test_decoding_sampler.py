"""Draws follow the exact distribution, filters keep what they say, ties go to the lowest id."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lookstruct.decoding.request import Options
from lookstruct.decoding.sampler import Sampler, gumbel

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0, 0.5, 1.5], dtype=torch.float64)
DRAWS = 4000


def kept(options: Options) -> np.ndarray:
    """The exact distribution after temperature, top-k, top-p and min-p, by the textbook."""
    probs = torch.softmax(LOGITS / options.temperature, -1).numpy()
    order = np.argsort(-probs, kind="stable")
    keep = np.zeros(len(probs), bool)
    keep[order[: options.top_k or len(probs)]] = True
    probs = np.where(keep, probs, 0) / probs[keep].sum()
    mass = 0.0
    for token in order:
        if mass >= options.top_p and token != order[0]:
            keep[token] = False
        mass += probs[token]
    probs = np.where(keep, probs, 0) / probs[keep].sum()
    keep &= probs >= options.min_p * probs.max()
    return np.where(keep, probs, 0) / probs[keep].sum()


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": 1.0},
        {"temperature": 0.6},
        {"temperature": 1.7, "top_k": 3},
        {"temperature": 1.0, "top_p": 0.7},
        {"temperature": 1.0, "top_p": 0.0},
        {"temperature": 1.3, "min_p": 0.2},
        {"temperature": 1.3, "top_k": 5, "top_p": 0.9, "min_p": 0.1},
    ],
)
def test_draws_follow_the_exact_distribution(options: dict[str, float]) -> None:
    wanted = kept(Options(**options))  # type: ignore[arg-type]
    counts = np.zeros(len(wanted))
    for seed in range(DRAWS):
        sampler = Sampler(Options(**options, seed=seed))  # type: ignore[arg-type]
        counts[sampler.choose(LOGITS, None, seed % 7, ()).token] += 1
    possible = wanted > 0
    assert not counts[~possible].any()
    chi_squared = float(((counts - wanted * DRAWS)[possible] ** 2 / (wanted * DRAWS)[possible]).sum())
    assert chi_squared < 25  # five degrees of freedom at most: one run in 7,000 would exceed it; the seeds are fixed


def test_ties_go_to_the_lowest_id_with_and_without_a_mask() -> None:
    sampler = Sampler(Options())
    tied = torch.tensor([0.0, 3.0, 1.0, 3.0])
    assert sampler.choose(tied, None, 0, ()).token == 1
    assert sampler.choose(tied, np.array([0b1100], np.int32), 0, ()).token == 3
    assert sampler.choose(torch.zeros(4), np.array([0b1100], np.int32), 0, ()).token == 2


def test_noise_depends_on_seed_position_and_token_alone() -> None:
    ids = np.arange(1000)
    noise = gumbel(3, 5, ids)
    assert (gumbel(3, 5, ids[::-1]) == noise[::-1]).all()
    assert not np.allclose(gumbel(3, 6, ids), noise)
    assert not np.allclose(gumbel(4, 5, ids), noise)
    assert abs(float(gumbel(1, 1, np.arange(200_000)).mean()) - 0.5772) < 0.01


def test_penalty_lowers_what_was_seen_before_the_mask_is_read() -> None:
    sampler = Sampler(Options(repetition_penalty=2.0))
    logits = torch.tensor([2.0, 1.5, -1.0])
    assert sampler.choose(logits, None, 0, ()).token == 0
    assert sampler.choose(logits, None, 0, (0,)).token == 1
    assert sampler.choose(logits, np.array([0b101], np.int32), 0, (0,)).token == 0
