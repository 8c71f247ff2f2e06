"""Linear layers for a handful of rows on a CPU: each row count gets the kernel that is fast for it.

`x @ W.T` as the stock layer computes it is slow on few rows, and in fp32 much so: a matrix-vector product runs on one
thread, and from two rows on a kernel is used that is made for many. The same product is to be had from kernels that
torch has anyway, without another copy of the weights. Which one is used depends on the number of rows alone, never on
a clock, so numbers are the same from run to run. `bench/linear.py` measures, docs/performance.md shows what it found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F  # noqa: N812  its usual name

LinearMode = Literal["stock", "few-rows"]
"""stock: the model's own layers. few-rows: the kernels of this file, equal to rounding; fp32 and fp64 on a CPU."""

FEW_ROWS = 4
"""Up to here the weights are split among the threads, one BLAS call each; above, oneDNN's kernel is faster."""
PARTS = 16
"""Parts the weights are split in: more than one per thread costs nothing, fewer would leave threads idle."""
ROW_STEP = 8
"""oneDNN compiles a kernel for every row count (about 1 ms each); rows are filled up to a multiple, which is free."""
SIZES = (*range(1, FEW_ROWS + 1), *range(2 * FEW_ROWS, 193, ROW_STEP))
"""The row counts that are multiplied."""


def default_mode(device: torch.device, dtype: torch.dtype) -> LinearMode:
    """The mode that measured best: few-rows in fp32 on a CPU, and in fp64, so that the strict tests run it too."""
    return "few-rows" if device.type == "cpu" and dtype in (torch.float32, torch.float64) else "stock"


def use_few_row_kernels(model: torch.nn.Module) -> None:
    """Give every plain linear layer of `model`, which must be ours alone, the forward of this file."""
    for layer in model.modules():
        if type(layer) is torch.nn.Linear and "forward" not in layer.__dict__:
            layer.__dict__["forward"] = _forward_of(layer)


def _forward_of(layer: torch.nn.Linear) -> Callable[[torch.Tensor], torch.Tensor]:
    def forward(input: torch.Tensor) -> torch.Tensor:
        return few_row_linear(input, layer.weight, layer.bias)

    return forward


def few_row_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """`x @ weight.T + bias` for x [..., n_in], weight [n_out, n_in] and bias [n_out].

    >>> x, w = torch.ones(1, 2, 3), torch.ones(4, 3)
    >>> few_row_linear(x, w, None).shape
    torch.Size([1, 2, 4])
    """
    rows = x.reshape(-1, x.shape[-1])
    if rows.shape[0] <= FEW_ROWS:
        out = split_product(rows, weight, bias)
    elif rows.dtype == torch.float32 and torch.backends.mkldnn.is_available():
        out = swapped_product(rows, weight, bias)
    else:
        out = F.linear(rows, weight, bias)
    return out.reshape(*x.shape[:-1], -1)


def split_product(rows: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """rows [n, n_in] -> [n, n_out] as a batch of `weight_part @ rows.T`: BLAS threads a batch, not one thin product."""
    parts = math.gcd(weight.shape[0], PARTS)
    blocks = weight.view(parts, -1, weight.shape[1])
    columns = rows.T.expand(parts, -1, -1)
    out = torch.bmm(blocks, columns) if bias is None else torch.baddbmm(bias.view(parts, -1, 1), blocks, columns)
    return out.view(weight.shape[0], -1).T


def swapped_product(rows: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """rows [n, n_in] -> [n, n_out] by oneDNN, as `weight @ rows.T`: it packs its right operand: the small one."""
    n = rows.shape[0]
    filled = F.pad(rows, (0, 0, 0, -n % ROW_STEP))
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(weight, filled, None, "none", [], "")
    out = product.T[:n]
    return out if bias is None else out + bias
