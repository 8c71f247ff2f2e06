"""What a cluster has + the settings -> how many browsers and models it holds (`Size`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lookstruct.schemas.errors import UsageError

if TYPE_CHECKING:
    from lookstruct.pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Size:
    """How many of each: `pages_each` are fetched at once by a fetcher, `requests_each` asked at once by a model.

    `gpus_each` is 0 or 1; `threads_each` is what a model on CPUs may use.
    """

    n_fetchers: int
    n_models: int
    pages_each: int
    requests_each: int
    gpus_each: int
    threads_each: int

    @property
    def n_readers(self) -> int:
        """How many pages are read at once."""
        return self.n_models * self.requests_each


def size_of(settings: Settings, n_nodes: int, n_gpus: int, n_cpus: int) -> Size:
    """One browser a node; one model a GPU, or a node where there are none or none is wanted.

    UsageError if more models are wanted than there are GPUs for them.
    """
    is_local = settings.engine.engine == "local"
    wants_gpus = is_local and n_gpus > 0 and settings.model.device.partition(":")[0] in ("auto", "cuda")
    n_models = settings.batch.models or (n_gpus if wants_gpus else n_nodes)
    if wants_gpus and n_models > n_gpus:
        raise UsageError(
            f"--models {n_models} needs as many GPUs, and the cluster has {n_gpus}; ask for fewer, or add --device cpu."
        )
    n_fetchers = min(n_nodes, settings.batch.concurrency)
    return Size(
        n_fetchers=n_fetchers,
        n_models=n_models,
        pages_each=math.ceil(settings.batch.concurrency / n_fetchers),
        requests_each=1 if is_local else settings.engine.requests,
        gpus_each=int(wants_gpus),
        threads_each=max(n_cpus // n_models, 1),
    )
