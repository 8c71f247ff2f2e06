"""`extract doctor`: what is installed, and whether it works."""

from __future__ import annotations

import typer

from lookstruct.pipeline.commands.console import print_result
from lookstruct.pipeline.commands.options import with_settings
from lookstruct.pipeline.settings import ModelSettings, Settings


def add_to(app: typer.Typer) -> None:
    """Registers `doctor`."""
    app.command("doctor")(doctor)


@with_settings(model=ModelSettings)
def doctor(settings: Settings) -> None:
    """Say what is installed and try it: browser, decoder, models, one tiny page.

    Exits with 0 if all works, else with the code of the first failure: 3 for the browser, 4 for the model.
    """
    from lookstruct.pipeline.doctor import examine

    code = 0
    for finding in examine(settings):
        print_result(finding.line)
        code = code or finding.exit_code
    raise typer.Exit(code)
