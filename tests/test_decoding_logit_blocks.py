"""Logits are computed for the rows the walk will likely look at, and for no row that is passed without a look."""

from __future__ import annotations

from lookstruct.decoding.logit_blocks import LogitBlocks
from lookstruct.decoding.tree import ROOT, DraftTree, Node


def chain(*probabilities: float, narrow: tuple[int, ...] = ()) -> DraftTree:
    tree = DraftTree()
    for i, p in enumerate(probabilities):
        tree.add(Node(10 + i, i - 1, i + 1, p, p, None, "page", wide=i not in narrow))
    return tree


def test_without_drafts_only_the_root_is_computed() -> None:
    blocks = LogitBlocks(DraftTree(), (2, 4, 16))
    assert blocks.needed(ROOT) == [ROOT]
    assert blocks.needed(ROOT) == []
    assert blocks.n_rows == 1


def test_a_sure_chain_is_computed_at_once() -> None:
    blocks = LogitBlocks(chain(*[0.95] * 9), (2, 4, 16))
    assert blocks.needed(ROOT) == [ROOT, *range(9)]
    assert all(blocks.needed(i) == [] for i in range(9))


def test_an_unlikely_chain_is_computed_a_little_at_a_time() -> None:
    blocks = LogitBlocks(chain(0.4, 0.3, 0.28, 0.26), (2, 4, 16))
    assert blocks.needed(ROOT) == [ROOT, 0, 1, 2]
    assert blocks.n_rows == 4


def test_rows_behind_which_few_tokens_are_legal_are_not_computed() -> None:
    blocks = LogitBlocks(chain(0.9, 0.9, 0.9, 0.9, narrow=(0, 1)), (2, 4, 16))
    assert blocks.needed(ROOT) == [ROOT, 2, 3]


def test_a_row_that_was_left_out_is_computed_when_it_is_looked_at() -> None:
    blocks = LogitBlocks(chain(0.9, 0.1, 0.09), (2,))
    assert blocks.needed(ROOT) == [ROOT, 0]
    assert blocks.needed(1) == [1, 2]
    assert blocks.n_rows == 4
