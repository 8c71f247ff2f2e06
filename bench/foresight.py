"""A recorded output -> what rows beside the path would have told of it at best: off-path answers, field Jacobi.

What the model would answer behind a wrong value stands in no recording. At best it answers what it will write once it
gets to that field. So a row learns the recorded token wherever it stands in a field as the recording stood there,
whatever was wrong in the fields before.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from lookstruct.decoding.constraint import Constraint, Grammar, GrammarCompiler
from lookstruct.decoding.cursor import Cursor, Place
from lookstruct.decoding.guessing.progress import ValueRecorder
from lookstruct.decoding.guessing.schema_walk import Path
from lookstruct.decoding.sequence import Sequence as Decoded
from lookstruct.decoding.tree import ROOT, DraftTree
from lookstruct.decoding.vocabulary import Vocabulary

SURE = 0.98
"""Belief in what was learnt where all of it is right; the planner takes nothing for certain."""

State = tuple[Place, Path, bytes]


def state_of(text: bytes, cursor: Cursor) -> State:
    """Where a text stands, whatever stood before: the place, and what is written of the value or key there.

    Of an object or array that has ended it says no more than that.
    """
    piece = text[cursor.value_start :]
    closed = cursor.place in (Place.AFTER_VALUE, Place.DONE) and piece[:1] in (b"{", b"[")
    return cursor.place, cursor.path, text[-1:] if closed or not piece else piece


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that is no object or array: the recorded tokens [first, stop) tell it, its end included."""

    path: Path
    first: int
    stop: int


class Truth:
    """A recorded text token by token.

    `pieces` are the tokens' bytes; `where` says which token was written in a state; `start` is the grammar before the
    first token, `forced` are the tokens for which it left no choice: whoever knows the one before knows them too.
    """

    def __init__(self, token_ids: Sequence[int], vocabulary: Vocabulary, grammar: Grammar) -> None:
        self.token_ids = tuple(token_ids)
        self.token_bytes = vocabulary.token_bytes
        self.pieces = [self.token_bytes[token] for token in token_ids]
        self.start = GrammarCompiler(vocabulary).start(grammar)
        self.forced = frozenset(_forced(token_ids, self.start.fork()))
        self.where: dict[State, int] = {}
        begins: dict[Path, int] = {}  # the token behind a key's colon, or behind what goes before an item
        reader, text = _LeafReader(), b""
        for i, piece in enumerate(self.pieces):
            cursor = reader.cursor
            self.where.setdefault(state_of(text, cursor), i)
            if cursor.place is Place.VALUE_START or (cursor.place is Place.AFTER_KEY and text.endswith(b":")):
                begins.setdefault(cursor.path, i)
            reader.feed(piece)
            text += piece
        ends = list(accumulate(map(len, self.pieces)))
        self.leaves = [
            Leaf(path, begins.get(path, bisect_right(ends, start)), bisect_right(ends, last) + 1)
            for path, start, last in reader.leaves(text)
        ]


def _forced(token_ids: Sequence[int], constraint: Constraint) -> Iterator[int]:
    """The numbers of the tokens that alone were allowed."""
    for i, token in enumerate(token_ids):
        if constraint.finished:
            return
        if constraint.forced() is not None:
            yield i
        constraint.advance(token)


class _LeafReader(ValueRecorder):
    """A recorder that tells where the leaves are."""

    def leaves(self, text: bytes) -> Iterator[tuple[Path, int, int]]:
        """Path, first byte and the byte that tells the end, of all values in `text` but objects and arrays."""
        for path, start, end in self.ended:
            first = text[start : start + 1]
            if first not in (b"{", b"["):
                yield path, start, end if first in b"-0123456789" else end - 1  # a number ends with what comes next


class Learnt:
    """What rows beside the path have told so far: for a token of the recording, the bytes that they say stand there.

    `belief` is how far to trust that; at 0 nothing is drafted from it. `ends_told` counts the forwards that ended at a
    token which had been told before: no more than so many can be saved.
    """

    def __init__(self, truth: Truth, belief: float = SURE) -> None:
        self.truth = truth
        self.belief = belief
        self.told: dict[int, bytes] = {}
        self.ends_told = 0
        self.n_columns = 0
        self.n_rows = 0

    def watch(self, sequence: Decoded, tree: DraftTree) -> None:
        """A forward is about to evaluate `tree`: what its rows answer is known to the next one."""
        end = _end_of_walk(self.truth.token_ids, sequence.n_generated, tree)
        self.ends_told += end in self.told and self.told[end] == self.truth.pieces[end]
        self.n_columns = self.columns(sequence)
        self.n_rows += self.n_columns
        self.learn(sequence, tree)

    def behind(self, text: bytes, cursor: Cursor) -> bytes:
        """What is known to follow a text that stands at `cursor`."""
        i, known, told = self.truth.where.get(state_of(text, cursor), -1), b"", False
        while i in self.told or i in self.truth.forced:
            piece = self.told.get(i, self.truth.pieces[i])
            known, told = known + piece, told or i in self.told
            if piece != self.truth.pieces[i]:
                break  # from here on it speaks of another value
            i += 1
        return known if told else b""  # where all is forced the grammar says it without us

    def columns(self, sequence: Decoded) -> int:  # noqa: ARG002
        """Rows of the next forward that are neither pending nor drafted."""
        return 0

    def learn(self, sequence: Decoded, tree: DraftTree) -> None:
        """Take in what the rows of one forward answer; nothing in plain decoding."""


class OffPath(Learnt):
    """Each node of a verified tree that stands where the recording once stands has told the token there."""

    def learn(self, sequence: Decoded, tree: DraftTree) -> None:
        """See `Learnt.learn`."""
        for _, told in self.standing(sequence, tree):
            self.told[told] = self.truth.pieces[told]

    def standing(self, sequence: Decoded, tree: DraftTree) -> Iterator[tuple[int, int]]:
        """The nodes that stand where the recording once stands, and the recorded token there."""
        if sequence.reader is None:
            return
        at = {ROOT: (bytes(sequence.text), sequence.reader)}
        for index, node in enumerate(tree.nodes):
            text, reader = at[node.parent]
            piece, reader = self.truth.token_bytes[node.token], reader.copy()
            reader.feed(piece)
            at[index] = text + piece, reader
            told = self.truth.where.get(state_of(text + piece, reader.cursor))
            if told is not None:
                yield index, told


class FieldJacobi(Learnt):
    """`K` columns at the next fields whose value is not known yet: each learns one choice of it in every forward.

    Which fields come is taken as known. A column costs one row, as if its earlier ones could be `kept` though the text
    before them grows; otherwise its key and all that is known of its value. A share `right` of the values comes out as
    recorded; the others read like another value of the record from the start.
    """

    def __init__(self, truth: Truth, K: int, right: float = 1.0, *, kept: bool = True, seed: int = 0) -> None:
        super().__init__(truth, min(SURE, right))
        self._K = K
        self._kept = kept
        drawn = random.Random(seed)
        self._sources = [
            leaf if drawn.random() < right else drawn.choice(_unlike(leaf, truth) or [None]) for leaf in truth.leaves
        ]
        self._choices = [[i for i in range(leaf.first, leaf.stop) if i not in truth.forced] for leaf in truth.leaves]
        self._grown = [0] * len(truth.leaves)

    def columns(self, sequence: Decoded) -> int:
        """See `Learnt.columns`."""
        standing = self._standing(sequence)
        return len(standing) if self._kept else sum(self._n_key(n) + self._n_known(n) for n in standing)

    def learn(self, sequence: Decoded, tree: DraftTree) -> None:  # noqa: ARG002
        """See `Learnt.learn`."""
        for number in self._standing(sequence):
            self._grown[number] += 1
            self._tell(number)

    def _standing(self, sequence: Decoded) -> list[int]:
        """The leaves that have a column now: the value that comes next at once has none, the root answers there."""
        ahead = (
            number
            for number, leaf in enumerate(self.truth.leaves)
            if leaf.first > sequence.n_generated and not self._is_told(number)
        )
        return list(islice(ahead, self._K))

    def _is_told(self, number: int) -> bool:
        return self._grown[number] == len(self._choices[number])

    def _n_key(self, number: int) -> int:
        """Tokens between the value before and this one."""
        return self.truth.leaves[number].first - (self.truth.leaves[number - 1].stop if number else 0)

    def _n_known(self, number: int) -> int:
        """Tokens of a value that are known: those chosen, and what was forced behind them."""
        leaf, grown = self.truth.leaves[number], self._grown[number]
        return [*self._choices[number], leaf.stop][grown] - leaf.first if grown else 0

    def _tell(self, number: int) -> None:
        pieces, leaf, source = self.truth.pieces, self.truth.leaves[number], self._sources[number]
        known = self._n_known(number)
        if source is leaf:
            self.told |= {i: pieces[i] for i in range(leaf.first, leaf.first + known)}
        elif source is not None:
            self.told[leaf.first] = b"".join(pieces[source.first : min(source.stop, source.first + known)])


def _unlike(leaf: Leaf, truth: Truth) -> list[Leaf | None]:
    """The values that begin as this one does (quote or not) and go on differently at once."""
    first, second = _two(leaf, truth)
    return [other for other in truth.leaves if _two(other, truth)[0] == first and _two(other, truth)[1] != second]


def _two(leaf: Leaf, truth: Truth) -> tuple[bytes, bytes]:
    return truth.pieces[leaf.first], b"".join(truth.pieces[leaf.first + 1 : leaf.first + 2])


def _end_of_walk(token_ids: Sequence[int], at: int, tree: DraftTree) -> int:
    """The first of the tokens from `at` on that the tree does not have."""
    node: int | None = ROOT
    while node is not None and at < len(token_ids):
        node = tree.child(node, token_ids[at])
        at += node is not None
    return at
