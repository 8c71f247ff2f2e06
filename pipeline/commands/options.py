"""Settings -> options: a command that takes a group of settings gets an option for every flagged one of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer
from pydantic.fields import FieldInfo

from lookstruct.schemas.flags import Group, flagged

Command = Callable[..., None]


def with_settings(**groups: type[Group]) -> Callable[[Command], Command]:
    """Gives a command an option for every flagged setting of `groups`, and --config; it gets `settings`.

    Defaults, help and checks are those of the settings themselves, so commands that share a group share its options.
    """
    parameters = [parameter for name, group in groups.items() for parameter in _parameters(name, group)]

    def decorate(command: Command) -> Command:
        def run(config: Path | None, **given: Any) -> None:
            from lookstruct.pipeline.config import load_settings

            flags: dict[str, dict[str, Any]] = {}
            for parameter in parameters:
                group, _, name = parameter.name.partition("__")
                if (value := given.pop(parameter.name)) is not None:
                    flags.setdefault(group, {})[name] = value
            command(settings=load_settings(config, flags), **given)

        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "settings"]
        run.__signature__ = inspect.Signature([*own, *parameters, CONFIG])  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__annotations__ = {}
        return run

    return decorate


def _parameters(prefix: str, group: type[Group]) -> Iterator[inspect.Parameter]:
    for name, field, flag in flagged(group):
        is_switch = field.annotation is bool
        option = typer.Option(
            None,
            flag.name,
            help=_help(field),
            metavar=flag.metavar,
            rich_help_panel=group.title,
        )
        annotation = bool | None if is_switch else str | None
        yield _parameter(f"{prefix}__{name}", annotation, option)


def _help(field: FieldInfo) -> str:
    """The setting's description, with its default where it says something."""
    default = "" if field.default in (None, False, ()) else f" (default: {field.default})"
    return f"{field.description}{default}"


def _parameter(name: str, annotation: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=annotation)


CONFIG = _parameter(
    "config",
    Path | None,
    typer.Option(None, "--config", metavar="FILE", help="Settings file; ./lookstruct.toml unless given."),
)
