"""Plans: likeliest first, within budget and price, pruned by the grammar, whatever the sources say."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from drafts import VOCABULARY, after
from hypothesis import given, settings
from hypothesis import strategies as st

from lookstruct.decoding.calibration import Calibration
from lookstruct.decoding.constraint import Constraint, Grammar
from lookstruct.decoding.cost import CostModel, Curve
from lookstruct.decoding.planner import FLOOR, MAX_NODES, Budget, Offer, Planner, calibrated
from lookstruct.decoding.sources.base import Draft
from lookstruct.decoding.tree import ROOT, DraftTree

PLANNER = Planner(VOCABULARY)
GRAMMAR = Grammar.json_schema(
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "ok": {"type": "boolean"}, "kind": {"enum": ["steel", "bolt"]}},
        "required": ["name", "ok", "kind"],
        "additionalProperties": False,
    }
)
PLACES = ("", '{"name": "', '{"name": "Steel bolt', '{"name": "Nut", "ok": true')
FREE = CostModel.free()
STATES = {place: after(GRAMMAR, place) for place in PLACES}


def offer(text: str | bytes = b"", p: float = 0.5, q: float = 0.95, tokens: tuple[int, ...] = ()) -> Offer:
    data = text.encode() if isinstance(text, str) else text
    return Offer("page", Draft(text=data, tokens=tokens, p=p, q=q), p, q)


@st.composite
def offers(draw: Any) -> list[Offer]:
    pieces = ['{"name": "', "Steel bolt M8", 'Nut", "ok": true, "kind": "bolt"}', "12.50", '", "ok": false', "é東", "x"]
    text = st.lists(st.sampled_from(pieces), min_size=1, max_size=3).map("".join)
    chance = st.floats(0.01, 0.98)
    spoken = st.builds(offer, text, chance, chance)
    listed = st.builds(lambda ids, p, q: offer(b"", p, q, tuple(ids)), st.lists(st.integers(0, 519), min_size=1, max_size=9), chance, chance)  # fmt: skip  # noqa: E501
    made: list[Offer] = draw(st.lists(spoken | listed, max_size=8))
    return made


def plan(root: Constraint | None, some: list[Offer], budget: Budget, depth: int = 64) -> DraftTree:
    return PLANNER.plan(root, (), some, budget, depth)


def fixed(nodes: int) -> Budget:
    return Budget(FREE, 1, 0, nodes)


@settings(max_examples=60, deadline=None)
@given(some=offers(), nodes=st.integers(0, 40), depth=st.integers(1, 12), place=st.sampled_from([None, *PLACES]))
def test_a_tree_never_exceeds_its_nodes_or_depth(some: list[Offer], nodes: int, depth: int, place: str | None) -> None:
    root = None if place is None else STATES[place]
    tree = plan(root, some, fixed(nodes), depth)
    assert len(tree) <= nodes
    assert all(1 <= node.depth <= depth for node in tree.nodes)
    for i, node in enumerate(tree.nodes):
        assert node.parent < i
        assert node.depth == (1 if node.parent == ROOT else tree.nodes[node.parent].depth + 1)
        assert FLOOR <= node.p <= (1.0 if node.parent == ROOT else tree.nodes[node.parent].p) + 1e-9
    assert all(a.p >= b.p - 1e-9 for a, b in zip(tree.nodes, tree.nodes[1:], strict=False)), "best first"


@settings(max_examples=60, deadline=None)
@given(some=offers(), place=st.sampled_from(PLACES))
def test_every_node_is_what_the_grammar_allows_after_its_path(some: list[Offer], place: str) -> None:
    root = STATES[place]
    assert root is not None
    tree = plan(root, some, fixed(60))
    for i, node in enumerate(tree.nodes):
        state = root.fork()
        for j in tree.path(i):
            assert state.allows(tree.nodes[j].token)
            if tree.nodes[j].token in VOCABULARY.eos_ids:
                break
            state.advance(tree.nodes[j].token)
        forced = (root if node.parent == ROOT else tree.nodes[node.parent].constraint).forced()  # type: ignore[union-attr]
        assert (node.gain == 0.0) == (forced is not None)


@settings(max_examples=60, deadline=None)
@given(some=offers(), place=st.sampled_from([None, *PLACES]))
def test_chances_of_siblings_leave_room_for_something_else(some: list[Offer], place: str | None) -> None:
    tree = plan(None if place is None else STATES[place], some, fixed(60))
    for parent in {node.parent for node in tree.nodes}:
        total = sum(node.p for node in tree.nodes if node.parent == parent)
        assert total <= (1.0 if parent == ROOT else tree.nodes[parent].p) + 1e-9


def rate(tree: DraftTree, size: int, cost: CostModel) -> float:
    """Expected tokens a second of the first `size` nodes, without a grammar."""
    kept = tree.nodes[:size]
    looked = 1.0 + sum(node.p for node in kept)
    return (1 + sum(node.gain for node in kept)) / cost.seconds(1 + size, 0, round(looked))


@settings(max_examples=60, deadline=None)
@given(some=offers(), slope=st.floats(0.0, 1.5), limit=st.floats(0.5, 4.0) | st.just(inf))
def test_the_tree_that_is_kept_has_the_best_price_and_can_be_afforded(
    some: list[Offer], slope: float, limit: float
) -> None:
    """No other first part of the same tree would have given more tokens a second within the limit."""
    cost = CostModel(Curve((1, 201), (1.0, 1.0 + 200 * slope)), Curve((1, 201), (0.1, 0.1 + 20 * slope)))
    whole = plan(None, some, fixed(MAX_NODES))
    kept = plan(None, some, Budget(cost, 1, 0, None, limit))
    assert [n.token for n in kept.nodes] == [n.token for n in whole.nodes[: len(kept)]]
    looked = 1 + sum(node.p for node in kept.nodes)
    assert len(kept) == 0 or cost.seconds(1 + len(kept), 0, round(looked)) <= limit
    affordable = [
        size
        for size in range(1, len(whole) + 1)
        if cost.seconds(1 + size, 0, round(1 + sum(n.p for n in whole.nodes[:size]))) <= limit
    ]
    assert rate(whole, len(kept), cost) >= max((rate(whole, size, cost) for size in [0, *affordable]), default=0) - 1e-9


def test_nothing_is_drafted_where_every_row_costs_a_forward() -> None:
    cost = CostModel(Curve((1, 2), (1.0, 2.0)), Curve((1, 2), (0.1, 0.2)))
    assert len(plan(None, [offer("Steel bolt M8", 0.9)], Budget(cost, 1, 0))) == 0


def test_drafts_that_begin_alike_share_their_nodes() -> None:
    one = plan(None, [offer("Steel bolt M8", 0.4)], fixed(60))
    both = plan(None, [offer("Steel bolt M8", 0.4), offer("Steel bolt M9", 0.3)], fixed(60))
    first = both.nodes[0]
    assert first.p > one.nodes[0].p
    assert first.p == pytest.approx(0.7, abs=0.05)
    assert sum(node.parent == ROOT for node in both.nodes) == 1
    assert len(both) < 2 * len(one)


def test_what_the_grammar_forces_carries_a_draft_along_and_costs_no_gain() -> None:
    root = after(GRAMMAR, '{"name": "Nut", "ok": ')
    assert root is not None
    tree = plan(root, [offer('true, "kind": "steel"}', 0.9)], fixed(60))
    text = VOCABULARY.decode([tree.nodes[i].token for i in tree.path(len(tree) - 1)])
    assert text == b'true, "kind": "steel"}'
    assert sum(node.gain == 0.0 for node in tree.nodes) >= 2


def test_a_source_that_was_wrong_is_trusted_less() -> None:
    calibration = Calibration()
    draft = Draft(text=b"Steel", p=0.8)
    before = calibrated("page", [draft], calibration)[0].p
    for _ in range(10):
        calibration.observe("page", "", 0.8, 0, broke=True)
    assert calibrated("page", [draft], calibration)[0].p < before / 2
    assert calibrated("schema", [draft], calibration)[0].p == before


def test_empty_drafts_are_no_offers() -> None:
    assert calibrated("page", [Draft(), Draft(text=b"x")], Calibration())[0].draft.text == b"x"
    assert len(plan(None, [], fixed(9))) == 0
