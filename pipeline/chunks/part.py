"""What was read in one chunk (`Part`), and what several are together: their stats, their text, their certificates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate, zip_longest
from typing import TYPE_CHECKING, Any

from lookstruct.decoding.request import Completion
from lookstruct.schemas.record import Evidence, Stats

if TYPE_CHECKING:
    from lookstruct.decoding.certificate import Certificate
    from lookstruct.pipeline.chunks.chunk import Chunk
    from lookstruct.pipeline.question import Question


@dataclass(frozen=True, slots=True)
class Part:
    """One chunk, the question about it and the answer. `data` and `evidence` are of this chunk alone; the evidence's
    offsets are those of the whole page."""

    chunk: Chunk
    question: Question
    completion: Completion
    data: Any
    evidence: Mapping[str, Evidence]

    @property
    def is_cut(self) -> bool:
        """Whether the answer met the token limit and was closed."""
        return self.completion.finish_reason == "closed"


def joined(completions: Sequence[Completion]) -> Completion:
    """Several completions as one, in the order in which they were made; their texts are lines."""
    if len(completions) == 1:
        return completions[0]
    starts = [0, *accumulate(len(one.token_ids) for one in completions)]
    return Completion(
        text="\n".join(one.text for one in completions),
        token_ids=[token for one in completions for token in one.token_ids],
        logprobs=[value for one in completions for value in one.logprobs],
        finish_reason=completions[-1].finish_reason,
        stats=total([one.stats for one in completions]),
        sources=tuple(source for one in completions for source in one.sources),
        pieces=tuple(piece for one in completions for piece in one.pieces),
        steps=tuple(
            replace(step, start=step.start + start)
            for one, start in zip(completions, starts, strict=False)
            for step in one.steps
        ),
    )


def total(parts: Sequence[Stats]) -> Stats:
    """The sums of counts, times and tallies; notes are said once, the finish reason is the last one's.

    >>> both = total([Stats(forwards=3, accepted={"page": 2}), Stats(forwards=4, accepted={"page": 1, "arrays": 5})])
    >>> both.forwards, both.accepted
    (7, {'page': 3, 'arrays': 5})
    """
    if len(parts) == 1:
        return parts[0]
    return Stats(**{field.name: _sum([getattr(part, field.name) for part in parts]) for field in fields(Stats)})


def _sum(values: Sequence[Any]) -> Any:
    """Lists one after another, tables entry by entry, numbers added; of texts the last."""
    if isinstance(values[0], dict):
        keys = dict.fromkeys(key for value in values for key in value)
        return {key: _tally([value[key] for value in values if key in value]) for key in keys}
    if isinstance(values[0], list):
        every = [item for value in values for item in value]
        return list(dict.fromkeys(every)) if every and isinstance(every[0], str) else every
    return values[-1] if isinstance(values[0], str) else sum(values)


def _tally(values: Sequence[Any]) -> Any:
    """Counts added; counts by depth are added depth by depth.

    >>> _tally([[3, 1], [2, 2, 2]])
    [5, 3, 2]
    """
    return [sum(row) for row in zip_longest(*values, fillvalue=0)] if isinstance(values[0], list) else sum(values)


def whole(certificates: Sequence[Certificate]) -> Certificate:
    """One certificate for all: it holds if each does, and tells of the first that does not."""
    failed = next((number for number, one in enumerate(certificates) if not one.holds), None)
    n_before = sum(one.tokens for one in certificates[: failed or 0])
    fault = certificates[failed or 0]
    return replace(
        fault,
        tokens=sum(one.tokens for one in certificates),
        first_difference=None if fault.first_difference is None else n_before + fault.first_difference,
        least_margin=min(one.least_margin for one in certificates),
    )
