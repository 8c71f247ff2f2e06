"""Which rows' logits to compute when the walk needs some: a few likely ones together, since one alone costs as much.

A row of logits is a product with the whole vocabulary. Rows behind which the grammar leaves no choice need none, and
where it leaves few tokens (`head.py`) each row is cheap on its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from lookstruct.decoding.tree import ROOT, DraftTree


class LogitBlocks:
    """The rows of one tree, ROOT and nodes, in blocks of one of the `sizes` (ascending), computed when needed."""

    def __init__(self, tree: DraftTree, sizes: Sequence[int]) -> None:
        self._tree = tree
        self._sizes = sizes
        self._known: set[int] = set()

    @property
    def n_rows(self) -> int:
        """Rows computed so far."""
        return len(self._known)

    def needed(self, node: int) -> list[int]:
        """The rows to compute now that `node` is looked at, itself first; none if it is known already."""
        if node in self._known:
            return []
        likely = [n for n in self._tree.likely_rows(node) if n == node or self._tree.nodes[n].wide]
        start = self._p(node)
        expected = sum(self._p(n) / start for n in likely)
        size = next((size for size in self._sizes if size >= expected), self._sizes[-1])
        block = [n for n in likely[:size] if n not in self._known]
        self._known.update(block)
        return block

    def _p(self, node: int) -> float:
        return 1.0 if node == ROOT else self._tree.nodes[node].p
