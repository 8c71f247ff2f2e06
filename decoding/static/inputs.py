"""The tensors that a forward of fixed shape reads, and how one step's rows get into them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from lookstruct.decoding.runner import Rows


class Upload:
    """A device tensor with a twin in host memory: fill `host`, then `send`; no waiting for the device.

    `host` is a numpy view of (pinned, where there is a GPU) memory, shape and dtype as given.
    """

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> None:
        self._staged = torch.zeros(shape, dtype=dtype, pin_memory=device.type == "cuda")
        self._sent = torch.cuda.Event() if device.type == "cuda" else None
        self.host: NDArray[np.generic] = self._staged.numpy()
        self.device = torch.zeros(shape, dtype=dtype, device=device)

    def writable(self) -> NDArray[np.generic]:
        """`host`, once the last `send` has read it."""
        if self._sent is not None:
            self._sent.synchronize()
        return self.host

    def send(self) -> None:
        """Start the copy; what is launched after it sees the new values."""
        self.device.copy_(self._staged, non_blocking=True)
        if self._sent is not None:
            self._sent.record()


class Inputs:
    """Tokens, positions, slots and visibility of `n` rows, and where the hidden states go.

    All int64 [n] but `past` [1], `visible` bool [n, n] and `hidden` [n, hidden_size].
    """

    def __init__(self, n: int, hidden_size: int, dtype: torch.dtype, device: torch.device) -> None:
        self.n = n
        self._numbers = Upload((3 * n + 1,), torch.int64, device)
        self._visible = Upload((n, n), torch.bool, device)
        self.token_ids, self.positions, self.slots, self.past = self._numbers.device.split([n, n, n, 1])
        self.visible = self._visible.device
        self.hidden = torch.zeros((n, hidden_size), dtype=dtype, device=device)

    @property
    def tensors(self) -> list[torch.Tensor]:
        """What a captured forward reads and writes here."""
        return [self.token_ids, self.positions, self.slots, self.past, self.visible, self.hidden]

    def fill(self, rows: Rows, past: int) -> None:
        """`rows` behind `past` committed slots, filled up with rows that see only themselves and that nobody sees.

        A filling row stands at the last row's position, so that it is one the model has.
        """
        n, used = self.n, len(rows.token_ids)
        assert used <= n, f"{used} rows do not fit into {n}"
        numbers, visible = self._numbers.writable(), self._visible.writable()
        numbers[:used] = rows.token_ids
        numbers[used:n] = 0
        numbers[n : n + used] = rows.positions
        numbers[n + used : 2 * n] = rows.positions[-1]
        numbers[2 * n : 3 * n] = np.arange(past, past + n)
        numbers[3 * n] = past
        visible[:] = np.eye(n, dtype=np.bool_)
        visible[:used, :used] = rows.visible
        self._numbers.send()
        self._visible.send()
