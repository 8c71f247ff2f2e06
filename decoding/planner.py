"""Drafts of all sources -> the draft tree worth verifying in the next forward.

Drafts are hypotheses about the text that follows. Each has a weight, what is left over belongs to "something else".
At a node the probability of a token is the weight of the hypotheses that say it; going down, those that said
otherwise fall away and the rest are renormalised (Bayes' rule). The trie is grown best first, pruned by the grammar,
and cut where the expected tokens per second are highest under the machine's cost curve.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lookstruct.decoding.calibration import Calibration
from lookstruct.decoding.constraint import Constraint
from lookstruct.decoding.head import NARROW
from lookstruct.decoding.purchase import Budget, Purchase
from lookstruct.decoding.sources.base import Draft
from lookstruct.decoding.tree import ROOT, DraftTree, Node
from lookstruct.decoding.vocabulary import Vocabulary

AGREEMENT = 0.25
"""Chance that "something else" begins with the same token as a draft does."""
FLOOR = 0.02
"""Nodes less likely than this are not worth their planning."""
MAX_DRAFT_BYTES = 1024
MAX_NODES = 128


@dataclass(frozen=True, slots=True)
class Offer:
    """A source's draft with its calibrated probabilities."""

    source: str
    draft: Draft
    p: float
    q: float


@dataclass(frozen=True, slots=True)
class Branch:
    """An offer on its way down the trie: `tokens[i:]` spell the bytes from `at` on, `weight` is unnormalised."""

    offer: Offer
    tokens: tuple[int, ...]
    i: int
    at: int
    weight: float


class Planner:
    """Plans for one vocabulary; holds no state of any request."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def plan(
        self, root: Constraint | None, recent: Sequence[int], offers: Iterable[Offer], budget: Budget, max_depth: int
    ) -> DraftTree:
        """The tree to verify after the tokens `recent`, where the grammar's state is `root` (None: no grammar)."""
        limit = MAX_NODES if budget.nodes is None else budget.nodes
        tree = DraftTree()
        growth = _Growth(self._vocabulary, tree, root)
        branches = [self._start(offer, recent) for offer in offers]
        growth.expand(ROOT, 1.0, 0, root, [b for b in branches if b.tokens], None)
        if budget.nodes is not None:
            while growth.next_p >= FLOOR and len(tree) < limit:
                growth.take(max_depth)
            return tree
        purchase = Purchase(budget, first_is_wide=root is None or root.n_allowed > NARROW)
        while growth.next_p >= FLOOR and len(tree) < limit and purchase.may_improve(growth.next_p):
            purchase.add(growth.take(max_depth))
        tree.cut(purchase.best)
        return tree

    def _start(self, offer: Offer, recent: Sequence[int]) -> Branch:
        draft = offer.draft
        tokens = draft.tokens or self._vocabulary.continuation(recent, draft.text[:MAX_DRAFT_BYTES])
        return Branch(offer, tokens, 0, 0, offer.p)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A child that may become a node."""

    parent: int
    token: int
    depth: int
    p: float
    forced: bool
    branches: tuple[Branch, ...]
    other: float


class _Growth:
    """The frontier of one tree: likely children first."""

    def __init__(self, vocabulary: Vocabulary, tree: DraftTree, root: Constraint | None) -> None:
        self._vocabulary = vocabulary
        self._tree = tree
        self._root = root
        self.heap: list[tuple[float, int, _Candidate]] = []
        self._n = 0

    @property
    def next_p(self) -> float:
        """The probability of the likeliest candidate; later ones never have a higher one. 0 when there are none."""
        return -self.heap[0][0] if self.heap else 0.0

    def take(self, max_depth: int) -> Node:
        """Turn the likeliest candidate into a node and look at what may follow it."""
        candidate = heapq.heappop(self.heap)[2]
        above = self._constraint(candidate.parent)
        eos = candidate.token in self._vocabulary.eos_ids
        constraint = None if above is None or eos else above.after(candidate.token)
        best = max(candidate.branches, key=lambda b: b.weight)
        index = self._tree.add(
            Node(
                candidate.token,
                candidate.parent,
                candidate.depth,
                candidate.p,
                0.0 if candidate.forced else candidate.p,
                constraint,
                best.offer.source,
                wide=constraint is None or constraint.n_allowed > NARROW,
            )
        )
        if not eos and candidate.depth < max_depth:
            self.expand(index, candidate.p, candidate.depth, constraint, candidate.branches, candidate.other)
        return self._tree.nodes[index]

    def _constraint(self, index: int) -> Constraint | None:
        return self._root if index == ROOT else self._tree.nodes[index].constraint

    def expand(
        self,
        index: int,
        p: float,
        depth: int,
        constraint: Constraint | None,
        branches: Sequence[Branch],
        other: float | None,
    ) -> None:
        """Put the children of a node on the heap; `other` is the weight of "something else" (None at the root)."""
        if constraint is not None and constraint.finished:
            return
        forced = None if constraint is None else constraint.forced()
        groups: dict[int, list[Branch]] = {}
        possible = 0.0  # weight of the hypotheses that the grammar leaves standing
        for branch in branches:
            step = self._step(branch, constraint, forced)
            if step is not None:
                token, after = step
                groups.setdefault(token, []).append(after)
            if step is not None or branch.i >= len(branch.tokens):
                possible += branch.weight
        if other is None:
            other = max(0.02, 1.0 - possible)
        total = possible + other
        for token, group in groups.items():
            share = 1.0 if forced is not None else sum(b.weight for b in group) / total
            rest = other * (1.0 if forced is not None else AGREEMENT)
            child = _Candidate(index, token, depth + 1, p * share, forced is not None, tuple(group), rest)
            self._n += 1
            heapq.heappush(self.heap, (-child.p, self._n, child))

    def _step(self, branch: Branch, constraint: Constraint | None, forced: int | None) -> tuple[int, Branch] | None:
        """The token a branch says next, and the branch after it; None where it ends or the grammar ends it."""
        if branch.i >= len(branch.tokens):
            return None
        token = branch.tokens[branch.i]
        if forced is not None and token != forced:
            return self._retokenise(branch, forced)
        if constraint is not None and forced is None and not constraint.allows(token):
            shorter = self._longest_allowed(branch, constraint)
            return None if shorter is None else self._retokenise(branch, shorter)
        size = len(self._vocabulary.token_bytes[token])
        return token, Branch(branch.offer, branch.tokens, branch.i + 1, branch.at + size, _decayed(branch))

    def _retokenise(self, branch: Branch, token: int) -> tuple[int, Branch] | None:
        """Follow `token` instead of the branch's own next token, if both spell the same text."""
        if branch.offer.draft.tokens:
            return None
        piece = self._vocabulary.token_bytes[token]
        rest = branch.offer.draft.text[branch.at : MAX_DRAFT_BYTES]
        if not piece or not rest.startswith(piece):
            return None
        tokens = self._vocabulary.continuation((token,), rest[len(piece) :])
        return token, Branch(branch.offer, tokens, 0, branch.at + len(piece), _decayed(branch))

    def _longest_allowed(self, branch: Branch, constraint: Constraint) -> int | None:
        if branch.offer.draft.tokens:
            return None
        ids = self._vocabulary.ids
        text = branch.offer.draft.text
        for size in range(min(self._vocabulary.max_token_bytes, len(text) - branch.at), 0, -1):
            token = ids.get(text[branch.at : branch.at + size])
            if token is not None and constraint.allows(token):
                return token
        return None


def _decayed(branch: Branch) -> float:
    """A hypothesis loses a little at every token after its first, since it says that much more."""
    return branch.weight * (branch.offer.q if branch.at else 1.0)


def calibrated(source: str, drafts: Iterable[Draft], calibration: Calibration) -> list[Offer]:
    """Offers from one source's drafts, probabilities corrected by what its earlier drafts were worth."""
    return [
        Offer(
            source,
            draft,
            calibration.first(source, draft.kind, draft.p),
            calibration.further(source, draft.kind, draft.q),
        )
        for draft in drafts
        if draft.text or draft.tokens
    ]
