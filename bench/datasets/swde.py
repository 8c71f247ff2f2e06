"""SWDE's book pages as AnLiGentile/WREN keeps them: two shops, five fields a page."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from bench.datasets.sample import Dataset, Kind, Sample, known, read_html
from lookstruct.schemas.typed import Verbatim

_FOLDER = "resources/datasets/swde-17477"
_FIELDS = ("title", "author", "isbn_13", "publisher", "publication_date")
_NO_VALUE = "<NULL>"


class Book(BaseModel):
    """A book."""

    name: Verbatim = Field(description="Title of the book")
    author: list[Verbatim] = Field(description="Names of the authors")
    isbn: Verbatim | None = Field(default=None, description="ISBN with 13 digits, as written")
    publisher: Verbatim | None = Field(default=None, description="Publishing house")
    date_published: Verbatim | None = Field(default=None, description="When it was published, as written")


def samples(root: Path) -> Iterator[Sample]:
    """Every page of the shops whose pages are there, with all values of each field that its truth files list."""
    for folder in sorted((root / _FOLDER / "testset" / "book").glob("book-*")):
        shop = folder.name.split("-")[1]
        truth = {name: _values(root / _FOLDER / f"groundtruth/book/book-{shop}-{name}.txt") for name in _FIELDS}
        for path in sorted(folder.glob("*.htm")):
            yield Sample(
                path=path.relative_to(root).as_posix(),
                group=shop,
                gold=book({name: values[path.stem] for name, values in truth.items()}),
                html=partial(read_html, path),
            )


def book(values: Mapping[str, list[str]]) -> dict[str, Any]:
    """Their values under our names; of a field that has several, only authors are a list.

    >>> book({"title": ["Emma"], "author": ["Jane Austen"], "isbn_13": [], "publisher": [], "publication_date": []})
    {'name': 'Emma', 'author': ['Jane Austen']}
    """
    first = {name: next(iter(some), None) for name, some in values.items()}
    return known(
        {
            "name": first["title"],
            "author": values["author"],
            "isbn": first["isbn_13"],
            "publisher": first["publisher"],
            "date_published": first["publication_date"],
        }
    )


def _values(path: Path) -> defaultdict[str, list[str]]:
    """Page number -> values, of one truth file: two lines of heading, then number, count and values between tabs."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8-sig").splitlines()[2:]:
        number, _, *values = line.split("\t")
        found[number] = [text for value in values if (text := _text(value)) and text != _NO_VALUE]
    return found


def _text(value: str) -> str:
    """A value as a page shows it; theirs keep entities, and the colon before some.

    >>> _text(": June&nbsp;2010 ")
    'June 2010'
    """
    return " ".join(html.unescape(value).split()).removeprefix(": ").strip()


DATASET = Dataset(
    name="swde",
    repository="AnLiGentile/WREN",
    schema=Book,
    kinds={"isbn": Kind.COUNT},
    samples=samples,
)
