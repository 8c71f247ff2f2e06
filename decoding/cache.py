"""KV cache in preallocated buffers: rows are written in place, and only the accepted rows move when drafts fall.

Slot i always holds the token at position i of the committed text; behind it a forward appends draft rows, and
`keep` gathers the accepted ones to the front and forgets the rest. Nothing else is ever copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

GROWTH = 256
"""Slots that a full buffer grows by at least; it doubles up to a point so that growth is rare."""


class BufferLayer(CacheLayerMixin):
    """One layer's keys and values, shape [1, heads, capacity, head_dim]; `length` slots are in use.

    Every layer keeps the full length, windowed ones too: which keys a windowed layer may see is the mask's business
    (it goes by position), so a rejected draft can never have pushed real context out.
    """

    is_sliding = False
    is_croppable = True
    keys: torch.Tensor  # the base class has None before the first rows; `is_initialized` says so here
    values: torch.Tensor
    device: torch.device

    def __init__(self, capacity: int = GROWTH) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.length = 0
        self._capacity = capacity

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocate the buffers with the dtype, device and heads of the first rows."""
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys = self._buffer(key_states, self._capacity)
        self.values = self._buffer(value_states, self._capacity)
        self.is_initialized = True

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        *args: Any,  # noqa: ARG002  the base class's signature
        **kwargs: Any,  # noqa: ARG002
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append rows [1, heads, n, head_dim] in place; returns views of all rows in use."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        end = self.length + key_states.shape[-2]
        if end > self.keys.shape[-2]:
            self._grow(end)
        self.keys[:, :, self.length : end] = key_states
        self.values[:, :, self.length : end] = value_states
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def _grow(self, needed: int) -> None:
        capacity = max(needed + GROWTH, min(2 * self.keys.shape[-2], needed + 4 * GROWTH))
        for name in ("keys", "values"):
            old: torch.Tensor = getattr(self, name)
            new = self._buffer(old, capacity)
            new[:, :, : self.length] = old[:, :, : self.length]
            setattr(self, name, new)

    @staticmethod
    def _buffer(like: torch.Tensor, capacity: int) -> torch.Tensor:
        shape = (*like.shape[:-2], capacity, like.shape[-1])
        return torch.empty(shape, dtype=like.dtype, device=like.device)

    def move(self, slots: torch.Tensor, start: int) -> None:
        """Copy the rows at `slots` (ascending, all >= start) to start, start + 1, ..."""
        end = start + slots.shape[0]
        # index_select copies first: source and target slots may overlap
        self.keys[:, :, start:end] = self.keys.index_select(-2, slots)
        self.values[:, :, start:end] = self.values.index_select(-2, slots)

    def get_seq_length(self) -> int:
        """Slots in use."""
        return self.length

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """(keys that the next rows will see, offset 0)."""
        return self.length + query_length, 0

    def get_max_length(self) -> int:
        """No limit of its own."""
        return -1

    def get_max_cache_shape(self) -> int:
        """The older name of `get_max_length`."""
        return -1

    def crop(self, tokens_to_remove: int) -> None:
        """Forget the last `-tokens_to_remove` rows (a number <= 0)."""
        self.length += tokens_to_remove

    def nbytes(self) -> int:
        """Bytes allocated."""
        return self.keys.nbytes + self.values.nbytes if self.is_initialized else 0


class KVCache(Cache):
    """All layers' buffers of one sequence; `token_ids` are the committed tokens whose rows it holds."""

    def __init__(self, capacity: int = GROWTH) -> None:
        self.buffers: list[BufferLayer] = []
        super().__init__(layers=self.buffers)  # type: ignore[arg-type]  # one list under two names, ours with its type
        self.capacity = capacity
        self.token_ids: list[int] = []

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append rows to one layer, made on its first use."""
        while len(self.buffers) <= layer_idx:
            self.buffers.append(self._new_layer())
        return self.buffers[layer_idx].update(key_states, value_states, *args, **kwargs)

    def _new_layer(self) -> BufferLayer:
        return BufferLayer(self.capacity)

    @property
    def length(self) -> int:
        """Committed rows: draft rows of a forward in progress are not counted."""
        return len(self.token_ids)

    def commit(self, token_ids: Sequence[int], rows: Sequence[int]) -> None:
        """After a forward: its rows `rows` (ascending, 0 for its first) hold `token_ids`; forget its other rows."""
        assert len(token_ids) == len(rows)
        if len(rows) and rows[-1] != len(rows) - 1:
            self._gather(rows)
        self.token_ids.extend(token_ids)
        for layer in self.buffers:
            layer.length = self.length

    def _gather(self, rows: Sequence[int]) -> None:
        """Move the last forward's rows `rows` to the front of its slots."""
        start = self.length
        slots: dict[torch.device, torch.Tensor] = {}
        for layer in self.buffers:
            if layer.device not in slots:
                slots[layer.device] = torch.tensor([start + r for r in rows], dtype=torch.long, device=layer.device)
            layer.move(slots[layer.device], start)

    def truncate(self, length: int) -> None:
        """Forget everything from position `length` on."""
        for layer in self.buffers:
            layer.length = min(layer.length, length)
        del self.token_ids[length:]

    def nbytes(self) -> int:
        """Bytes allocated over all layers."""
        return sum(layer.nbytes() for layer in self.buffers)
