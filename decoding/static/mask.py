"""The tree mask of a forward of fixed shape, worked out on the device from tensors that are filled in place."""

from __future__ import annotations

import torch

from lookstruct.decoding.static.inputs import Inputs


class StaticMask:
    """`attention.Mask` over the first `n_keys` slots of the cache, most of which may be unused.

    Slots before `past` hold the token of their own position; the rows of the forward in progress stand behind them.
    """

    def __init__(self, inputs: Inputs, n_keys: int, dtype: torch.dtype) -> None:
        key = torch.arange(n_keys, device=inputs.past.device)
        row = key - inputs.past
        is_past = row < 0
        is_row = ~is_past & (row < inputs.n)
        row = row.clamp(0, inputs.n - 1)
        self._allowed = is_past | (is_row & inputs.visible.index_select(1, row))
        self._distance = inputs.positions[:, None] - torch.where(is_past, key, inputs.positions[row])
        self._dtype = dtype
        self._built: dict[tuple[int | None, int], torch.Tensor] = {}

    def additive(self, window: int | None = None, groups: int = 1) -> torch.Tensor:
        """See `Mask.additive`."""
        key = (window, groups)
        if key not in self._built:
            allowed = self._allowed if window is None else self._allowed & (self._distance < window)
            mask = torch.zeros(allowed.shape, dtype=self._dtype, device=allowed.device)
            mask = mask.masked_fill(~allowed, -torch.inf)
            self._built[key] = mask.repeat(groups, 1)[None, None]
        return self._built[key]
