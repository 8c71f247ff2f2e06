"""An address -> Ray (`connected`): joined, or started on this machine and ended again with all its processes."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.cluster.guard import guarded
from lookstruct.pipeline.cluster.size import Size, size_of
from lookstruct.schemas.errors import UsageError

if TYPE_CHECKING:
    from lookstruct.pipeline.settings import Settings

LOCAL = "local"
"""Stands for a Ray that is started here, and ends with the batch."""
OBJECT_STORE_BYTES = 256 * 2**20
"""Of shared memory for a local Ray: pages pass through it one by one."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The module `ray`, connected; UsageError if it is not installed, or nothing answers at `address`.

    What it is used for inside must be over at the end: Ray then ends the workers of this process.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing leaves the machine but requests for pages
    try:
        import ray
    except ImportError as exc:
        raise UsageError("--ray needs a package that is missing; run pip install 'lookstruct[ray]'.") from exc
    terminate = signal.getsignal(signal.SIGTERM)
    if address == LOCAL:
        os.environ.setdefault("RAY_worker_niceness", "0")  # or a busy machine starves the workers
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex())  # or Ray would keep one in the home folder
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder, _guarded(address, folder):
        try:
            ray.init(**_how(address, folder), log_to_driver=False, logging_level=logging.CRITICAL)
        except Exception as exc:  # Ray has no class of its own for this
            raise UsageError(_advice(address, exc)) from exc
        signal.signal(signal.SIGTERM, terminate)  # Ray's own would end this process before browser and ledger
        try:
            yield ray
        finally:
            ray.shutdown()


def _guarded(address: str, folder: str) -> AbstractContextManager[None]:
    """A Ray that is started here ends with this process; one that is joined lives on."""
    return guarded(folder) if address == LOCAL else nullcontext()


def _how(address: str, folder: str) -> dict[str, Any]:
    if address != LOCAL:
        return {"address": address}
    here = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES, "_temp_dir": folder}
    return {"address": LOCAL, **here}


def _advice(address: str, exc: Exception) -> str:
    reason = str(exc).strip().splitlines()[0] if str(exc).strip() else type(exc).__name__
    if address == LOCAL:
        return f"Ray could not be started on this machine ({reason}); run the batch without --ray."
    return f"There is no Ray at {address} ({reason}); start one with ray start --head, or use --ray local."


def cluster_size(ray: Any, settings: Settings) -> Size:
    """How many browsers and models the connected cluster is to hold."""
    resources = ray.cluster_resources()
    n_nodes = sum(node["Alive"] for node in ray.nodes())
    return size_of(settings, n_nodes, int(resources.get("GPU", 0)), int(resources.get("CPU", 1)))
