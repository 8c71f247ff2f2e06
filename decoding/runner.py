"""Rows of tokens -> hidden states -> logits: the only file that calls the model.

What a model does is tried, not looked up: at the first use two tiny forwards tell how its hidden states become logits
(softcaps and scales included) and whether it obeys a tree mask at all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from lookstruct.decoding.attention import Mask, TreeMask, attend_by_tree, attending
from lookstruct.decoding.cache import GROWTH, KVCache
from lookstruct.decoding.head import Head, heads
from lookstruct.decoding.linear import SIZES, LinearMode, default_mode, use_few_row_kernels
from lookstruct.decoding.twin import twin_of
from lookstruct.schemas.errors import ModelUnsupported

if TYPE_CHECKING:
    from transformers import PreTrainedModel

PREFILL_CHUNK = 512
"""Prompt tokens per prefill forward: bounds the memory of activations and masks."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What one forward evaluates for one sequence, behind its committed slots.

    `positions` int64 [n]; `visible` bool [n, n]: row i sees row j.
    """

    token_ids: Sequence[int]
    positions: NDArray[np.int64]
    visible: NDArray[np.bool_]

    @staticmethod
    def chain(token_ids: Sequence[int], start: int) -> Rows:
        """Consecutive tokens at positions start, start + 1, ..."""
        n = len(token_ids)
        return Rows(token_ids, np.arange(start, start + n), np.tri(n, dtype=np.bool_))


class Runner:
    """Runs one frozen model on a twin of it, so that `model` itself stays as it is for whoever shares it.

    `linear` None takes the mode that suits device and dtype. Thread-compatible, not thread-safe.
    """

    def __init__(self, model: PreTrainedModel, *, linear: LinearMode | None = None) -> None:
        if model.config.is_encoder_decoder:
            raise ModelUnsupported(f"{type(model).__name__} is an encoder-decoder; a decoder-only model is needed.")
        self.model = model
        self.device: torch.device = model.device
        self.dtype: torch.dtype = model.dtype
        self.linear_mode: LinearMode = linear or default_mode(self.device, self.dtype)
        self._twin: Any = twin_of(model).eval()
        self._base: Any = self._twin.get_decoder() or self._twin.base_model
        self._cache_name = _cache_keyword(self._base)
        attend_by_tree(self._twin)
        if self.linear_mode == "few-rows":
            use_few_row_kernels(self._twin)

    @property
    def width(self) -> int:
        """Rows of the output matrix: at least the tokenizer's vocabulary."""
        embeddings: Any = self.model.get_output_embeddings()
        return int(embeddings.weight.shape[0])

    @property
    def hidden_size(self) -> int:
        """Width of a hidden state."""
        embeddings: Any = self.model.get_output_embeddings()
        return int(embeddings.weight.shape[1])

    @property
    def max_context(self) -> int:
        """Positions the model was made for; a very large number where it does not say.

        With longrope, those before its switch: from there on all positions are rotated otherwise, the ones that are
        cached too, so that a text across it comes out one way token by token and another way in longer forwards.
        """
        config: Any = self.model.config.get_text_config(decoder=True)
        positions = int(getattr(config, "max_position_embeddings", None) or 1 << 30)
        return min(positions, _rope_switch(config) or positions)

    @property
    def row_sizes(self) -> tuple[int, ...]:
        """The row counts that forwards are filled up to, ascending; () where any count is taken as it is."""
        return SIZES if self.linear_mode == "few-rows" else ()

    @property
    def logit_blocks(self) -> tuple[int, ...]:
        """Rows of logits worth computing together, by what they cost: on a CPU 2 as much as 1, and 16 as much as 5."""
        if self.device.type != "cpu":
            return (64,)
        return (2, 4, 16) if self.linear_mode == "few-rows" else (1, 4, 16)

    def new_cache(self, capacity: int = GROWTH) -> KVCache:
        """An empty cache for this model, with `capacity` slots at first."""
        return KVCache(capacity)

    @torch.no_grad()
    def hidden(self, cache: KVCache, rows: Rows) -> torch.Tensor:
        """Last hidden states [n, hidden_size] of `rows`; their KV is appended behind the committed slots."""
        return self._forward(
            cache,
            torch.tensor(list(rows.token_ids), device=self.device),
            torch.from_numpy(rows.positions).to(self.device),
            TreeMask(cache.length, rows.positions, rows.visible, self.dtype, self.device),
        )

    def _forward(self, cache: KVCache, token_ids: torch.Tensor, positions: torch.Tensor, mask: Mask) -> torch.Tensor:
        """Last hidden states [n, hidden_size] of int64 token_ids [n] at positions [n]."""
        with attending(mask):
            out = self._base(
                input_ids=token_ids[None],
                attention_mask=mask.additive(),
                position_ids=positions[None],
                use_cache=True,
                **{self._cache_name: cache},
            )
        hidden: torch.Tensor = out.last_hidden_state[0]
        return hidden

    @torch.no_grad()
    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits [k, width] of hidden states [k, hidden_size]."""
        return self._head(hidden)

    @torch.no_grad()
    def logits_among(self, hidden: torch.Tensor, ids: NDArray[np.int64]) -> torch.Tensor | None:
        """Logits [len(ids)] of one hidden state [hidden_size]; None where single rows of the head cannot be read."""
        return self._head.among(hidden, ids) if self._head.is_plain else None

    def prefill(self, cache: KVCache, token_ids: Sequence[int], cancelled: Callable[[], bool] = lambda: False) -> None:
        """Append the KV of `token_ids` in chunks; computes no logits. Stops between chunks when `cancelled()`."""
        for start in range(0, len(token_ids), PREFILL_CHUNK):
            if cancelled():
                return
            chunk = token_ids[start : start + PREFILL_CHUNK]
            self.hidden(cache, Rows.chain(chunk, cache.length))
            cache.commit(chunk, range(len(chunk)))

    @cached_property
    def _head(self) -> Head:
        """hidden -> logits, found by comparing with the model's own logits on two tokens."""
        linear: Any = self._twin.get_output_embeddings()
        config: Any = self.model.config.get_text_config(decoder=True)
        hidden = self.hidden(KVCache(), Rows.chain([1, 2], 0))
        with torch.no_grad():
            ids = torch.tensor([[1, 2]], device=self.device)
            reference = self.model(input_ids=ids, use_cache=False).logits[0].float()
            for head in heads(linear, config):
                if torch.allclose(head(hidden).float(), reference, rtol=2e-2, atol=2e-2 * float(reference.std())):
                    return head
        raise ModelUnsupported(
            f"The logits of {type(self.model).__name__} are not a known function of its last hidden states; "
            "use --decoding autoregressive with model.generate, or report the model."
        )

    @cached_property
    def obeys_tree_mask(self) -> bool:
        """Whether two branches of a tree come out as they do on their own (alibi and recurrent models fail this)."""
        try:
            return self._try_tree()
        except Exception:  # any failure means the same: this model cannot run a tree
            return False

    def _try_tree(self) -> bool:
        a, b, c, d = 3, 4, 5, 6
        visible = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]], np.bool_)
        tree = self.hidden(KVCache(), Rows([a, b, c, d], np.array([0, 1, 1, 2]), visible))
        chain = KVCache()
        first = self.hidden(chain, Rows.chain([a], 0))
        chain.commit([a], [0])
        rest = self.hidden(chain, Rows.chain([c, d], 1))
        own = torch.cat([first, rest]).float()
        if any(layer.length != 3 for layer in chain.buffers) or not chain.buffers:
            return False
        with torch.no_grad():
            base: Any = self.model.get_decoder() or self.model.base_model
            stock = base(input_ids=torch.tensor([[a, c, d]], device=self.device), use_cache=False)
        loose = 2e-2 if self.dtype in (torch.bfloat16, torch.float16) else 1e-4
        scale = float(own.abs().max()) or 1.0
        error = max(
            float((tree[[0, 2, 3]].float() - own).abs().max()),
            float((stock.last_hidden_state[0].float() - own).abs().max()),
        )
        return error <= loose * scale


def _rope_switch(config: Any) -> int | None:
    """The text length beyond which longrope rotates otherwise; None for every other kind of rotary embedding."""
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    for kind in (rope, *(per_layer for per_layer in rope.values() if isinstance(per_layer, dict))):
        if kind.get("rope_type", kind.get("type")) == "longrope":
            named = getattr(config, "original_max_position_embeddings", None)
            switch = kind.get("original_max_position_embeddings") or named
            return None if switch is None else int(switch)
    return None


def _cache_keyword(base: Any) -> str:
    """transformers renames `past_key_values` to `cache` between 5.17 and 5.40."""
    names = inspect.signature(base.forward).parameters
    return "cache" if "cache" in names else "past_key_values"
