"""The engine works on a twin: the user's model stays as it is, and no weight exists twice."""

from __future__ import annotations

import copy

import pytest
import tiny
import torch

from lookstruct.decoding.cache import KVCache
from lookstruct.decoding.runner import Rows, Runner
from lookstruct.decoding.twin import twin_of
from lookstruct.schemas.errors import ModelUnsupported


@pytest.mark.parametrize("family", [*tiny.CONFIGS, *tiny.CANNOT_DRAFT])
def test_a_twin_has_the_same_tensors(family: str) -> None:
    model = tiny.model(family)
    twin = twin_of(model)
    assert twin is not model
    for (name, tensor), (own_name, own) in zip(model.named_parameters(), twin.named_parameters(), strict=True):
        assert name == own_name
        assert tensor is own


def test_running_leaves_the_model_and_its_configuration_alone() -> None:
    model = tiny.model("llama")
    implementation = model.config._attn_implementation
    ids = torch.tensor([[1, 2, 3]])
    with torch.no_grad():
        before = model(input_ids=ids).logits
    runner = Runner(model)
    runner.hidden(KVCache(), Rows.chain([1, 2, 3], 0))
    with torch.no_grad():
        after = model(input_ids=ids).logits
    assert model.config._attn_implementation == implementation
    assert not any("forward" in module.__dict__ for module in model.modules())
    assert torch.equal(before, after)


def test_a_model_in_training_stays_in_training() -> None:
    model = copy.deepcopy(tiny.model("llama")).train()
    Runner(model)
    assert model.training


def test_a_model_that_cannot_be_copied_is_refused_in_words() -> None:
    model = copy.deepcopy(tiny.model("llama"))
    model.handle = (line for line in ())
    with pytest.raises(ModelUnsupported, match="cannot be copied"):
        twin_of(model)
