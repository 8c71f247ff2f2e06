"""A model -> its twin: modules and configuration of our own around the very same tensors.

The engine changes how a model attends and how its linear layers multiply. It does so on a twin, so that whoever else
holds the model, on this thread or another, sees nothing of it: not during a forward, and not after one that failed.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from lookstruct.schemas.errors import ModelUnsupported

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def twin_of(model: PreTrainedModel) -> PreTrainedModel:
    """A copy of `model` that shares all parameters and buffers: some hundred Python objects, no weights.

    What later happens *inside* the shared tensors (training in place) holds for the twin too; what changes the model
    itself (another device or dtype, an adapter, replaced layers) does not: make a new engine then. Raises
    ModelUnsupported for a model that Python cannot copy.
    """
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    try:
        return copy.deepcopy(model, shared)
    except (TypeError, RuntimeError) as exc:
        raise ModelUnsupported(
            f"{type(model).__name__} cannot be copied ({exc}): give the model itself, without a wrapper around it."
        ) from exc
