"""A KV cache that stays where it is: forwards of fixed shape write into slots that are told them in a tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from lookstruct.decoding.cache import GROWTH, BufferLayer, KVCache
from lookstruct.decoding.static.buckets import MAX_ROWS, keys_bucket, rows_bucket
from lookstruct.decoding.static.capture import Capture, Work, as_it_is
from lookstruct.decoding.static.inputs import Upload


@dataclass(frozen=True, slots=True)
class Place:
    """Where a forward of fixed shape writes, and how far it looks: `slots` int64 [n], and the first `n_keys` slots."""

    slots: torch.Tensor
    n_keys: int


class StaticLayer(BufferLayer):
    """One layer; while `place` is set, its rows go there and nothing about the layer itself changes."""

    place: Place | None = None

    @staticmethod
    def _buffer(like: torch.Tensor, capacity: int) -> torch.Tensor:
        # unused slots are looked over under a mask, and zero times what memory happens to hold may not be zero
        shape = (*like.shape[:-2], capacity, like.shape[-1])
        return torch.zeros(shape, dtype=like.dtype, device=like.device)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows [1, heads, n, head_dim] into their slots; returns views of as many slots as the mask is wide."""
        if self.place is None:
            return super().update(key_states, value_states, *args, **kwargs)
        self.keys.index_copy_(2, self.place.slots, key_states)
        self.values.index_copy_(2, self.place.slots, value_states)
        return self.keys[:, :, : self.place.n_keys], self.values[:, :, : self.place.n_keys]

    def reserve(self, slots: int) -> None:
        """Make room for `slots` slots, which moves the buffers if there was not enough."""
        if slots > self.keys.shape[-2]:
            self._grow(slots)


class StaticCache(KVCache):
    """`KVCache` with captured forwards of its own: they know its buffers by address and die when these move."""

    buffers: list[StaticLayer]  # type: ignore[assignment]  # narrower than the base class's, and only we append to it

    def __init__(self, capacity: int = GROWTH, capture: Capture = as_it_is) -> None:
        super().__init__(capacity)
        self._capture = capture
        self._captured: dict[tuple[int, int], Work] = {}
        self._moves: dict[int, _Moves] = {}

    def _new_layer(self) -> StaticLayer:
        return StaticLayer(self.capacity)

    @property
    def is_ready(self) -> bool:
        """Whether the buffers exist: the first forward makes them, and it is one of no fixed shape."""
        return bool(self.buffers) and all(layer.is_initialized for layer in self.buffers)

    @property
    def tensors(self) -> list[torch.Tensor]:
        """The buffers of all layers."""
        return [tensor for layer in self.buffers for tensor in (layer.keys, layer.values)]

    def reserve(self, rows: int) -> int:
        """Room for a forward of `rows` rows behind the committed ones; how many keys it looks over."""
        n_keys = keys_bucket(self.length + rows)
        if n_keys > self.buffers[0].keys.shape[-2]:
            for layer in self.buffers:
                layer.reserve(n_keys + MAX_ROWS)
            self._captured.clear()
            self._moves.clear()
        return n_keys

    @contextmanager
    def writing(self, slots: torch.Tensor, n_keys: int) -> Iterator[None]:
        """Within it, a forward's rows go to `slots`, and its attention runs over the first `n_keys` slots."""
        place = Place(slots, n_keys)
        for layer in self.buffers:
            layer.place = place
        try:
            yield
        finally:
            for layer in self.buffers:
                layer.place = None

    def captured(self, rows: int, n_keys: int, work: Work, tensors: Sequence[torch.Tensor]) -> Work:
        """The captured form of `work`, a forward of `rows` rows over `n_keys` keys of this cache."""
        key = (rows, n_keys)
        if key not in self._captured:
            self._captured[key] = self._capture(work, [*tensors, *self.tensors])
        return self._captured[key]

    def _gather(self, rows: Sequence[int]) -> None:
        n = rows_bucket(rows[-1] + 1)
        if n is None or self.length + n > self.buffers[0].keys.shape[-2]:
            super()._gather(rows)
            return
        if n not in self._moves:
            self._moves[n] = _Moves(self, n, self._capture)
        self._moves[n].run(self.length, rows)


class _Moves:
    """Rows of a forward of up to `n` rows moved to the front of its slots, in all layers at once."""

    def __init__(self, cache: StaticCache, n: int, capture: Capture) -> None:
        tensors = cache.tensors
        self._n = n
        self._slots = Upload((2, n), torch.int64, tensors[0].device)
        source, target = self._slots.device

        def move() -> None:
            for tensor in tensors:
                tensor.index_copy_(2, target, tensor.index_select(2, source))

        self._send(0, [])  # a capture may run it: let that move nothing
        self._run = capture(move, [self._slots.device, *tensors])

    def run(self, start: int, rows: Sequence[int]) -> None:
        """Slots start + rows[i] -> start + i; behind them nothing moves."""
        self._send(start, rows)
        self._run()

    def _send(self, start: int, rows: Sequence[int]) -> None:
        slots = self._slots.writable()
        slots[:] = range(start, start + self._n)
        slots[0, : len(rows)] = [start + row for row in rows]
        self._slots.send()
