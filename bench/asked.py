"""The model's own answers beside a replay: what the ideas of `foresight.py` would really have been told.

A node behind a wrong value is answered as the model answers it there. A column of field Jacobi reads the text so far,
the value being written closed as it stands, then the key of a later field and what has grown of its value; all columns
of a forward are branches under one tree mask, as they would be in a real forward.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from bench.foresight import FieldJacobi, OffPath, Truth
from lookstruct.decoding.constraint import Constraint, allowed_ids
from lookstruct.decoding.cursor import JsonReader, Place
from lookstruct.decoding.guessing.json_text import key_text
from lookstruct.decoding.guessing.schema_walk import Path
from lookstruct.decoding.prefix import shared_length
from lookstruct.decoding.runner import Rows, Runner
from lookstruct.decoding.sequence import Sequence as Decoded
from lookstruct.decoding.tree import ROOT, DraftTree, lay_out
from lookstruct.decoding.vocabulary import Vocabulary

_CLOSING = {
    Place.IN_STRING: b'"',
    Place.IN_SCALAR: b"",
    Place.AFTER_VALUE: b"",
    Place.AFTER_KEY: b" null",
    Place.VALUE_START: b" null",
}
"""What ends the value that is being written, so that another key may follow."""
_MOST = 64
"""Tokens after which a value that does not end is left alone."""


class AskedNodes(OffPath):
    """Off-path answers by `runner`. `n_right` of the `n_told` that could be told apart were what was written later."""

    def __init__(self, truth: Truth, *, belief: float, runner: Runner) -> None:
        super().__init__(truth, belief)
        self.n_told = self.n_right = 0
        self._runner = runner
        self._cache = runner.new_cache()

    def learn(self, sequence: Decoded, tree: DraftTree) -> None:
        """See `Learnt.learn`."""
        *before, last = sequence.ids
        self._runner.prefill(self._cache, before[self._cache.length :])
        hidden = self._runner.hidden(self._cache, lay_out([last], len(before), tree))
        self._cache.commit([], [])
        path = _path(self.truth.token_ids, sequence.n_generated, tree)
        for node, told in self.standing(sequence, tree):
            constraint = tree.nodes[node].constraint
            if constraint is not None and not constraint.finished and node not in path:
                token = _likeliest(self._runner.logits(hidden[[node + 1]])[0], constraint)
                self.told[told] = self.truth.token_bytes[token]
                if constraint.forced() is None:
                    self.n_told += 1
                    self.n_right += token == self.truth.token_ids[told]


def _path(token_ids: Sequence[int], at: int, tree: DraftTree) -> set[int]:
    """The nodes that the walk will accept."""
    node, found = ROOT, set[int]()
    while at < len(token_ids) and (child := tree.child(node, token_ids[at])) is not None:
        found.add(child)
        node, at = child, at + 1
    return found


class AskedColumns(FieldJacobi):
    """`K` columns whose answers come from `runner`; they pay all their rows in every forward.

    `belief` is what their values are trusted with. `n_right` of `n_ended` values came out as they were written later.
    """

    def __init__(self, truth: Truth, K: int, *, belief: float, runner: Runner, vocabulary: Vocabulary) -> None:
        super().__init__(truth, K, kept=False)
        self.belief = belief
        self.n_ended = self.n_right = 0
        self._runner, self._vocabulary = runner, vocabulary
        self._cache = runner.new_cache()
        self._columns = list(_columns(truth))

    def columns(self, sequence: Decoded) -> int:
        """See `Learnt.columns`."""
        return sum(map(len, self._chains(sequence).values()))

    def learn(self, sequence: Decoded, tree: DraftTree) -> None:  # noqa: ARG002
        """See `Learnt.learn`."""
        chains = self._chains(sequence)
        for number, logits in zip(chains, self._ask(sequence, list(chains.values())), strict=True):
            column = self._columns[number]
            column.grow(_likeliest(logits, column.constraint), self.truth.token_bytes)
            self._tell(number)

    def _is_told(self, number: int) -> bool:
        return self._columns[number].ended

    def _chains(self, sequence: Decoded) -> dict[int, list[int]]:
        """The rows of each column that can stand now: from the committed text to the last known token of its value."""
        assert sequence.reader is not None
        cursor = sequence.reader.cursor
        if cursor.place not in _CLOSING:
            return {}
        chains = {}
        for number in self._standing(sequence):
            leaf, column = self.truth.leaves[number], self._columns[number]
            if leaf.path[: len(cursor.path)] != cursor.path:
                lead = _CLOSING[cursor.place] + bridge(cursor.path, leaf.path)
                lead = _without_overlap(lead, self.truth.pieces[leaf.first])
                chains[number] = [*self._vocabulary.continuation(sequence.ids[-8:], lead), *column.tokens]
        return chains

    def _ask(self, sequence: Decoded, chains: Sequence[list[int]]) -> Sequence[torch.Tensor]:
        """Logits behind the last row of each chain; all see the committed text and none sees another."""
        if not chains:
            return []
        *before, last = sequence.ids
        self._runner.prefill(self._cache, before[self._cache.length :])
        tokens, positions = [last], [len(before)]
        visible = np.zeros((1 + sum(map(len, chains)),) * 2, np.bool_)
        visible[:, 0] = True
        ends = list[int]()
        for chain in chains:
            at = len(tokens)
            tokens += chain
            positions += range(len(before) + 1, len(before) + 1 + len(chain))
            visible[at : len(tokens), at : len(tokens)] = np.tri(len(chain), dtype=np.bool_)
            ends.append(len(tokens) - 1)
        hidden = self._runner.hidden(self._cache, Rows(tokens, np.array(positions), visible))
        self._cache.commit([], [])
        return list(self._runner.logits(hidden[ends]))

    def _tell(self, number: int) -> None:
        leaf, column, pieces = self.truth.leaves[number], self._columns[number], self.truth.pieces
        same = shared_length(column.tokens, self.truth.token_ids[leaf.first : leaf.stop])
        self.told |= {i: pieces[i] for i in range(leaf.first, leaf.first + same)}
        if same < len(column.tokens):
            self.told[leaf.first + same] = self._vocabulary.decode(column.tokens[same:])
        self.n_ended += column.ended
        self.n_right += column.ended and same == len(column.tokens)


@dataclass(slots=True)
class _Column:
    """A value that grows: its path, the grammar's and the reader's state behind it, and its tokens so far."""

    path: Path
    constraint: Constraint
    reader: JsonReader
    tokens: list[int]
    ended: bool = False

    def grow(self, token: int | None, token_bytes: Sequence[bytes]) -> None:
        """One more token, and those that are forced then."""
        while token is not None and not self.ended:
            self.tokens.append(token)
            self.constraint.advance(token)
            self.reader.feed(token_bytes[token])
            self.ended = not self._is_open() or self.constraint.finished or len(self.tokens) >= _MOST
            token = None if self.ended else self.constraint.forced()

    def _is_open(self) -> bool:
        cursor = self.reader.cursor
        if cursor.place in (Place.IN_STRING, Place.IN_SCALAR):
            return cursor.path == self.path
        return cursor.place in (Place.AFTER_KEY, Place.VALUE_START) and cursor.path == self.path[: len(cursor.path)]


def _columns(truth: Truth) -> Iterator[_Column]:
    """A column for each leaf, nothing of its value known."""
    constraint, reader, at = truth.start.fork(), JsonReader(), 0
    for leaf in truth.leaves:
        for token in truth.token_ids[at : leaf.first]:
            constraint.advance(token)
            reader.feed(truth.token_bytes[token])
        at = leaf.first
        yield _Column(leaf.path, constraint.fork(), reader.copy(), [])


def _likeliest(logits: torch.Tensor, constraint: Constraint) -> int:
    """The allowed token with the highest logit."""
    ids = allowed_ids(constraint.mask(), len(logits))
    return int(ids[int(logits[torch.from_numpy(ids)].argmax())])


def bridge(a: Path, b: Path) -> bytes:
    """The shortest JSON from behind the value at `a` to the value at `b`, which comes later.

    >>> bridge(("lines", 0, "price"), ("lines", 1, "name")), bridge(("seller", "name"), ("lines", 0))
    (b'}, {"name": ', b'}, "lines": [')
    """
    n = next(i for i, (mine, other) in enumerate(zip(a, b, strict=False)) if mine != other)
    closed = b"".join(b"]" if isinstance(step, int) else b"}" for step in reversed(a[n + 1 :]))
    opened = b"".join(b"[" if isinstance(step, int) else b"{" + key_text(step) for step in b[n + 1 :])
    return closed + b", " + (key_text(str(b[n])) if isinstance(b[n], str) else b"") + opened


def _without_overlap(lead: bytes, first: bytes) -> bytes:
    """`lead` without the end of it that the value's first token `first` has too."""
    return next(lead[: len(lead) - n] for n in range(len(first), -1, -1) if lead.endswith(first[:n]))
