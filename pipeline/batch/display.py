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
    """A watcher that draws a bar and names failures on a terminal; where standard error is none, a silent one."""
    if sys.stderr.isatty():
        with _bar(counts) as watch:
            yield watch
    else:
        yield lambda _: None


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
    for name, text in _rows(report):
        say(f"{name:8} {text}")
    for failure in report.failures[:MOST_FAILURES]:
        place = f"line {failure.page.line}, " if failure.page.line is not None else ""
        say(f"failed: {place}{failure.page.target}: {failure.reason}")
    if len(report.failures) > MOST_FAILURES:
        say(f"and {len(report.failures) - MOST_FAILURES} more; extract runs show {report.run.id} has all.")
    if report.run.state != "done":
        say(f"Go on with: extract batch --resume {report.run.id}")
    elif report.failures:
        say(f"Try the failed pages again with: extract batch --resume {report.run.id} --retry-failed")


def _rows(report: Report) -> Iterator[tuple[str, str]]:
    """The table: what it is about, and what is to be said."""
    counts, costs = report.counts, report.costs
    yield "run", f"{report.run.id}, {report.run.state}"
    yield "pages", f"{counts.done} done, {counts.failed} failed, {counts.waiting} left of {counts.total}"
    yield "tokens", f"{costs.new_tokens} in {costs.forwards} forwards ({report.tokens_per_forward:.1f} a forward)"
    yield "time", f"{report.seconds or 0.0:.1f} s, of which the model read for {costs.read_s:.1f} s"
    yield "output", report.run.shown_sink
