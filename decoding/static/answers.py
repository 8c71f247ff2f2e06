"""Hidden states + who may say what -> the token of every row, on the device, brought to the host in one go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lookstruct.decoding.constraint import Bitmask
from lookstruct.decoding.static.capture import Capture
from lookstruct.decoding.static.inputs import Inputs, Upload

Head = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Told:
    """One value a row: the masked argmax, its masked log-probability, the masked top-2 margin, the plain argmax."""

    tokens: NDArray[np.int64]
    logprobs: NDArray[np.float64]
    margins: NDArray[np.float64]
    plain: NDArray[np.int64]


class Answers:
    """The greedy answers of all rows of `inputs`, of fixed shape like the forward before."""

    def __init__(self, inputs: Inputs, width: int, head: Head, capture: Capture) -> None:
        device = inputs.hidden.device
        self._width = width
        self._bits = Upload((inputs.n, (width + 31) // 32), torch.int32, device)
        self._device = torch.zeros((4, inputs.n), dtype=torch.float64, device=device)
        self._host = torch.zeros((4, inputs.n), dtype=torch.float64, pin_memory=device.type == "cuda")

        def work() -> None:
            self._device.copy_(masked_argmax(head(inputs.hidden), self._bits.device))

        self._work = capture(work, [inputs.hidden, self._bits.device, self._device])

    @torch.no_grad()
    def ask(self, masks: Sequence[Bitmask | None]) -> Told:
        """What every row calls for, `masks` being what each of the first rows may say (None: anything).

        The one moment of a step in which the host waits for the device.
        """
        bits = self._bits.writable()
        bits[:] = -1
        for row, mask in enumerate(masks):
            if mask is not None:
                bits[row] = mask
        self._bits.send()
        self._work()
        self._host.copy_(self._device, non_blocking=True)
        if self._device.device.type == "cuda":
            torch.cuda.synchronize(self._device.device)
        tokens, logprobs, margins, plain = self._host.numpy().copy()
        return Told(tokens.astype(np.int64), logprobs, margins, plain.astype(np.int64))


def masked_argmax(logits: torch.Tensor, bits: torch.Tensor) -> torch.Tensor:
    """float64 [4, n] as in `Told`, from logits [n, width] and int32 bits [n, ceil(width / 32)]; ids are exact in it."""
    rows = logits.to(torch.promote_types(logits.dtype, torch.float32))
    width = rows.shape[1]
    ids = torch.arange(width, device=rows.device, dtype=torch.int32)
    allowed = (bits.index_select(1, ids >> 5) >> (ids & 31)) & 1
    masked = rows.masked_fill(allowed == 0, -torch.inf)
    top = masked.topk(2, dim=-1).values.double()
    return torch.stack(
        [
            first_of(masked, ids).double(),
            top[:, 0] - torch.logsumexp(masked, dim=-1).double(),
            top[:, 0] - top[:, 1],
            first_of(rows, ids).double(),
        ]
    )


def first_of(rows: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """The lowest id of each row's largest value (torch.argmax promises none of equals)."""
    best = rows.amax(dim=-1, keepdim=True)
    return torch.where(rows == best, ids, rows.shape[1]).amin(dim=-1)
