"""The draft tree of one step: every source's guesses merged into one trie, ready to be verified in one forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lookstruct.decoding.constraint import Constraint
from lookstruct.decoding.runner import Rows

ROOT = -1
"""Parent of the first drafted tokens: the last committed token."""


@dataclass(slots=True)
class Node:
    """One drafted token.

    `p` is the estimated probability that the walk reaches it; `constraint` the grammar's state after it (None without
    a grammar, and after an end-of-sequence token); `gain` is `p`, or 0 for a forced token, which would come for free.
    `wide` says whether choosing what follows takes the logits of the whole vocabulary.
    """

    token: int
    parent: int
    depth: int
    p: float
    gain: float
    constraint: Constraint | None
    origin: str
    wide: bool = True


@dataclass(slots=True)
class DraftTree:
    """Nodes in the order they were added: parents before children, likelier before less likely."""

    nodes: list[Node] = field(default_factory=list)
    children: dict[tuple[int, int], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.nodes)

    def add(self, node: Node) -> int:
        """Append `node`; its index."""
        assert (node.parent, node.token) not in self.children, "one child per token"
        self.nodes.append(node)
        self.children[(node.parent, node.token)] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def child(self, parent: int, token: int) -> int | None:
        """The node for `token` under `parent`, if it was drafted."""
        return self.children.get((parent, token))

    def cut(self, size: int) -> None:
        """Keep the first `size` nodes."""
        for node in self.nodes[size:]:
            del self.children[(node.parent, node.token)]
        del self.nodes[size:]

    def path(self, index: int) -> list[int]:
        """Node indices from the first level down to `index`."""
        found: list[int] = []
        while index != ROOT:
            found.append(index)
            index = self.nodes[index].parent
        return found[::-1]

    def likely_rows(self, index: int) -> list[int]:
        """`index` and the nodes that will most likely be looked at after it: its best descendants, likeliest first."""
        start = 1.0 if index == ROOT else self.nodes[index].p
        chosen = {index: None}  # a set that keeps its order
        for i in range(index + 1, len(self.nodes)):
            if self.nodes[i].p < 0.25 * start:
                break
            if self.nodes[i].parent in chosen:
                chosen[i] = None
        return list(chosen)

    def visible(self) -> NDArray[np.bool_]:
        """Bool [n, n]: node i sees node j if j is i or one of its ancestors."""
        seen = np.eye(len(self.nodes), dtype=np.bool_)
        for i, node in enumerate(self.nodes):
            if node.parent != ROOT:
                seen[i] |= seen[node.parent]
        return seen


@dataclass(frozen=True, slots=True)
class Extra:
    """Rows that ride along without being drafts (the lookahead window): they see the pending tokens and each other.

    `offsets` are positions relative to the last pending token; `visible` bool [m, m].
    """

    token_ids: Sequence[int]
    offsets: NDArray[np.int64]
    visible: NDArray[np.bool_]


def lay_out(pending: Sequence[int], start: int, tree: DraftTree, extra: Extra | None = None) -> Rows:
    """Rows of one forward: the pending tokens at positions start.., then the tree's nodes, then the extra rows.

    Pending tokens form a chain; a node sees them all and its ancestors; tree and extra rows are blind to each other.
    """
    p, t = len(pending), len(tree)
    last = start + p - 1
    tokens = [*pending, *(node.token for node in tree.nodes)]
    positions = [*range(start, start + p), *(last + node.depth for node in tree.nodes)]
    m = 0 if extra is None else len(extra.token_ids)
    visible = np.zeros((p + t + m, p + t + m), np.bool_)
    visible[:p, :p] = np.tri(p, dtype=np.bool_)
    visible[p:, :p] = True
    visible[p : p + t, p : p + t] = tree.visible()
    if extra is not None:
        tokens += extra.token_ids
        positions += (last + extra.offsets).tolist()
        visible[p + t :, p + t :] = extra.visible
    return Rows(tokens, np.asarray(positions, np.int64), visible)
