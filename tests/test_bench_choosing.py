"""Which pages a benchmark may take: halves, exclusions, an order that no result can change."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.choosing import choose, excluded_hashes, half_of
from bench.datasets import DATASETS
from bench.datasets.sample import Sample


def _unread() -> str:
    raise AssertionError("an excluded page must not be read")


def _samples(_: Path) -> Iterator[Sample]:
    for site in range(12):
        for page in range(3):
            yield Sample(f"{site}/{page}.html", f"site{site}", {}, _unread)


SET = replace(DATASETS["swde"], repository="owner/name", samples=_samples)
ROOT = Path()


def test_the_halves_share_no_site_and_leave_none_out() -> None:
    tune, test = (choose(SET, ROOT, half, limit=99) for half in ("tune", "test"))
    assert {s.group for s in tune} & {s.group for s in test} == set()
    assert len(tune) + len(test) == 36


def test_a_site_gives_a_second_page_only_after_each_has_given_one() -> None:
    sites = [sample.group for sample in choose(SET, ROOT, "tune", limit=99)]
    n_sites = len(set(sites))
    assert len(set(sites[:n_sites])) == n_sites


def test_the_seed_alone_draws_the_order() -> None:
    first, again, other = (choose(SET, ROOT, "tune", limit=5, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_listed_pages_are_neither_taken_nor_looked_at(tmp_path: Path) -> None:
    listed = tmp_path / "excluded"
    sums = [sha256(f"owner/name:{site}/{page}.html".encode()).hexdigest() for site in range(12) for page in (0, 1)]
    listed.write_text("# kept apart\n" + "\n".join(sums) + "\n")
    looked_at: list[str] = []

    def fits(sample: Sample) -> bool:
        looked_at.append(sample.path)
        return True

    chosen = choose(SET, ROOT, "test", limit=99, hashes=excluded_hashes(listed), fits=fits)
    assert chosen
    assert all(path.endswith("/2.html") for path in looked_at)


def test_a_page_that_does_not_fit_makes_room_for_the_next() -> None:
    chosen = choose(SET, ROOT, "tune", limit=4, fits=lambda sample: not sample.path.endswith("0.html"))
    assert len(chosen) == 4


@given(st.text(), st.text())
def test_every_site_has_one_half(dataset: str, group: str) -> None:
    assert half_of(dataset, group) == half_of(dataset, group)
