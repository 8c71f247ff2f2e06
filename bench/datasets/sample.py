"""What a set of pages with known values consists of: `Dataset` and its `Sample`s."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, create_model


class Kind(Enum):
    """How two values of a field are compared; `scoring.normal` says it in full."""

    TEXT = "text"  # letters and digits alone, case and composition aside
    DATE = "date"  # YYYY-MM-DD
    NUMBER = "number"  # to half a cent
    DURATION = "duration"  # in minutes
    COUNT = "count"  # the digits alone: "8 servings" is "Serves 8", "978-0-1" is "97801"


@dataclass(frozen=True, slots=True)
class Sample:
    """One page and what is known of it.

    `path` is the page's file inside the repository `Dataset.repository`, `group` what must not be in both halves
    (its site, its company). `gold` holds the values in the form in which a record holds them; a field that is
    missing from it is not known and not scored. `html` reads the page.
    """

    path: str
    group: str
    gold: Mapping[str, Any]
    html: Callable[[], str] = field(repr=False)
    url: str = "https://page.example/"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set of pages: the schema that is asked of each, how its fields are compared, and where the samples are."""

    name: str
    repository: str
    schema: type[BaseModel]
    kinds: Mapping[str, Kind]
    samples: Callable[[Path], Iterator[Sample]]


def part_of(model: type[BaseModel], *names: str) -> type[BaseModel]:
    """A built-in schema with these of its fields alone, by the same name: what a dataset has no values for is left out.

    >>> from lookstruct.schemas.builtin.book import Book
    >>> list(part_of(Book, "name", "isbn").model_json_schema()["properties"])
    ['name', 'isbn']
    """
    fields: dict[str, Any] = {name: (model.model_fields[name].annotation, model.model_fields[name]) for name in names}
    return create_model(model.__name__, __doc__=model.__doc__, **fields)


def known(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values without those that say nothing.

    >>> known({"a": "", "b": [], "c": None, "d": 0})
    {'d': 0}
    """
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def read_json(path: Path) -> Any:
    """The content of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8-sig"))


def read_html(path: Path) -> str:
    """A page's text, in whatever encoding it is."""
    from lookstruct.extractors.decode import decode

    return decode(path.read_bytes()).text
