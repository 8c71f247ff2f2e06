"""Whether 0.9 means 0.9: the reliability of confidences in a run of `bench.quality`, and the table that corrects them.

python -m bench.calibration tune.json             # fits a table to each kind of evidence and prints it
python -m bench.calibration test.json --shipped   # how reliable the shipped table is on other pages
python -m bench.calibration test.json --shipped --plot reliability.svg     # and a picture of it; needs matplotlib
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lookstruct.pipeline.grounding.confidence import UNMEASURED, Calibration, fitted
from lookstruct.schemas.record import EvidenceStatus

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Lower bounds of the groups of a reliability table; the last is for what is certain."""
LEAST = 12
"""Values that a kind of evidence must have before a table is fitted to it."""


def main(argv: Sequence[str] | None = None) -> None:
    """Parse, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, nargs="+", help="what bench.quality has written with --json")
    parser.add_argument("--arm", default="ours")
    parser.add_argument("--shipped", action="store_true", help="judge the shipped table instead of fitting one")
    parser.add_argument("--plot", type=Path, help="draw said against right into this SVG file")
    args = parser.parse_args(argv)
    values = [one for path in args.report for one in json.loads(path.read_text())["reliability"][args.arm]]
    table = UNMEASURED if args.shipped else Calibration(fit(values))
    for status, points in table.points.items():
        sys.stdout.write(f"{status.value}: {tuple((round(x, 4), round(y, 4)) for x, y in points)}\n")
    for name, calibration in (("raw", Calibration()), ("corrected", table)):
        sys.stdout.write(f"\n{name}: mean error {expected_error(values, calibration):.3f}\n\n")
        sys.stdout.write("| said | values | said on average | right |\n|---|---|---|---|\n")
        for low, n, said, right in bins(values, calibration):
            sys.stdout.write(f"| {low:g}+ | {n} | {said:.2f} | {right:.2f} |\n")
    if args.plot:
        draw({"raw": list(bins(values, Calibration())), "corrected": list(bins(values, table))}, args.plot)


def fit(values: Iterable[Mapping[str, Any]]) -> dict[EvidenceStatus, tuple[tuple[float, float], ...]]:
    """A table for each kind of evidence that has enough values."""
    pairs: dict[EvidenceStatus, list[tuple[float, bool]]] = {}
    for one in values:
        pairs.setdefault(EvidenceStatus(one["status"]), []).append((one["raw"], one["right"]))
    return {status: fitted(some, n_points=6) for status, some in pairs.items() if len(some) >= LEAST}


def bins(values: Iterable[Mapping[str, Any]], table: Calibration) -> Iterator[tuple[float, int, float, float]]:
    """Of each group that has values: its lower bound, how many, what was said on average, how many were right."""
    said = [(table.of(one["raw"], EvidenceStatus(one["status"])), one["right"]) for one in values]
    for low, high in zip(BINS, (*BINS[1:], 2.0), strict=True):
        group = [(p, right) for p, right in said if low <= p < high]
        if group:
            yield low, len(group), sum(p for p, _ in group) / len(group), sum(r for _, r in group) / len(group)


def expected_error(values: Iterable[Mapping[str, Any]], table: Calibration) -> float:
    """The mean distance between what is said and what is right, over groups, weighted by their values."""
    found = list(bins(values, table))
    return sum(n * abs(said - right) for _, n, said, right in found) / max(1, sum(n for _, n, _, _ in found))


def draw(curves: Mapping[str, Sequence[tuple[float, int, float, float]]], path: Path) -> None:
    """What was said against what was right, a point for each group, as large as the group has values."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "lookstruct"  # the same values give the same file
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 4.5), layout="constrained")
    axes: Any = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", linewidth=1)
    for name, groups in curves.items():
        said, right = [one[2] for one in groups], [one[3] for one in groups]
        axes.plot(said, right, label=name, alpha=0.8)
        axes.scatter(said, right, [2 * one[1] for one in groups], alpha=0.5)
    axes.set(xlabel="confidence said", ylabel="share that was right", xlim=(0, 1.02), ylim=(0, 1.02))
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
