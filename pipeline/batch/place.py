"""Where a batch's pages are fetched and read (`place_of`): by this process, or by workers on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from lookstruct.schemas.errors import UsageError

if TYPE_CHECKING:
    from lookstruct.pipeline.batch.running import Pages
    from lookstruct.pipeline.settings import Settings

OFF = "off"
"""Keeps a run here that was begun on Ray."""

Place = Callable[["Pages", str], AbstractAsyncContextManager["Pages"]]
"""This process's own flow and a schema's name -> the pages that a batch works with."""


@contextmanager
def place_of(settings: Settings) -> Iterator[Place]:
    """The place that the settings name, ready; UsageError if it is not there."""
    address = settings.batch.ray
    if address is None or address == OFF:
        yield lambda flow, _: nullcontext(flow)
        return
    if settings.batch.devices:
        raise UsageError("Both --ray and --devices were given; Ray gives each model a GPU by itself.")
    from lookstruct.pipeline.cluster.connecting import cluster_size, connected
    from lookstruct.pipeline.cluster.flow import RayFlow

    with connected(address) as ray:
        size = cluster_size(ray, settings)
        yield lambda _, schema: RayFlow(ray, settings, schema, size)
