"""`extract runs list|show|export|remove`: the batch runs that the ledger has, and what became of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from lookstruct.pipeline.commands.console import print_result
from lookstruct.pipeline.commands.options import with_settings
from lookstruct.pipeline.settings import LedgerSettings, Settings, SinkSettings

if TYPE_CHECKING:
    from lookstruct.pipeline.storage.ledger import Ledger


def add_to(app: typer.Typer) -> None:
    """Registers the commands about runs."""
    group = typer.Typer(help="The runs of `extract batch`.", no_args_is_help=True)
    group.command("list")(list_runs)
    group.command("show")(show_run)
    group.command("export")(export_run)
    group.command("remove")(remove_run)
    app.add_typer(group, name="runs")


RunName = Annotated[str, typer.Argument(metavar="RUN|last", help="The run's id.", show_default=False)]


@with_settings(batch=LedgerSettings)
def list_runs(settings: Settings) -> None:
    """List the latest runs, the newest first: id, state, pages done, failed and left, schema, sink."""
    with _ledger(settings) as ledger:
        for run in ledger.runs():
            counts = ledger.counts(run.id)
            done = f"{counts.done:6} done {counts.failed:4} failed {counts.waiting:6} left"
            print_result(f"{run.id}  {run.state:8} {done}  {run.spec.schema} -> {run.shown_sink}")


@with_settings(batch=LedgerSettings)
def show_run(settings: Settings, run: RunName = "last") -> None:
    """Print a run's report as JSON: pages, costs, and every failure with its reason."""
    from lookstruct.pipeline.batch.report import report_of
    from lookstruct.pipeline.output import to_json

    with _ledger(settings) as ledger:
        print_result(to_json(report_of(ledger, ledger.find(run).id).to_json(), indent=2))


@with_settings(output=SinkSettings, batch=LedgerSettings)
def export_run(settings: Settings, run: RunName = "last") -> None:
    """Write all results of a run to another sink, or to its own once more."""
    from lookstruct.pipeline.batch.start import export

    with _ledger(settings) as ledger:
        export(ledger, ledger.find(run), settings)


@with_settings(batch=LedgerSettings)
def remove_run(
    settings: Settings, run: Annotated[str, typer.Argument(metavar="RUN", help="The run's id.", show_default=False)]
) -> None:
    """Forget a run and its results; its output stays."""
    with _ledger(settings) as ledger:
        ledger.remove(ledger.find(run))


@contextmanager
def _ledger(settings: Settings) -> Iterator[Ledger]:
    from lookstruct.pipeline.storage.ledger import open_ledger

    with closing(open_ledger(settings.batch.ledger)) as ledger:
        yield ledger
