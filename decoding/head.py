"""Hidden states -> logits: of the whole vocabulary, or, where the grammar leaves few tokens, of those alone.

Most choices on extraction are among a few tokens (the page's own lines, digits, a closing quote). Reading only their
rows of the output matrix spares most of its bytes, which is what a row of logits costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  its usual name
from numpy.typing import NDArray

from lookstruct.decoding.constraint import Bitmask, allowed_ids, n_bits

NARROW = 4096
"""Legal tokens up to which only their rows are read. By count, never by clock: plain decoding does the same."""

Finish = Callable[[torch.Tensor], torch.Tensor]
"""What a model does to its logits after the product, element by element: scales and softcaps."""


class Head:
    """One model's output layer; `finish` is what follows the product.

    >>> linear = torch.nn.Linear(2, 3, bias=False)
    >>> head = Head(linear, lambda logits: logits * 2)
    >>> hidden = torch.ones(1, 2)
    >>> bool((head.among(hidden[0], np.array([2])) == head(hidden)[0, 2:]).all())
    True
    """

    def __init__(self, linear: torch.nn.Module, finish: Finish) -> None:
        self._linear = linear
        self._finish = finish
        self.is_plain = type(linear) is torch.nn.Linear

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits [k, width] of hidden states [k, hidden_size]."""
        return self._finish(self._linear(hidden))

    def among(self, hidden: torch.Tensor, ids: NDArray[np.int64]) -> torch.Tensor:
        """Logits [len(ids)] of one hidden state [hidden_size], for these tokens only; needs `is_plain`."""
        linear: Any = self._linear
        index = torch.from_numpy(ids).to(hidden.device)
        bias = None if linear.bias is None else linear.bias[index]
        return self._finish(F.linear(hidden, linear.weight.index_select(0, index), bias))


def is_narrow(mask: Bitmask | None) -> bool:
    """Whether the mask leaves so few tokens that only their logits are worth computing.

    >>> is_narrow(np.array([3, 0], np.int32)), is_narrow(None)
    (True, False)
    """
    return mask is not None and n_bits(mask) <= NARROW


def narrow_ids(mask: Bitmask | None, width: int) -> NDArray[np.int64] | None:
    """The tokens that a narrow mask leaves; None for another."""
    return allowed_ids(mask, width) if mask is not None and is_narrow(mask) else None


def heads(linear: torch.nn.Module, config: Any) -> Iterator[Head]:
    """The ways in which known models turn hidden states into logits."""
    yield Head(linear, lambda logits: logits)
    if cap := getattr(config, "final_logit_softcapping", None):
        yield Head(linear, lambda logits: torch.tanh(logits / cap) * cap)
    for name, sign in (("logit_scale", 1), ("logits_scaling", -1)):
        if scale := getattr(config, name, None):
            yield Head(linear, _times(float(scale) ** sign))


def _times(factor: float) -> Finish:
    return lambda logits: logits * factor
