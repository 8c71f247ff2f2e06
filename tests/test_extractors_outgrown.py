"""Page processes that grow too large are ended, and whoever asks why a page crashed is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from lookstruct.extractors.outgrown import Outgrown


@dataclass
class PageProcess:
    """A page process of `n_bytes` that asks, at the moment at which it is ended, whether that is known."""

    n_bytes: int
    seen: list[bool] = field(default_factory=list)
    outgrown: Outgrown | None = None

    def memory_info(self) -> SimpleNamespace:
        return SimpleNamespace(rss=self.n_bytes, shared=0)

    def kill(self) -> None:
        assert self.outgrown is not None
        self.seen.append(self.outgrown.took_one())


def watched(*pages: PageProcess) -> Outgrown:
    family = SimpleNamespace(pages=lambda: list(pages))
    outgrown = Outgrown(family, 100)  # type: ignore[arg-type]
    for page in pages:
        page.outgrown = outgrown
    return outgrown


def test_the_crash_is_explained_even_when_the_browser_tells_of_it_before_the_kill_returns() -> None:
    page = PageProcess(101)
    watched(page).end_large()
    assert page.seen == [True]


@pytest.mark.parametrize("n_bytes", [0, 100])
def test_a_page_within_its_limit_is_left_alone(n_bytes: int) -> None:
    page = PageProcess(n_bytes)
    outgrown = watched(page)
    outgrown.end_large()
    assert page.seen == []
    assert not outgrown.took_one()


def test_each_ended_page_explains_one_crash() -> None:
    pages = [PageProcess(200), PageProcess(300)]
    outgrown = watched(*pages)
    outgrown.end_large()
    assert [page.seen for page in pages] == [[True], [True]]
    assert not outgrown.took_one()
