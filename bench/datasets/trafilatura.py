"""adbar/trafilatura, tests/evaldata.json: articles with title, author and date, written down by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.datasets.sample import Dataset, Kind, Sample, known, part_of, read_html, read_json
from lookstruct.schemas.builtin.article import Article

_FOLDERS = ("tests/eval", "tests/cache")


def samples(root: Path) -> Iterator[Sample]:
    """Every article for which a title is written down; the site is the host of its address."""
    for url, values in sorted(read_json(root / "tests/evaldata.json").items()):
        path = next((p for folder in _FOLDERS if (p := root / folder / values["file"]).is_file()), None)
        if path is not None and values.get("title"):
            yield Sample(
                path=path.relative_to(root).as_posix(),
                group=urlsplit(url).hostname or url,
                gold=article(values),
                html=partial(read_html, path),
                url=url,
            )


def article(values: Mapping[str, Any]) -> dict[str, Any]:
    """Their values under our names. An empty author may mean none or not known, so it is not scored.

    >>> article({"title": "Bread", "author": "A. Baker", "date": ""})
    {'headline': 'Bread', 'author': ['A. Baker']}
    """
    author = values.get("author")
    return known(
        {
            "headline": values.get("title"),
            "author": [author] if isinstance(author, str) and author else author,
            "date_published": values.get("date"),
        }
    )


DATASET = Dataset(
    name="trafilatura",
    repository="adbar/trafilatura",
    schema=part_of(Article, "headline", "author", "date_published"),
    kinds={"date_published": Kind.DATE},
    samples=samples,
)
