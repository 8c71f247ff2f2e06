"""`extract runs list|show`: what batch runs the ledger has, and what became of one."""

from __future__ import annotations

from typing import Annotated

import typer

from lookstruct.pipeline.commands.console import print_result
from lookstruct.pipeline.commands.options import with_settings
from lookstruct.pipeline.settings import LedgerSettings, Settings


def add_to(app: typer.Typer) -> None:
    """Registers `runs list` and `runs show`."""
    group = typer.Typer(help="The runs of `extract batch`.", no_args_is_help=True)
    group.command("list")(list_runs)
    group.command("show")(show_run)
    app.add_typer(group, name="runs")


@with_settings(batch=LedgerSettings)
def list_runs(settings: Settings) -> None:
    """List the latest runs, the newest first: id, state, pages done, failed and left, schema, sink."""
    from lookstruct.pipeline.storage.ledger import open_ledger

    ledger = open_ledger(settings.batch.ledger)
    for run in ledger.runs():
        counts = ledger.counts(run.id)
        done = f"{counts.done:6} done {counts.failed:4} failed {counts.waiting:6} left"
        print_result(f"{run.id}  {run.state:8} {done}  {run.spec.schema} -> {run.shown_sink}")
    ledger.close()


@with_settings(batch=LedgerSettings)
def show_run(
    settings: Settings,
    run: Annotated[str, typer.Argument(metavar="RUN|last", help="The run's id.", show_default=False)] = "last",
) -> None:
    """Print a run's report as JSON: pages, costs, and every failure with its reason."""
    from lookstruct.pipeline.batch.report import report_of
    from lookstruct.pipeline.output import to_json
    from lookstruct.pipeline.storage.ledger import open_ledger

    ledger = open_ledger(settings.batch.ledger)
    print_result(to_json(report_of(ledger, ledger.find(run).id).to_json(), indent=2))
    ledger.close()
