"""A recorded output -> how any drafting policy would have done on it, without the model.

Output is exact, so a recorded run tells what every draft would have met. Forwards, rows and accepted tokens come out
exactly as the model would have given them; seconds follow from a cost curve.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Seq

from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Decoder
from lookstruct.decoding.head import is_narrow
from lookstruct.decoding.logit_blocks import LogitBlocks
from lookstruct.decoding.runner import Rows
from lookstruct.decoding.sampler import Choice
from lookstruct.decoding.sequence import Sequence
from lookstruct.decoding.tree import DraftTree
from lookstruct.decoding.vocabulary import Vocabulary

LOGIT_BLOCKS = (2, 4, 16)
"""How a model on a CPU takes its logits, see `Runner.logit_blocks`."""


class Recording:
    """A judge that says what was said before. The window has no recording: its rows need the model."""

    def __init__(self, token_ids: Seq[int] = ()) -> None:
        self.token_ids = tuple(token_ids)

    def prefill(self, sequence: Sequence, cancel: Callable[[], bool]) -> None:  # noqa: ARG002
        """Nothing to compute: the cache only counts."""
        sequence.cache.token_ids = sequence.ids[:-1]

    def release(self, sequence: Sequence) -> None:
        """Nothing to keep."""

    def forget(self) -> None:
        """Nothing was kept."""

    def evaluate(self, sequence: Sequence, rows: Rows, tree: DraftTree) -> RecordedVerdicts:  # noqa: ARG002
        """No forward: the answers are known."""
        return RecordedVerdicts(self.token_ids, LogitBlocks(tree, LOGIT_BLOCKS))

    def commit(self, sequence: Sequence, token_ids: list[int], rows: list[int]) -> None:
        """Count the accepted rows."""
        sequence.cache.commit(token_ids, rows)


class RecordedVerdicts:
    """The recorded tokens; counts the rows of logits that the model would have computed."""

    def __init__(self, token_ids: Seq[int], blocks: LogitBlocks) -> None:
        self._token_ids = token_ids
        self._blocks = blocks

    def choose(self, sequence: Sequence, node: int, path: list[int]) -> Choice:  # noqa: ARG002
        """The recorded token at this position."""
        if not is_narrow(sequence.mask()):
            self._blocks.needed(node)
        return Choice(self._token_ids[sequence.n_generated], 0.0, float("inf"))

    @property
    def n_logit_rows(self) -> int:
        """See `Verdicts.n_logit_rows`."""
        return self._blocks.n_rows

    def extra_argmax(self, rows: range) -> tuple[list[int], int]:
        """Always an error: the lookahead window cannot be replayed."""
        raise ValueError(f"the lookahead window asked for {len(rows)} answers that no recording has; leave it out")


class Replay(Decoder):
    """A decoder whose model is a recording; set `recording.token_ids`, then `generate` as ever.

    Sources never see more of the recording than was committed.
    """

    def __init__(self, vocabulary: Vocabulary, cost: CostModel, max_context: int = 1 << 20) -> None:
        self.recording = Recording()
        super().__init__(vocabulary, self.recording, cost, max_context)
