"""Few-row products equal the stock layer's to rounding, for every row count, shape and kernel."""

from __future__ import annotations

import pytest
import tiny
import torch
import torch.nn.functional as F  # noqa: N812  its usual name
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.linear import (
    FEW_ROWS,
    LinearMode,
    default_mode,
    few_row_linear,
    split_product,
    swapped_product,
    use_few_row_kernels,
)
from lookstruct.decoding.request import Hints, Options


def case(n: int, n_in: int, n_out: int, dtype: torch.dtype, seed: int = 0) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(
        torch.randn(*shape, generator=generator, dtype=dtype) for shape in ((n, n_in), (n_out, n_in), (n_out,))
    )


@given(
    st.integers(1, 130), st.sampled_from([1, 3, 16, 24]), st.sampled_from([1, 7, 32, 48]), st.booleans(), st.booleans()
)
def test_every_row_count_gives_the_stock_product(n: int, n_in: int, n_out: int, biased: bool, double: bool) -> None:
    x, weight, bias = case(n, n_in, n_out, torch.float64 if double else torch.float32)
    out = few_row_linear(x, weight, bias if biased else None)
    torch.testing.assert_close(out, F.linear(x, weight, bias if biased else None))


@pytest.mark.parametrize("n", [1, FEW_ROWS, FEW_ROWS + 1, 40])
@pytest.mark.parametrize("product", [split_product, swapped_product])
def test_each_kernel_serves_any_row_count(product: object, n: int) -> None:
    if product is swapped_product and not torch.backends.mkldnn.is_available():
        pytest.skip("this torch has no oneDNN")
    x, weight, bias = case(n, 20, 36, torch.float32)
    assert callable(product)
    torch.testing.assert_close(product(x, weight, bias), F.linear(x, weight, bias))


def test_leading_dimensions_are_kept() -> None:
    x, weight, bias = case(6, 8, 5, torch.float32)
    out = few_row_linear(x.reshape(1, 2, 3, 8), weight, bias)
    assert out.shape == (1, 2, 3, 5)
    torch.testing.assert_close(out.reshape(6, 5), F.linear(x, weight, bias))


def test_rows_that_are_views_of_other_tensors_come_out_right() -> None:
    wide, weight, bias = case(6, 32, 16, torch.float32)
    x = wide[:, ::2]
    torch.testing.assert_close(few_row_linear(x, weight[:, ::2], bias), F.linear(x, weight[:, ::2], bias))


def test_a_row_comes_out_the_same_whoever_stands_beside_it() -> None:
    """To rounding: what decides a token in fp64 must not depend on how many drafts ride along."""
    x, weight, bias = case(40, 64, 48, torch.float64)
    together = few_row_linear(x, weight, bias)
    alone = torch.cat([few_row_linear(row[None], weight, bias) for row in x])
    torch.testing.assert_close(together, alone, rtol=1e-12, atol=1e-12)


def test_only_plain_linear_layers_get_the_kernels() -> None:
    class Adapted(torch.nn.Linear):
        """A layer with a forward of its own, as adapters make them."""

        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return super().forward(input) + 1

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), Adapted(4, 4))
    x = torch.ones(2, 4)
    before = model(x)
    use_few_row_kernels(model)
    assert "forward" in model[0].__dict__
    assert "forward" not in model[1].__dict__
    torch.testing.assert_close(model(x), before)


@pytest.mark.parametrize(
    ("device", "dtype", "mode"),
    [
        ("cpu", torch.float32, "few-rows"),
        ("cpu", torch.float64, "few-rows"),
        ("cpu", torch.bfloat16, "stock"),
        ("cuda", torch.float32, "stock"),
    ],
)
def test_the_mode_is_fixed_by_device_and_dtype(device: str, dtype: torch.dtype, mode: str) -> None:
    assert default_mode(torch.device(device), dtype) == mode


@pytest.mark.parametrize("mode", ["stock", "few-rows"])
def test_a_mode_can_be_chosen_and_lookahead_is_exact_within_it(mode: LinearMode) -> None:
    model = tiny.model("qwen2", dtype=torch.float32)
    texts = []
    for decoding in ("auto", "autoregressive"):
        engine = Engine(model, tiny.tokenizer(), cost=CostModel.free(), linear=mode)
        assert engine.runner.linear_mode == mode
        options = Options(mode=decoding, max_new_tokens=40)  # type: ignore[arg-type]
        made = engine.generate([4, 5, 6, 4, 5], hints=Hints(page="the kitchen table, the lazy dog"), options=options)
        texts.append(made.token_ids)
    assert texts[0] == texts[1]
