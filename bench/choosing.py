"""Which pages a benchmark takes: halves that share no site, an exclusion list, an order that no result can change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Literal

from bench.datasets.sample import Dataset, Sample

Half = Literal["tune", "test"]


def half_of(dataset: str, group: str) -> Half:
    """The half to which a site, or a document that stands alone, belongs, whatever else there is.

    >>> half_of("swde", "booksamillion"), half_of("swde", "christianbook")
    ('tune', 'test')
    """
    return "tune" if int(_digest(f"{dataset}:{group}"), 16) % 2 else "test"


def excluded_hashes(path: Path) -> frozenset[str]:
    """The sha256 sums of a file: one a line, `#` begins a remark."""
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return frozenset(line.lower() for line in lines if line)


def is_excluded(dataset: Dataset, sample: Sample, hashes: frozenset[str]) -> bool:
    """Whether the sha256 of `owner/name:path` is listed."""
    return _digest(f"{dataset.repository}:{sample.path}") in hashes


def choose(
    dataset: Dataset,
    root: Path,
    half: Half,
    *,
    limit: int,
    seed: int = 0,
    hashes: frozenset[str] = frozenset(),
    fits: Callable[[Sample], bool] = lambda _: True,
) -> list[Sample]:
    """The first `limit` samples of a half in an order drawn by `seed`, without what is excluded or does not fit.

    Sites take turns: no site gives a second page before each has given its first. A page that is excluded is neither
    read nor asked whether it fits.
    """
    mine = (s for s in dataset.samples(root) if half_of(dataset.name, s.group) == half)
    allowed = (s for s in mine if not is_excluded(dataset, s, hashes))
    return list(islice(filter(fits, _in_turns(allowed, seed)), limit))


def _in_turns(samples: Iterable[Sample], seed: int) -> Iterator[Sample]:
    """In the order of a hash, the first of each site, then the second of each."""
    drawn = sorted(samples, key=lambda sample: _digest(f"{seed}:{sample.path}"))
    turns: dict[str, int] = {}
    ranked: list[tuple[int, int, Sample]] = []
    for number, sample in enumerate(drawn):
        ranked.append((turns.get(sample.group, 0), number, sample))
        turns[sample.group] = turns.get(sample.group, 0) + 1
    return (sample for _, _, sample in sorted(ranked, key=lambda entry: entry[:2]))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
