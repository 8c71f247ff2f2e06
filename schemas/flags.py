"""A group of settings, and the marks of those that have an option on the command line.

Both layers that define settings (`extractors.options`, `pipeline.settings`) build on this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class Flag:
    """Marks a setting that has an option on the command line; `metavar` is what the help calls its value."""

    name: str
    metavar: str | None = None


class Group(BaseModel):
    """A group of settings: unknown names are errors, values are fixed once made. `title` heads it in help texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    title: ClassVar[str]


def split_list(value: Any) -> Any:
    """A list as a flag or an environment variable writes it.

    >>> split_list("window, records"), split_list(["window"])
    (['window', 'records'], ['window'])
    """
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Listed = BeforeValidator(split_list)
"""Marks a list that may be given as one string with commas."""


def flag_of(field: FieldInfo) -> Flag | None:
    """The flag a setting has on the command line."""
    return next((mark for mark in field.metadata if isinstance(mark, Flag)), None)


def flagged(group: type[Group]) -> Iterator[tuple[str, FieldInfo, Flag]]:
    """The settings of a group that have flags: name, field, flag."""
    for name, field in group.model_fields.items():
        if (flag := flag_of(field)) is not None:
            yield name, field, flag
