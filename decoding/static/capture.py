"""A piece of device work of fixed shape -> something that repeats it in one launch, where the device can do that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

Work = Callable[[], None]
"""Reads tensors and writes tensors, always the same ones; returns nothing and decides nothing."""
Capture = Callable[[Work, Sequence[torch.Tensor]], Work]
"""Turns work into a faster form of it.

The tensors are all that the work reads or writes and that may change between two runs. What is captured by address has
no need of them; what is captured by tracing has.
"""
WARM_UPS = 2
"""Runs before a capture, in which libraries set themselves up; work must bear being repeated on the same inputs."""


def capture_for(device: torch.device) -> Capture:
    """CUDA graphs on a GPU, the work as it is elsewhere."""
    return CudaGraphs(device) if device.type == "cuda" else as_it_is


def as_it_is(work: Work, tensors: Sequence[torch.Tensor]) -> Work:  # noqa: ARG001  there is nothing to capture
    """The work itself."""
    return work


class CudaGraphs:
    """Records the launches of a work once and repeats them as one; RuntimeError if the work waits for the device.

    All graphs share the memory for what they make and drop: work leaves its results in tensors made outside of it.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, work: Work, tensors: Sequence[torch.Tensor]) -> Work:  # noqa: ARG002  addresses are enough
        """Run `work` a few times on a side stream, as captures ask for, then record it."""
        with torch.cuda.device(self._device):
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(WARM_UPS):
                    work()
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self._pool):
                work()
        return graph.replay
