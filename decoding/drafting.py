"""One request's drafting: asks the sources, keeps their calibration, and tells them what came of it."""

from __future__ import annotations

from collections.abc import Sequence as Seq
from itertools import accumulate, pairwise

from lookstruct.decoding.calibration import Calibration
from lookstruct.decoding.planner import MAX_DRAFT_BYTES, Offer, calibrated
from lookstruct.decoding.prefix import shared_length
from lookstruct.decoding.sequence import Sequence
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftSource
from lookstruct.decoding.sources.window import LookaheadWindow
from lookstruct.decoding.vocabulary import Vocabulary


class Drafter:
    """The sources of one request."""

    def __init__(self, sources: Seq[DraftSource], vocabulary: Vocabulary) -> None:
        self.sources = tuple(sources)
        self.window = next((s for s in sources if isinstance(s, LookaheadWindow)), None)
        self._vocabulary = vocabulary
        self._calibration = Calibration()
        self._offers: list[Offer] = []

    def propose(self, sequence: Sequence) -> list[Offer]:
        """Calibrated drafts of all sources for what follows the committed tokens."""
        context = context_of(sequence)
        self._offers = [
            offer
            for source in self.sources
            for offer in calibrated(source.name, source.propose(context), self._calibration)
        ]
        return self._offers

    def observe(self, sequence: Sequence, n_new: int) -> None:
        """Compare the last drafts with the `n_new` tokens that came, and let the sources see them."""
        truth = self._vocabulary.decode(sequence.ids[-n_new:]) if n_new else b""
        tokens = sequence.ids[len(sequence.ids) - n_new :]
        ends = list(accumulate((len(self._vocabulary.token_bytes[token]) for token in tokens), initial=0))
        for offer in self._offers:
            matched, broke = _matched(offer.draft, truth, tokens, ends)
            self._calibration.observe(offer.source, offer.draft.kind, offer.draft.p, matched, broke)
            stats = sequence.stats
            stats.offered[offer.source] = stats.offered.get(offer.source, 0) + 1
        context = context_of(sequence)
        for source in self.sources:
            source.observe(context, n_new)


def _matched(draft: Draft, truth: bytes, tokens: Seq[int], ends: Seq[int]) -> tuple[int, bool]:
    """How many of `tokens`, which spell `truth` and end at `ends[1:]` in it, the draft said, and whether it then said
    something else.
    """
    if draft.tokens:
        n = shared_length(draft.tokens, tokens)
        return n, n < min(len(draft.tokens), len(tokens))
    text = draft.text[:MAX_DRAFT_BYTES]
    same = shared_length(text, truth)
    if same == 0:
        return 0, bool(text and truth)
    n = sum(1 for before, after in pairwise(ends) if before < after <= same)
    return n, same < min(len(text), len(truth))


def context_of(sequence: Sequence) -> DraftContext:
    """What sources may see of a sequence."""
    if sequence.constraint is not None and sequence.constraint.is_thinking:
        return DraftContext(bytes(sequence.thought), tuple(sequence.generated), None)
    cursor = None if sequence.reader is None else sequence.reader.cursor
    return DraftContext(bytes(sequence.text), tuple(sequence.generated), cursor)
