"""A machine's free memory -> the model to use on it (`recommend`); docs/models.md has the same as a table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """A model and what it takes: `needs_gb` is its weights in `dtype` plus what a page of 8,192 tokens adds."""

    model: str
    dtype: str
    needs_gb: float
    remark: str

    @property
    def flags(self) -> str:
        """How to ask for it."""
        return f"--model {self.model}" + ("" if self.dtype == "auto" else f" --dtype {self.dtype}")


ON_CPU = (
    Choice("bundled:1.5b", "auto", 9.0, "far more values right than the 0.5B, about 3.5 times its time a page"),
    Choice("bundled", "auto", 4.0, "a demonstration: it picks wrong values where several look alike"),
    Choice("bundled", "bfloat16", 2.5, "a demonstration, in half the memory"),
)
ON_GPU = (
    Choice("Qwen/Qwen2.5-7B-Instruct", "auto", 20.0, "from the model hub, not measured here"),
    Choice("Qwen/Qwen2.5-3B-Instruct", "auto", 10.0, "from the model hub, not measured here; see its licence"),
    Choice("bundled:1.5b", "auto", 5.5, "far more values right than the 0.5B"),
    Choice("bundled", "auto", 3.0, "a demonstration: it picks wrong values where several look alike"),
)
"""Best first; auto is float32 on a CPU and bfloat16 on a GPU."""


def recommend(free_cpu_gb: float, free_gpu_gb: float | None = None) -> Choice | None:
    """The best model that fits; on the GPU (None: there is none) before the CPU. None where none fits.

    >>> recommend(23).flags, recommend(6).flags, recommend(3).flags, recommend(1)
    ('--model bundled:1.5b', '--model bundled', '--model bundled --dtype bfloat16', None)
    """
    on_gpu = (choice for choice in ON_GPU if free_gpu_gb is not None and choice.needs_gb <= free_gpu_gb)
    on_cpu = (choice for choice in ON_CPU if choice.needs_gb <= free_cpu_gb)
    return next(on_gpu, None) or next(on_cpu, None)
