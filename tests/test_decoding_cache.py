"""A cache that was compacted holds what a forward over the kept tokens alone would have written."""

from __future__ import annotations

import random

import numpy as np
import pytest
import tiny
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lookstruct.decoding.cache import GROWTH, KVCache
from lookstruct.decoding.prefix import SHORTEST, PrefixPool
from lookstruct.decoding.runner import Rows, Runner
from lookstruct.decoding.tree import ROOT, DraftTree, Node, lay_out

RUNNERS = {family: Runner(tiny.model(family)) for family in ("llama", "gpt2", "gemma3")}


def tree_of(pick: random.Random, n: int) -> DraftTree:
    tree = DraftTree()
    for i in range(n):
        parent = pick.randrange(ROOT, i) if i else ROOT
        depth = 1 if parent == ROOT else tree.nodes[parent].depth + 1
        tree.add(Node(10 + pick.randrange(5) + 5 * i, parent, depth, 0.5, 0.5, None, "page"))
    return tree


def recomputed(runner: Runner, token_ids: list[int]) -> KVCache:
    cache = KVCache()
    runner.prefill(cache, token_ids)
    return cache


@settings(max_examples=25, deadline=None)
@given(family=st.sampled_from(sorted(RUNNERS)), seed=st.integers(0, 9999), steps=st.integers(1, 4))
def test_compaction_is_recomputation(family: str, seed: int, steps: int) -> None:
    """Random trees, a random path of each accepted: keys and values are those of the plain text, slot by slot."""
    runner, pick = RUNNERS[family], random.Random(seed)
    cache = recomputed(runner, [pick.randrange(3, 500) for _ in range(pick.randrange(1, 40))])
    for _ in range(steps):
        tree = tree_of(pick, pick.randrange(0, 12))
        pending = [pick.randrange(3, 500) for _ in range(pick.randrange(1, 4))]
        rows = lay_out(pending, cache.length, tree)
        runner.hidden(cache, rows)
        path = tree.path(pick.randrange(ROOT, len(tree)))
        kept = [*range(len(pending)), *(len(pending) + node for node in path)]
        cache.commit([rows.token_ids[i] for i in kept], kept)
    fresh = recomputed(runner, list(cache.token_ids))
    assert len(cache.buffers) == len(fresh.buffers)
    for mine, other in zip(cache.buffers, fresh.buffers, strict=True):
        n = cache.length
        assert mine.length == other.length == n
        torch.testing.assert_close(mine.keys[:, :, :n], other.keys[:, :, :n], atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(mine.values[:, :, :n], other.values[:, :, :n], atol=1e-6, rtol=1e-5)


def rows_of(n: int, start: int) -> torch.Tensor:
    return torch.arange(start, start + n, dtype=torch.float64).reshape(1, 1, n, 1).expand(1, 2, n, 3)


@settings(deadline=None)
@given(before=st.integers(0, 300), n=st.integers(1, 40), data=st.data())
def test_kept_rows_move_to_the_front_and_the_rest_is_forgotten(before: int, n: int, data: st.DataObject) -> None:
    cache = KVCache()
    if before:
        cache.update(rows_of(before, 0), -rows_of(before, 0), 0)
        cache.commit(list(range(before)), range(before))
    cache.update(rows_of(n, before), -rows_of(n, before), 0)
    kept = sorted(data.draw(st.sets(st.integers(0, n - 1))))
    cache.commit([before + row for row in kept], kept)
    layer, length = cache.buffers[0], before + len(kept)
    truth = [*range(before), *(before + row for row in kept)]
    assert cache.length == layer.length == length
    assert cache.token_ids == truth
    assert layer.keys[0, 0, :length, 0].tolist() == truth
    assert layer.values[0, 1, :length, 2].tolist() == [-float(t) for t in truth]


def test_buffers_grow_by_steps_and_keep_what_they_hold() -> None:
    cache, moves = KVCache(), 0
    address = 0
    for start in range(0, 3000, 7):
        keys, _ = cache.update(rows_of(7, start), rows_of(7, start), 0)
        cache.commit([0] * 7, range(7))
        moves += keys.data_ptr() != address
        address = keys.data_ptr()
    assert keys[0, 0, :, 0].tolist() == list(range(start + 7))
    assert moves < 3000 / GROWTH


def test_a_cache_is_cut_without_touching_what_stays() -> None:
    cache = recomputed(RUNNERS["llama"], list(range(5, 50)))
    before = cache.buffers[1].keys[:, :, :20].clone()
    cache.truncate(20)
    assert cache.length == 20 == cache.buffers[0].length
    assert torch.equal(cache.buffers[1].keys[:, :, :20], before)
    cache.truncate(30)
    assert cache.length == 20


@given(shared=st.integers(0, 60), more=st.integers(1, 30))
def test_a_prefix_is_taken_up_where_it_is_long_enough(shared: int, more: int) -> None:
    """What is shared is kept but for the last token, which a step has to evaluate; else the buffers are reused."""
    pool = PrefixPool()
    first = pool.take([1] * 10)
    first.update(rows_of(80, 0), rows_of(80, 0), 0)
    first.commit([*range(100, 100 + shared), *range(300, 380 - shared)], range(80))
    pool.give(first, 75)
    assert first.length == 75
    prompt = [*range(100, 100 + shared), *([9] * more)]
    again = pool.take(prompt)
    assert again is first, "its buffers would have been dropped"
    assert again.length == (shared if shared >= SHORTEST else 0)
    assert pool.take(prompt) is not first, "one cache never serves two sequences"


def test_prefill_stops_between_chunks_when_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [0]
    runner = RUNNERS["llama"]
    hidden = runner.hidden
    monkeypatch.setattr(runner, "hidden", lambda c, r: (calls.__setitem__(0, calls[0] + 1), hidden(c, r))[1])
    cache = KVCache()
    runner.prefill(cache, [5] * 1100, lambda: calls[0] == 2)
    assert (calls[0], cache.length) == (2, 1024)


def test_rows_of_a_chain_see_what_stands_before_them() -> None:
    rows = Rows.chain([4, 5, 6], 10)
    assert rows.positions.tolist() == [10, 11, 12]
    assert np.array_equal(rows.visible, np.tri(3, dtype=bool))
