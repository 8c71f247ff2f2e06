"""hhursev/recipe-scrapers, tests/test_data: a page and what that library reads from it, by site."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bench.datasets.sample import Dataset, Kind, Sample, known, part_of, read_html, read_json
from lookstruct.schemas.builtin.recipe import Recipe

_FOLDER = "tests/test_data"
_DIGITS = re.compile(r"\d")


def samples(root: Path) -> Iterator[Sample]:
    """Every page whose JSON file is beside it; the site is the folder's name."""
    for path in sorted((root / _FOLDER).glob("*/*.testhtml")):
        gold = path.with_suffix(".json")
        if gold.is_file():
            values = read_json(gold)
            yield Sample(
                path=path.relative_to(root).as_posix(),
                group=path.parent.name,
                gold=recipe(values),
                html=partial(read_html, path),
                url=values.get("canonical_url") or f"https://{path.parent.name}/",
            )


def recipe(values: Mapping[str, Any]) -> dict[str, Any]:
    """Their values under our names. Times are whole minutes there; a yield without a number is left out.

    >>> recipe({"title": "Soup", "total_time": 75, "yields": "8 servings", "instructions_list": ["Stir."]})
    {'name': 'Soup', 'total_time': 'PT75M', 'recipe_yield': '8 servings', 'recipe_instructions': ['Stir.']}
    """
    amount = str(values.get("yields") or "")
    return known(
        {
            "name": values.get("title"),
            "author": values.get("author"),
            "prep_time": _duration(values.get("prep_time")),
            "cook_time": _duration(values.get("cook_time")),
            "total_time": _duration(values.get("total_time")),
            "recipe_yield": amount if _DIGITS.search(amount) else None,
            "recipe_ingredient": values.get("ingredients"),
            "recipe_instructions": values.get("instructions_list"),
        }
    )


def _duration(minutes: Any) -> str | None:
    return f"PT{minutes:g}M" if isinstance(minutes, int | float) and minutes > 0 else None


DATASET = Dataset(
    name="recipe-scrapers",
    repository="hhursev/recipe-scrapers",
    schema=part_of(
        Recipe,
        "name",
        "author",
        "prep_time",
        "cook_time",
        "total_time",
        "recipe_yield",
        "recipe_ingredient",
        "recipe_instructions",
    ),
    kinds={
        "prep_time": Kind.DURATION,
        "cook_time": Kind.DURATION,
        "total_time": Kind.DURATION,
        "recipe_yield": Kind.COUNT,
    },
    samples=samples,
)
