"""Never slower: whatever drafts do, a request stays within its bound under the cost curve."""

from __future__ import annotations

import random

import pytest
import tiny
from drafts import VOCABULARY
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.decoding.account import CREDIT, RATE, Account, Forward
from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.cost import CostModel, Curve
from lookstruct.decoding.replay import Replay
from lookstruct.decoding.request import Candidate, Hints, Options
from lookstruct.decoding.sources import SOURCES
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest, DraftSource

FLAT = CostModel.assumed(0.0)
STEEP = CostModel.assumed(0.9)
CURVES = {"flat": FLAT, "assumed": CostModel.assumed(), "steep": STEEP}


def test_before_anything_was_saved_two_forwards_may_be_lost() -> None:
    cost = CostModel(Curve((1, 11), (1.0, 2.0)), Curve((1,), (0.0,)))
    assert Account().allowance(cost, 1, 0, wide=True) == pytest.approx(1 + RATE + CREDIT)


def test_what_good_drafts_save_may_be_spent() -> None:
    cost = CostModel(Curve((1, 11), (1.0, 2.0)), Curve((1,), (0.0,)))
    account = Account()
    account.book(cost, Forward(1, 0, 11, 1), choices=10, wide=0)
    assert account.spent == pytest.approx(2.0)
    assert account.plain == pytest.approx(10.0)
    assert account.speed_up == pytest.approx(5.0)
    assert account.allowance(cost, 1, 0, wide=True) == pytest.approx((1 + RATE) * 11 + CREDIT - 2)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 8)), max_size=60), st.sampled_from(sorted(CURVES)))
def test_who_keeps_to_the_allowance_keeps_the_bound(steps: list[tuple[int, int]], name: str) -> None:
    cost, account = CURVES[name], Account()
    for wanted, choices in steps:
        rows = next(
            n for n in range(1 + wanted, 0, -1) if n == 1 or cost.seconds(n) <= account.allowance(cost, 1, 0, wide=True)
        )
        account.book(cost, Forward(1, 0, rows, 1), choices, choices)
        assert account.spent <= (1 + RATE) * account.plain + CREDIT * cost.seconds(1) + 1e-9


WORDS = ["anvil", "bolt", "copper", "drill", "engine", "flange", "gasket", "hinge", "iron", "joint"]


def nonsense(seed: int, n: int) -> str:
    """Text in which nothing predicts what comes next."""
    drawn = random.Random(seed)
    return " ".join(drawn.choice(WORDS) + str(drawn.randrange(10**6)) for _ in range(n))


@pytest.mark.parametrize("curve", sorted(CURVES))
@pytest.mark.parametrize("seed", range(4))
def test_text_that_nothing_predicts_costs_at_most_three_percent_more(curve: str, seed: int) -> None:
    """Counted forwards and rows under the curve, with a page full of words that look right and are not."""
    cost = CURVES[curve]
    truth = tuple(tiny.tokenizer().encode(nonsense(seed, 60)))
    hints = Hints(page=nonsense(seed + 100, 400))
    stats = {}
    for mode in ("auto", "autoregressive"):
        replay = Replay(VOCABULARY, cost)
        replay.recording.token_ids = (*truth, 2)
        replay.cost  # noqa: B018  known from the start, so that both are booked
        made = replay.generate([5, 6, 7], hints=hints, options=Options(mode=mode, max_new_tokens=len(truth) + 5))  # type: ignore[arg-type]
        assert tuple(made.token_ids) == (*truth, 2)
        stats[mode] = made.stats
    assert len(truth) >= 100
    assert stats["autoregressive"].modelled_s == pytest.approx(stats["auto"].modelled_plain_s, rel=1e-6)
    assert stats["auto"].modelled_s <= 1.03 * stats["autoregressive"].modelled_s


def test_hostile_candidates_cannot_make_a_record_cost_more() -> None:
    schema = {
        "type": "object",
        "properties": {f"field_{i}": {"type": "string"} for i in range(12)},
        "required": [f"field_{i}" for i in range(12)],
        "additionalProperties": False,
    }
    text = "{" + ", ".join(f'"field_{i}": "{nonsense(i, 2)}"' for i in range(12)) + "}"
    lies = tuple(Candidate(nonsense(i, 2), "line", 10 * i, f"field_{j}") for i in range(20, 60) for j in range(12))
    truth = tuple(tiny.tokenizer().encode(text))
    replay = Replay(VOCABULARY, STEEP)
    replay.recording.token_ids = truth
    hints = Hints(page=nonsense(99, 300), candidates=lies, schema=schema)
    made = replay.generate([5, 6], grammar=Grammar.json_schema(schema), hints=hints, options=Options())
    stats = made.stats
    assert made.text == text
    assert stats.modelled_s <= (1 + RATE) * stats.modelled_plain_s + CREDIT * STEEP.seconds(1) + 1e-9


class Liar(DraftSource):
    """Says with the greatest confidence what never comes, each time as another kind, so that no calibration learns."""

    name = "liar"

    def __init__(self, request: DraftRequest) -> None:
        """It needs nothing to lie."""

    def observe(self, context: DraftContext, n_new: int) -> None:
        """It learns nothing."""

    def propose(self, context: DraftContext) -> list[Draft]:
        n = len(context.token_ids)
        return [Draft(text=f"~{n}~ is a lie {'and ' * 20}".encode(), p=0.98, q=0.98, kind=f"lie {n}")]


@pytest.mark.parametrize("curve", ["assumed", "steep"])
def test_a_source_that_lies_at_every_token_is_not_paid_for(curve: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOURCES, "liar", Liar)
    truth = tuple(tiny.tokenizer().encode(nonsense(7, 60)))
    spent = {}
    for mode in ("auto", "lookahead"):
        replay = Replay(VOCABULARY, CURVES[curve])
        replay.recording.token_ids = (*truth, 2)
        options = Options(mode=mode, sources=("liar",), max_new_tokens=len(truth) + 5)  # type: ignore[arg-type]
        stats = replay.generate([5, 6, 7], options=options).stats
        spent[mode] = stats.modelled_s / stats.modelled_plain_s
    assert spent["auto"] <= 1.03
    assert spent["lookahead"] > 1.1, "without the bound the lies are paid for: this test can fail"
