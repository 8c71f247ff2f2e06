"""Attention over a draft tree: who sees whom (`TreeMask`), and the attention function that applies it in every model.

Registered with transformers' `AttentionInterface`, so no model class is patched. It does three things that the stock
functions don't do together: it applies a layer's sliding window by *position* (rows of a tree do not stand at their
cache index), it packs the query heads that share a KV head into one matrix (no copy of the KV cache), and it knows
the softcap of Gemma 2 and the attention sinks of gpt-oss.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  its usual name
from numpy.typing import NDArray
from transformers import AttentionInterface

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NAME = "lookstruct_tree"
PACK_ROWS = 128
"""Up to this many query rows heads are packed; above (prefill), repeating KV heads costs less than the larger mask."""


class Mask(Protocol):
    """Who sees whom in one forward."""

    def additive(self, window: int | None = None, groups: int = 1) -> torch.Tensor:
        """Float mask [1, 1, groups * n, keys]: 0 where a row may look, -inf where not.

        `window` is a layer's sliding window: keys `window` or more positions back are hidden. `groups` repeats the
        rows for packed query heads.
        """
        ...


class TreeMask:
    """What the rows of one forward may see: `past` committed slots before them, and each other by `visible`.

    `visible` is bool [n, n], True where row i sees row j (itself included); `positions` int [n].
    """

    def __init__(
        self,
        past: int,
        positions: NDArray[np.int64],
        visible: NDArray[np.bool_],
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        n = len(positions)
        assert visible.shape == (n, n), f"visible is {visible.shape}, expected {(n, n)}"
        self._allowed = np.concatenate([np.ones((n, past), np.bool_), visible], axis=1)
        self._distance = positions[:, None] - np.concatenate([np.arange(past), positions])[None, :]
        self._dtype, self._device = dtype, device
        self._built: dict[tuple[int | None, int], torch.Tensor] = {}

    def additive(self, window: int | None = None, groups: int = 1) -> torch.Tensor:
        """See `Mask.additive`; there are past + n keys."""
        if window is not None and int(self._distance.max()) < window:
            window = None
        key = (window, groups)
        if key not in self._built:
            allowed = self._allowed if window is None else self._allowed & (self._distance < window)
            mask = torch.zeros(allowed.shape, dtype=self._dtype)
            mask.masked_fill_(torch.from_numpy(~allowed), -torch.inf)
            self._built[key] = mask.to(self._device).repeat(groups, 1)[None, None]
        return self._built[key]


_mask: ContextVar[Mask] = ContextVar("lookstruct_tree_mask")


def tree_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,  # noqa: ARG001  the mask of the forward in progress is used, see `attending`
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Attention for one layer: query [1, heads, n, d], key and value [1, kv_heads, m, d] -> [1, n, heads, d]."""
    heads, n, dim = query.shape[1:]
    kv_heads = key.shape[1]
    groups = heads // kv_heads
    window = sliding_window if sliding_window is not None else getattr(module, "sliding_window", None)
    tree = _mask.get()
    scale = scaling if scaling is not None else dim**-0.5
    if softcap is not None or s_aux is not None:
        out = _explicit(query, key, value, tree.additive(window), scale, softcap, s_aux)
    elif n > PACK_ROWS:
        out = F.scaled_dot_product_attention(
            query, key, value, attn_mask=tree.additive(window), scale=scale, enable_gqa=groups > 1
        )
    else:
        packed = query.reshape(1, kv_heads, groups * n, dim)
        out = F.scaled_dot_product_attention(packed, key, value, attn_mask=tree.additive(window, groups), scale=scale)
        out = out.reshape(1, heads, n, value.shape[-1])
    return out.transpose(1, 2).contiguous(), None


def _explicit(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    scale: float,
    softcap: float | None,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    """softmax(cap(QK^T * scale) + mask)V, written out; a sink is one more logit per head that attends to nothing."""
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    scores = query @ key.transpose(-1, -2) * scale
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    scores = scores + mask
    if sinks is not None:
        column = sinks.reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1)
        scores = torch.cat([scores, column.to(scores)], dim=-1)
    precise = torch.promote_types(scores.dtype, torch.float32)
    weights = torch.softmax(scores, dim=-1, dtype=precise).to(value.dtype)
    return weights[..., : key.shape[-2]] @ value


AttentionInterface.register(NAME, tree_attention)


def attend_by_tree(model: PreTrainedModel) -> None:
    """Let `model`, which must be ours alone, attend by the tree mask of the forward in progress, see `attending`."""
    for module in model.modules():
        config: Any = getattr(module, "config", None)
        if hasattr(config, "_attn_implementation"):
            config._attn_implementation = NAME


@contextmanager
def attending(tree: Mask) -> Iterator[None]:
    """Within it, on this thread, `tree` is the mask of the forward in progress."""
    token = _mask.set(tree)
    try:
        yield
    finally:
        _mask.reset(token)
