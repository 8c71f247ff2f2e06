"""lookstruct.toml, LOOKSTRUCT_* and flags -> `Settings`; what stands nearer to the call wins.

    flags           --max-new-tokens 512
    environment     LOOKSTRUCT_DECODE__MAX_NEW_TOKENS=512
    file            [decode]
                    max_new_tokens = 512

The file is the one named by --config, else ./lookstruct.toml, else lookstruct.toml in the user's configuration folder.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from lookstruct.pipeline.settings import Settings
from lookstruct.schemas.errors import UsageError
from lookstruct.schemas.flags import flag_of

FILE_NAME = "lookstruct.toml"


class _Sourced(Settings, BaseSettings):
    """The tree, read from the environment besides what it is given."""

    model_config = SettingsConfigDict(env_prefix="LOOKSTRUCT_", env_nested_delimiter="__", extra="forbid", frozen=True)


def load_settings(config: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
    """Reads file, environment and `flags` (`{"decode": {"seed": 1}}`); UsageError names what does not fit, and where.

    `config` None looks for a file in the usual places.
    """
    path = find_config(config)
    content = read_toml(path) if path else {}
    given = dict(flags or {})
    try:
        return _with_file(content)(**given)
    except ValidationError as exc:
        raise UsageError(_fault(exc, given, path, content)) from exc


def _with_file(content: Mapping[str, Any]) -> type[_Sourced]:
    """The tree that reads this file's content too, below flags and environment."""

    class WithFile(_Sourced):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            del dotenv_settings, file_secret_settings
            return init_settings, env_settings, InitSettingsSource(settings_cls, dict(content))

    return WithFile


def find_config(config: Path | None) -> Path | None:
    """The configuration file, or None where there is none; one that was named must exist."""
    if config is not None:
        if not config.is_file():
            raise UsageError(f"The configuration file {config} does not exist; check --config.")
        return config
    places = (Path(FILE_NAME), platformdirs.user_config_path("lookstruct", appauthor=False) / FILE_NAME)
    return next((place for place in places if place.is_file()), None)


def read_toml(path: Path) -> dict[str, Any]:
    """The file's content; UsageError if it is no TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise UsageError(f"{path} is no valid TOML: {exc}.") from exc
    except OSError as exc:
        raise UsageError(f"{path} cannot be read ({exc.strerror}).") from exc


def _fault(exc: ValidationError, flags: Mapping[str, Any], path: Path | None, content: Mapping[str, Any]) -> str:
    """The first fault in one sentence, with the flag, variable or file it came from."""
    fault = exc.errors()[0]
    place = [str(step) for step in fault["loc"][:2]]  # group and setting; what follows is inside its value
    origin = _origin(place, flags, path, content)
    name = ".".join(place)
    if fault["type"] == "extra_forbidden":
        return f"{origin}: there is no setting {name}; {_suggestion(place)}"
    reason = fault["msg"].removeprefix("Value error, ")
    return f"{origin}: {name} cannot be {fault['input']!r}: {reason[:1].lower()}{reason[1:]}."


def _origin(place: Sequence[str], flags: Mapping[str, Any], path: Path | None, content: Mapping[str, Any]) -> str:
    """Which of the sources holds the faulty value: the flag, the environment variable, or the file."""
    variable = f"LOOKSTRUCT_{'__'.join(place).upper()}"
    if _holds(flags, place):
        return _flag_name(place) or f"The setting {'.'.join(place)}"
    if path is not None and variable not in os.environ and _holds(content, place):
        return str(path)
    return variable


def _flag_name(place: Sequence[str]) -> str | None:
    group: Any = Settings
    for step in place[:-1]:
        field = getattr(group, "model_fields", {}).get(step)
        group = field.annotation if field else None
    field = getattr(group, "model_fields", {}).get(place[-1])
    flag = flag_of(field) if field else None
    return flag.name if flag else None


def _suggestion(place: Sequence[str]) -> str:
    *groups, last = place
    known = _names(groups)
    near = difflib.get_close_matches(last, known, n=1)
    return f"did you mean {'.'.join([*groups, near[0]])}?" if near else f"the settings are {', '.join(known)}."


def _names(groups: Sequence[str]) -> list[str]:
    """What can be set in a group; the groups themselves for no group."""
    if not groups:
        return list(Settings.model_fields)
    field = Settings.model_fields.get(groups[0])
    kind: Any = field.annotation if field else None
    return list(getattr(kind, "model_fields", None) or getattr(kind, "__dataclass_fields__", {}))


def _holds(content: Any, place: Sequence[str]) -> bool:
    """Whether the file's content has something at this place."""
    for step in place:
        if not isinstance(content, Mapping) or step not in content:
            return isinstance(content, list | str)
        content = content[step]
    return True
