"""Linear layers for a handful of rows on a CPU.

`x @ W.T` falls off a cliff between one row and two: the library leaves its matrix-vector kernel for a general one that
is slow on so few rows. `(W @ x.T).T` is the same product and does not. It is swapped in per layer instance for the
length of one forward, so other users of the model see nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

FEW_ROWS = 96
"""Rows up to which the transposed product is used; above, the stock one is as fast."""


def transposed_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """`x @ weight.T + bias` for x [..., n_in], weight [n_out, n_in], computed as `(weight @ x.T).T`.

    >>> x, w = torch.ones(1, 2, 3), torch.ones(4, 3)
    >>> transposed_linear(x, w, None).shape
    torch.Size([1, 2, 4])
    """
    rows = x.reshape(-1, x.shape[-1])
    if rows.shape[0] > FEW_ROWS:
        return torch.nn.functional.linear(x, weight, bias)
    out = weight @ rows.T if bias is None else torch.addmm(bias[:, None], weight, rows.T)
    return out.T.reshape(*x.shape[:-1], -1)


class FewRowLinear:
    """The linear layers of one model, with the forward that each gets while `active`."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._layers = [m for m in model.modules() if type(m) is torch.nn.Linear and "forward" not in m.__dict__]
        self._forwards = [_bound(layer) for layer in self._layers]

    @contextmanager
    def active(self) -> Iterator[None]:
        """Swap the forwards in, and out again whatever happens."""
        for layer, forward in zip(self._layers, self._forwards, strict=True):
            layer.__dict__["forward"] = forward
        try:
            yield
        finally:
            for layer in self._layers:
                del layer.__dict__["forward"]


def _bound(layer: torch.nn.Linear) -> Callable[[torch.Tensor], torch.Tensor]:
    def forward(x: torch.Tensor) -> torch.Tensor:
        return transposed_linear(x, layer.weight, layer.bias)

    return forward
