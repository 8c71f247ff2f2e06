"""Settings -> options: a command that takes a group of settings gets an option for every flagged one of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from pydantic.fields import FieldInfo

from lookstruct.pipeline.settings import Settings
from lookstruct.schemas.flags import Group, flagged

Command = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Given:
    """What a command line said: the settings file it names, and its flags by group and name."""

    config: Path | None
    flags: Mapping[str, Mapping[str, Any]]

    def settings(self, earlier: Mapping[str, Mapping[str, Any]] | None = None) -> Settings:
        """The settings; flags of an `earlier` command line hold where this one says nothing."""
        from lookstruct.pipeline.config import load_settings

        groups = {**(earlier or {}), **self.flags}
        return load_settings(
            self.config, {group: {**(earlier or {}).get(group, {}), **self.flags.get(group, {})} for group in groups}
        )


def with_settings(*without: str, **groups: type[Group]) -> Callable[[Command], Command]:
    """Gives a command an option for every flagged setting of `groups`, and --config; it gets `settings` or `given`.

    Defaults, help and checks are those of the settings themselves, so commands that share a group share its options.
    `without` names options that the command has itself, in another sense.
    """
    parameters = [parameter for name, group in groups.items() for parameter in _parameters(name, group, without)]

    def decorate(command: Command) -> Command:
        taken = inspect.signature(command, eval_str=True).parameters

        def run(config: Path | None, **options: Any) -> None:
            flags: dict[str, dict[str, Any]] = {}
            for parameter in parameters:
                group, _, name = parameter.name.partition("__")
                if (value := options.pop(parameter.name)) is not None:
                    flags.setdefault(group, {})[name] = value
            given = Given(config, flags)
            command(**{"given": given} if "given" in taken else {"settings": given.settings()}, **options)

        own = [parameter for name, parameter in taken.items() if name not in ("settings", "given")]
        run.__signature__ = inspect.Signature([*own, *parameters, CONFIG])  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__annotations__ = {}
        return run

    return decorate


def _parameters(prefix: str, group: type[Group], without: Sequence[str]) -> Iterator[inspect.Parameter]:
    for name, field, flag in flagged(group):
        if flag.name in without:
            continue
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
