"""Draft trees: every row sees its ancestors and nothing else, wherever it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.decoding.tree import ROOT, DraftTree, Extra, Node, lay_out


def grown(parents: list[int], *, p: list[float] | None = None) -> DraftTree:
    """A tree whose node i hangs under parents[i] (-1: the root), token ids all different."""
    tree = DraftTree()
    for i, parent in enumerate(parents):
        depth = 1 if parent == ROOT else tree.nodes[parent].depth + 1
        chance = p[i] if p else 1.0 / (i + 2)
        tree.add(Node(100 + i, parent, depth, chance, chance, None, "page"))
    return tree


@st.composite
def parents(draw: Any) -> list[int]:
    n = draw(st.integers(0, 30))
    return [draw(st.integers(ROOT, i - 1)) for i in range(n)]


def ancestors(tree: DraftTree, index: int) -> set[int]:
    found = set[int]()
    while index != ROOT:
        found.add(index)
        index = tree.nodes[index].parent
    return found


@given(shape=parents())
def test_a_node_sees_itself_and_its_ancestors_only(shape: list[int]) -> None:
    tree = grown(shape)
    seen = tree.visible()
    assert [set(np.flatnonzero(seen[i])) for i in range(len(tree))] == [ancestors(tree, i) for i in range(len(tree))]


@given(shape=parents())
def test_a_path_runs_from_the_first_level_down(shape: list[int]) -> None:
    tree = grown(shape)
    for i in range(len(tree)):
        path = tree.path(i)
        assert set(path) == ancestors(tree, i)
        assert [tree.nodes[j].depth for j in path] == list(range(1, len(path) + 1))
        assert path[-1] == i


@given(shape=parents(), pending=st.integers(1, 6), start=st.integers(0, 90), width=st.integers(0, 5))
def test_rows_of_a_forward_stand_and_see_where_they_should(
    shape: list[int], pending: int, start: int, width: int
) -> None:
    """Pending tokens form a chain, nodes see all of it and their ancestors, extra rows see it and each other's."""
    tree = grown(shape)
    extra = Extra([7] * width, np.arange(1, width + 1), np.tri(width, dtype=np.bool_))
    rows = lay_out([5] * pending, start, tree, extra)
    n, last = len(tree), start + pending - 1
    assert rows.token_ids == [5] * pending + [100 + i for i in range(n)] + [7] * width
    assert rows.positions.tolist() == [
        *range(start, start + pending),
        *(last + node.depth for node in tree.nodes),
        *range(last + 1, last + 1 + width),
    ]
    first = pending + n
    for row in range(pending + n + width):
        seen = set(np.flatnonzero(rows.visible[row]).tolist())
        if row < pending:
            assert seen == set(range(row + 1))
        elif row < first:
            assert seen == {*range(pending), *(pending + j for j in ancestors(tree, row - pending))}
        else:
            assert seen == {*range(pending), *range(first, row + 1)}


@given(shape=parents(), size=st.integers(0, 31))
def test_a_cut_keeps_the_first_nodes_and_their_children_entries(shape: list[int], size: int) -> None:
    tree, small = grown(shape), grown(shape[:size])
    tree.cut(size)
    assert tree == small
    for i, node in enumerate(tree.nodes):
        assert tree.child(node.parent, node.token) == i


@given(shape=parents(), node=st.integers(ROOT, 29))
def test_likely_rows_are_the_node_and_descendants_of_it(shape: list[int], node: int) -> None:
    tree = grown(shape)
    if node >= len(tree):
        return
    rows = tree.likely_rows(node)
    assert rows[0] == node
    assert len(set(rows)) == len(rows)
    if node != ROOT:
        assert all(node in ancestors(tree, row) for row in rows)


def test_a_node_has_one_child_for_a_token() -> None:
    tree = grown([ROOT, 0])
    with pytest.raises(AssertionError, match="one child per token"):
        tree.add(Node(101, 0, 2, 0.5, 0.5, None, "page"))
