"""Public pages with known values, read from a checkout that the user names; one file a set, listed here."""

from __future__ import annotations

from collections.abc import Mapping

from bench.datasets import invoice2data, recipe_scrapers, sroie, swde, trafilatura
from bench.datasets.sample import Dataset

DATASETS: Mapping[str, Dataset] = {
    adapter.DATASET.name: adapter.DATASET for adapter in (recipe_scrapers, swde, sroie, trafilatura, invoice2data)
}
"""By the name that the command line has for each."""
