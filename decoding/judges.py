"""Who answers the question "which token stands here?": the model, row by row and only where it is asked."""

from __future__ import annotations

from collections.abc import Callable

import torch

from lookstruct.decoding.footprint import request_bytes
from lookstruct.decoding.head import narrow_ids
from lookstruct.decoding.logit_blocks import LogitBlocks
from lookstruct.decoding.memory import require_memory
from lookstruct.decoding.prefix import PrefixPool
from lookstruct.decoding.runner import PREFILL_CHUNK, Rows, Runner
from lookstruct.decoding.sampler import Choice
from lookstruct.decoding.sequence import Sequence
from lookstruct.decoding.tree import ROOT, DraftTree
from lookstruct.decoding.verify import Verdicts


class ModelJudge:
    """One forward per step; logits are computed for a block of rows when the walk first reaches one of them."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._prefixes = PrefixPool(runner.new_cache)

    def prefill(self, sequence: Sequence, cancel: Callable[[], bool]) -> None:
        """Reuse the prefix that an earlier prompt shares, compute the rest."""
        self._require_memory(sequence)
        sequence.cache = cache = self._prefixes.take(sequence.ids)
        sequence.stats.cached_prompt_tokens = cache.length
        self._runner.prefill(cache, sequence.ids[cache.length : sequence.n_prompt - 1], cancel)

    def _require_memory(self, sequence: Sequence) -> None:
        runner, tokens = self._runner, sequence.n_prompt + sequence.remaining
        needed = request_bytes(runner.model.config, runner.dtype, tokens, PREFILL_CHUNK) - self._prefixes.nbytes()
        doing = f"Reading a prompt of {sequence.n_prompt} tokens and writing up to {sequence.remaining}"
        require_memory(needed, runner.device, doing, "shorten the page, or lower max_new_tokens")

    def release(self, sequence: Sequence) -> None:
        """Keep the prompt's KV for the next page."""
        self._prefixes.give(sequence.cache, sequence.n_prompt)

    def forget(self) -> None:
        """Free the buffers of earlier prompts."""
        self._prefixes.clear()

    def evaluate(self, sequence: Sequence, rows: Rows, tree: DraftTree) -> Verdicts:
        """Run the model over `rows`."""
        n_pending = len(sequence.pending)
        hidden = self._runner.hidden(sequence.cache, rows)
        return ModelVerdicts(self._runner, hidden[n_pending - 1 :], tree)

    def commit(self, sequence: Sequence, token_ids: list[int], rows: list[int]) -> None:
        """Keep the accepted rows' KV."""
        sequence.cache.commit(token_ids, rows)


class ModelVerdicts:
    """Hidden states of the root (row 0) and of every node (row node + 1), then of the window's rows."""

    def __init__(self, runner: Runner, hidden: torch.Tensor, tree: DraftTree) -> None:
        self._runner = runner
        self._hidden = hidden
        self._n_nodes = len(tree)
        self._blocks = LogitBlocks(tree, runner.logit_blocks)
        self._logits: dict[int, torch.Tensor] = {}

    def choose(self, sequence: Sequence, node: int, path: list[int]) -> Choice:  # noqa: ARG002
        """See `Verdicts.choose`."""
        mask = sequence.mask()
        ids = narrow_ids(mask, self._runner.width)
        few = None if ids is None else self._runner.logits_among(self._hidden[node - ROOT], ids)
        if few is not None:
            return sequence.sampler.choose_among(_precise(few), ids, sequence.n_generated, sequence.ids)
        if rows := self._blocks.needed(node):
            index = torch.tensor([row - ROOT for row in rows], device=self._hidden.device)
            self._logits.update(zip(rows, self._runner.logits(self._hidden[index]), strict=True))
        return sequence.sampler.choose(self._logits[node], mask, sequence.n_generated, sequence.ids)

    @property
    def n_logit_rows(self) -> int:
        """See `Verdicts.n_logit_rows`."""
        return self._blocks.n_rows

    def extra_argmax(self, rows: range) -> tuple[list[int], int]:
        """Plain argmax of some of the extra rows (0 is the first behind the tree), and of the root."""
        first = self._n_nodes + 1
        index = torch.tensor([0, *(first + r for r in rows)], device=self._hidden.device)
        root, *answers = self._runner.logits(self._hidden[index]).argmax(-1).tolist()
        return answers, root


def _precise(row: torch.Tensor) -> torch.Tensor:
    """The row in at least float32, as the sampler takes it."""
    return row.to(torch.promote_types(row.dtype, torch.float32))
