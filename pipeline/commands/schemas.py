"""`extract schemas list|show NAME`: the built-in schemas."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from lookstruct.pipeline.commands.console import print_result


def add_to(app: typer.Typer) -> None:
    """Registers `schemas list` and `schemas show`."""
    group = typer.Typer(help="The built-in schemas.", no_args_is_help=True)
    group.command("list")(list_schemas)
    group.command("show")(show_schema)
    app.add_typer(group, name="schemas")


def list_schemas() -> None:
    """List the built-in schemas."""
    from lookstruct.schemas.builtin import BUILTIN

    for name, model in BUILTIN.items():
        print_result(f"{name:18} {inspect.getdoc(model)}")


def show_schema(
    name: Annotated[str, typer.Argument(metavar="SCHEMA", help="Whatever --schema takes.", show_default=False)],
) -> None:
    """Print a schema as JSON Schema."""
    from lookstruct.pipeline.output import to_json
    from lookstruct.schemas.loader import load_schema

    print_result(to_json(load_schema(name).json_schema, indent=2))
