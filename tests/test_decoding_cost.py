"""The cost curve: measured in turns, monotone, corrected by what forwards really took."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.decoding.account import Forward
from lookstruct.decoding.cost import POINTS, ROUNDS, CostModel, Curve, measure
from lookstruct.decoding.live_cost import ENOUGH, EVERY, LiveCost

SECONDS = st.floats(0.001, 10.0)


class Clock:
    """A clock that only work moves on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def working(clock: Clock, seconds: dict[int, list[float]]) -> object:
    """Work that takes for `n` rows the next of its `seconds`."""

    def run(n: int) -> None:
        clock.now += seconds[n].pop(0) if len(seconds[n]) > 1 else seconds[n][0]

    return run


def test_the_fastest_of_all_rounds_counts() -> None:
    clock = Clock()
    body = working(clock, {n: [9.0, 0.01 * n, 5.0] for n in POINTS})
    head = working(clock, {n: [0.001] for n in POINTS})
    cost = measure(body, head, limit_s=1e9, clock=clock)  # type: ignore[arg-type]
    assert cost.body.seconds == pytest.approx([0.01 * n for n in POINTS])


def test_a_slow_machine_measures_fewer_points_and_still_rises() -> None:
    clock = Clock()
    body = working(clock, {n: [float(n)] for n in POINTS})
    head = working(clock, {n: [0.0] for n in POINTS})
    cost = measure(body, head, limit_s=3.5, clock=clock)  # type: ignore[arg-type]
    assert cost.body.rows == (1, 2, 4)
    assert cost.body(64) == pytest.approx(64.0)


def test_few_rows_are_timed_again_though_many_rows_took_all_the_time() -> None:
    clock = Clock()
    body = working(clock, {n: [1.0 if n <= 4 else 0.01 * n, 0.01 * n] for n in POINTS})
    head = working(clock, {n: [0.0] for n in POINTS})
    cost = measure(body, head, limit_s=5.7, clock=clock)  # type: ignore[arg-type]
    assert cost.body.rows == POINTS  # the first round alone took all of it
    assert cost.body(1) == pytest.approx(0.01)
    assert clock.now < 5.7 * 1.25


@given(st.lists(SECONDS, min_size=len(POINTS), max_size=len(POINTS)))
def test_noise_never_makes_more_rows_cheaper(seconds: list[float]) -> None:
    clock = Clock()
    body = working(clock, {n: [s] * ROUNDS for n, s in zip(POINTS, seconds, strict=True)})
    cost = measure(body, body, limit_s=1e9, clock=clock)  # type: ignore[arg-type]
    assert all(cost.seconds(n) <= cost.seconds(n + 1) + 1e-9 for n in range(1, 140))


@given(st.lists(SECONDS, min_size=2, max_size=6), st.integers(1, 200))
def test_between_points_a_curve_lies_between_them(seconds: list[float], n: int) -> None:
    rows = tuple(2**i for i in range(len(seconds)))
    curve = Curve(rows, tuple(sorted(seconds)))
    around = [s for (a, s), (b, t) in pairwise(zip(rows, curve.seconds, strict=True)) if a <= n <= b for s in (s, t)]
    if around:
        assert min(around) - 1e-9 <= curve(n) <= max(around) + 1e-9


def test_longer_contexts_cost_more_for_each_row() -> None:
    cost = CostModel(Curve((1,), (1.0,)), Curve((1,), (0.0,)), per_key=0.001)
    assert cost.seconds(4, 100) == pytest.approx(1.4)


def test_what_a_curve_loses_for_its_context_is_at_most_half() -> None:
    assert Curve((1, 10), (1.0, 2.0)).less(0.3).seconds == (0.7, 1.0)


def live() -> LiveCost:
    return LiveCost(CostModel(Curve((1, 8, 16), (1.0, 2.0, 4.0)), Curve((1,), (0.0,))))


def test_forwards_correct_the_curve_where_they_were_run() -> None:
    cost = live()
    for _ in range(EVERY):
        cost.observe(Forward(1, 0, 1, 1), 1.0)
        cost.observe(Forward(1, 0, 8, 1), 6.0)
    assert cost.model.seconds(1) == pytest.approx(1.0)
    assert cost.model.seconds(8) == pytest.approx(6.0)
    assert cost.model.seconds(16) == pytest.approx(12.0), "sizes that were never run go by the nearest that was"


def test_one_forward_that_was_held_up_says_nothing() -> None:
    cost = live()
    for seconds in (1.0, 1.0, 50.0, 1.0, 1.0, 1.0, 1.0, 1.0):
        cost.observe(Forward(1, 0, 1, 1), seconds)
    assert cost.model.seconds(1) == pytest.approx(1.0)


def test_few_forwards_are_not_believed() -> None:
    cost = live()
    for _ in range(ENOUGH - 1):
        cost.observe(Forward(1, 0, 16, 1), 100.0)
    for _ in range(EVERY):
        cost.observe(Forward(1, 0, 1, 1), 1.0)
    assert cost.model.seconds(16) == pytest.approx(4.0)


def test_a_curve_of_a_busy_hour_is_found_out() -> None:
    cost = live()
    for _ in range(2 * EVERY):
        cost.observe(Forward(1, 0, 1, 1), 0.4)
    assert cost.is_belied
    slower = live()
    for _ in range(2 * EVERY):
        slower.observe(Forward(1, 0, 1, 1), 3.0)
    assert not slower.is_belied, "a machine that is busy now does not mean that it was idle by mistake"


def test_rows_that_are_filled_up_cost_what_the_full_size_costs() -> None:
    cost = CostModel(Curve((1, 16, 24), (1.0, 2.0, 4.0)), Curve((1,), (0.0,)), sizes=(1, 8, 16, 24))
    assert cost.seconds(9) == cost.seconds(16)
    assert cost.seconds(17) == cost.seconds(24)
    assert cost.seconds(16) < cost.seconds(17)
    assert cost.seconds(100) > cost.seconds(24), "larger ones are taken as they are"
