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
    return as_cuda_graph if device.type == "cuda" else as_it_is


def as_it_is(work: Work, tensors: Sequence[torch.Tensor]) -> Work:  # noqa: ARG001  there is nothing to capture
    """The work itself."""
    return work


def as_cuda_graph(work: Work, tensors: Sequence[torch.Tensor]) -> Work:
    """Record the launches of `work` once and repeat them as one; raises RuntimeError if it waits for the device."""
    with torch.cuda.device(tensors[0].device):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UPS):
                work()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
    return graph.replay
