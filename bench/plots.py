"""Runs of `bench.decoding` -> two pictures: seconds by page and arm, tokens a forward by page and arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.arms import Run

MEASURES: dict[str, tuple[str, Callable[[Run], float]]] = {
    "decode_seconds": ("decode seconds (less is better)", lambda run: run.decode_s),
    "tokens_per_forward": ("tokens a forward (more is better)", lambda run: run.tokens_per_forward),
}


def draw(runs: Sequence[Run], folder: Path) -> list[Path]:
    """One SVG for each measure, written into `folder`; needs matplotlib."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "lookstruct"  # the same runs give the same file
    folder.mkdir(parents=True, exist_ok=True)
    return [_bars(runs, label, value, folder / f"{name}.svg") for name, (label, value) in MEASURES.items()]


def _bars(runs: Sequence[Run], label: str, value: Callable[[Run], float], path: Path) -> Path:
    """Bars by page, one colour an arm; repeats of an arm are shown by their median-like middle run."""
    from matplotlib.figure import Figure

    arms = list(dict.fromkeys(run.arm for run in runs))
    pages = list(dict.fromkeys(run.page for run in runs))
    figure = Figure(figsize=(max(6.0, 1.2 * len(pages)), 4.5), layout="constrained")
    axes: Any = figure.subplots()
    width = 0.8 / len(arms)
    for i, arm in enumerate(arms):
        heights = [_middle([value(run) for run in runs if run.arm == arm and run.page == page]) for page in pages]
        axes.bar([x + (i - (len(arms) - 1) / 2) * width for x in range(len(pages))], heights, width, label=arm)
    axes.set_xticks(range(len(pages)), pages, rotation=30, ha="right")
    axes.set_ylabel(label)
    axes.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    return path


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0
