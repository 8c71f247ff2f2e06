"""A run for people, on standard error: a bar while it goes on, a table when it has ended."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from lookstruct.pipeline.batch.running import Step, Watcher

if TYPE_CHECKING:
    from lookstruct.pipeline.batch.report import Report
    from lookstruct.pipeline.storage.run import Counts

MOST_FAILURES = 20
"""So many failures are shown; the report has all."""


@dataclass(slots=True)
class Tally:
    """What has been done since this process began."""

    start: float
    n_pages: int = 0
    n_failed: int = 0
    tokens: int = 0
    forwards: int = 0

    def add(self, step: Step) -> None:
        """Counts one page that was dealt with."""
        self.n_pages += 1
        self.n_failed += step.error is not None
        self.tokens += step.costs.new_tokens
        self.forwards += step.costs.forwards

    def line(self, now: float) -> str:
        """Tokens a second, tokens a forward, failures."""
        rate = self.tokens / max(now - self.start, 1e-9)
        a_forward = self.tokens / self.forwards if self.forwards else 0.0
        failed = f"{self.n_failed} failed" if self.n_failed else "none failed"
        return f"{rate:.0f} tokens/s, {a_forward:.1f} a forward, {failed}"


@contextmanager
def progress(counts: Counts) -> Iterator[Watcher]:
    """A watcher that draws a bar on a terminal; where standard error is none, a line for each failure."""
    if sys.stderr.isatty():
        with _bar(counts) as watch:
            yield watch
    else:
        yield _failures_only


def _failures_only(step: Step) -> None:
    if step.error is not None:
        from lookstruct.pipeline.commands.console import say

        say(f"failed: {step.page.target}: {step.error}")


@contextmanager
def _bar(counts: Counts) -> Iterator[Watcher]:
    """Pages done of all, time that is left, and the tally."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    tally = Tally(monotonic())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("starting", total=counts.total, completed=counts.total - counts.waiting)

        def watch(step: Step) -> None:
            tally.add(step)
            bar.update(task, advance=1, description=tally.line(monotonic()))
            if step.error is not None:
                bar.console.print(Text(f"failed: {step.page.target}: {step.error}"))

        yield watch


def show(report: Report, say: Callable[[str], None]) -> None:
    """The final table, the failures, and how to go on."""
    from rich.console import Console

    console = Console(stderr=True, width=None if sys.stderr.isatty() else 120)
    with console.capture() as captured:
        console.print(_table(report))
    for line in captured.get().rstrip().splitlines():
        say(line.rstrip())
    for failure in report.failures[:MOST_FAILURES]:
        place = f"line {failure.page.line}, " if failure.page.line is not None else ""
        say(f"failed: {place}{failure.page.target}: {failure.reason}")
    if len(report.failures) > MOST_FAILURES:
        say(f"and {len(report.failures) - MOST_FAILURES} more; `extract runs show {report.run.id}` has all.")
    if report.counts.waiting:
        say(f"{report.counts.waiting} pages are left; go on with: extract batch --resume {report.run.id}")
    elif report.failures:
        say(f"Try the failed pages again with: extract batch --resume {report.run.id} --retry-failed")


def _table(report: Report) -> object:
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, show_edge=False)
    names = ("run", "pages", "done", "failed", "left", "tokens", "tokens a forward", "model s", "seconds")
    for name in names:
        table.add_column(name, justify="left" if name == "run" else "right", no_wrap=True)
    counts, costs = report.counts, report.costs
    table.add_row(
        report.run.id,
        *(str(number) for number in (counts.total, counts.done, counts.failed, counts.waiting, costs.new_tokens)),
        f"{report.tokens_per_forward:.1f}",
        f"{costs.read_s:.1f}",
        f"{report.seconds:.1f}" if report.seconds is not None else "",
    )
    return table
