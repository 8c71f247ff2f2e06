"""Logits of one position -> the token that stands there. Greedy or Gumbel-max; the same answer whatever was drafted.

The order is fixed: penalties, mask, temperature, top-k, top-p, min-p; ties go to the lowest id. A draw uses Gumbel
noise hashed from (seed, generated position, token id), so it depends on nothing that drafting could change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lookstruct.decoding.constraint import Bitmask, allowed_ids
from lookstruct.decoding.request import Options

FULL_ROW = 4096
"""Above this many allowed ids the whole row is masked; below it only their logits are gathered."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The token, its natural log-probability in the masked (and filtered) distribution, and the masked top-2 margin.

    The margin is the difference of the two largest masked logits, infinite where one token is allowed.
    """

    token: int
    logprob: float
    margin: float


class Sampler:
    """Chooses tokens for one request."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._greedy = options.temperature == 0.0
        self._penalised = options.repetition_penalty != 1.0

    @property
    def is_argmax(self) -> bool:
        """Whether the choice is the likeliest allowed token and nothing else."""
        return self._greedy and not self._penalised

    def choose(self, logits: torch.Tensor, mask: Bitmask | None, position: int, prefix: Sequence[int]) -> Choice:
        """The token for generated position `position` (0 for the first), after `prefix` (prompt and generated ids).

        `logits` is one row, shape [width], any float dtype and device; it is not changed.
        """
        return self.choose_among(*_restrict(logits, mask), position, prefix)

    def choose_among(
        self, row: torch.Tensor, ids: NDArray[np.int64] | None, position: int, prefix: Sequence[int]
    ) -> Choice:
        """`choose` with the allowed logits `row` and the `ids` they belong to (None: all, forbidden ones at -inf)."""
        if self._penalised:
            row = _penalise(row, ids, prefix, self._options.repetition_penalty)
        return _greedy(row, ids) if self._greedy else self._draw(row, ids, position)

    def _draw(self, row: torch.Tensor, ids: NDArray[np.int64] | None, position: int) -> Choice:
        scaled = row / self._options.temperature
        logprobs = torch.log_softmax(_filter(scaled, self._options), dim=-1)
        token_ids = np.arange(row.shape[0]) if ids is None else ids
        noise = gumbel(self._options.seed, position, token_ids)
        index = int(torch.argmax(logprobs + torch.from_numpy(noise).to(logprobs)))
        return Choice(int(token_ids[index]), float(logprobs[index]), _margin(row))


def _restrict(logits: torch.Tensor, mask: Bitmask | None) -> tuple[torch.Tensor, NDArray[np.int64] | None]:
    """The allowed part of a row in at least float32, and which ids it holds (None: all, forbidden ones at -inf)."""
    row = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if mask is None:
        return row, None
    ids = allowed_ids(mask, row.shape[0])
    assert len(ids), "the grammar allows no token"
    if len(ids) <= FULL_ROW:
        return row[torch.from_numpy(ids).to(row.device)], ids
    allowed = torch.from_numpy(np.unpackbits(mask.view(np.uint8), bitorder="little", count=row.shape[0]))
    return row.masked_fill(~allowed.to(row.device, torch.bool), -torch.inf), None


def _penalise(row: torch.Tensor, ids: NDArray[np.int64] | None, prefix: Sequence[int], penalty: float) -> torch.Tensor:
    """Repetition penalty (Keskar et al. 2019, section 4.1): divide positive, multiply negative logits of seen ids."""
    seen = np.unique(np.asarray(prefix, dtype=np.int64))
    where = seen[seen < row.shape[0]] if ids is None else np.flatnonzero(np.isin(ids, seen))
    index = torch.from_numpy(where).to(row.device)
    values = row[index]
    return row.index_copy(0, index, torch.where(values > 0, values / penalty, values * penalty))


def _greedy(row: torch.Tensor, ids: NDArray[np.int64] | None) -> Choice:
    index = _first_max(row)
    token = index if ids is None else int(ids[index])
    logprob = float(row[index] - torch.logsumexp(row, dim=-1))
    return Choice(token, min(0.0, logprob), _margin(row))


def _first_max(row: torch.Tensor) -> int:
    """Index of the largest value, the lowest one of equals (torch.argmax promises none of them)."""
    return int((row == row.max()).nonzero()[0, 0])


def _margin(row: torch.Tensor) -> float:
    if row.shape[0] < 2:
        return float("inf")
    top = torch.topk(row, 2).values
    return float(top[0] - top[1])


def _filter(scaled: torch.Tensor, options: Options) -> torch.Tensor:
    """top-k, then top-p, then min-p: what falls out gets -inf. Equal values at an edge stay or go together by id."""
    if not (options.top_k or options.top_p < 1.0 or options.min_p > 0.0):
        return scaled
    order = torch.sort(scaled, descending=True, stable=True)
    keep = torch.ones_like(order.values, dtype=torch.bool)
    if options.top_k:
        keep[options.top_k :] = False
    probs = torch.softmax(order.values.masked_fill(~keep, -torch.inf), dim=-1)
    if options.top_p < 1.0:
        keep &= probs.cumsum(0) - probs < options.top_p
        keep[0] = True  # the likeliest stays, even at top_p 0
        probs = torch.softmax(order.values.masked_fill(~keep, -torch.inf), dim=-1)
    if options.min_p > 0.0:
        keep &= probs >= options.min_p * probs[0]
    return scaled.index_fill(0, order.indices[~keep], -torch.inf)


def gumbel(seed: int, position: int, token_ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """Standard Gumbel noise, one value per token id, a pure function of its arguments.

    >>> bool((gumbel(1, 2, np.array([5, 6])) == gumbel(1, 2, np.array([4, 5, 6]))[1:]).all())
    True
    """
    key = _mix(np.uint64((seed + 0x9E3779B97F4A7C15 * (position + 1)) & 0xFFFFFFFFFFFFFFFF))
    bits = _mix(_mix(token_ids.astype(np.uint64) ^ key) + key)
    uniform = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
    return np.asarray(-np.log(-np.log(uniform)))


def _mix(x: NDArray[np.uint64] | np.uint64) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea, Flood 2014), elementwise modulo 2**64."""
    with np.errstate(over="ignore"):
        x = np.atleast_1d(np.asarray(x, np.uint64))
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
