"""Frames and shadow trees stand where they are shown, whatever origin they come from."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from site_fixtures import Site, fetcher, site

from lookstruct.extractors import Fetcher, FetchOptions
from lookstruct.extractors.clean import clean

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
__all__ = ["fetcher", "site"]

OTHER_NAME = FetchOptions(allow_private=("localhost",))
FRAME = ["start of the frame", "framed link", "end of frame"]


async def test_frames_of_other_origins_and_frames_in_them_are_read_in_place(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/frames.html"), OTHER_NAME)
    document = clean(page)
    assert document.text.split("\n") == ["Framed", "above", *FRAME, *FRAME, "below"]
    assert page.notes == () or "sandbox" in page.notes[0]


async def test_every_block_of_a_frame_has_a_path_that_selects_it(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/frames.html"), OTHER_NAME)
    soup = BeautifulSoup(page.html, "lxml")
    found = {block.dom_path: soup.select(block.dom_path) for block in clean(page).blocks}
    assert [len(tags) for tags in found.values()] == [1] * len(found)
    in_frames = [path for path in found if "lookstruct-frame" in path]
    assert [path.count("lookstruct-frame") for path in in_frames] == [1, 2, 1, 1, 2, 1]


async def test_links_start_from_their_frame_and_its_base(fetcher: Fetcher, site: Site) -> None:
    other = site.base.replace("127.0.0.1", "localhost")
    hrefs = [link.href for link in clean(await fetcher.fetch(site.url("/frames.html"), OTHER_NAME)).links]
    assert hrefs == [
        f"{other}/base/frame",
        f"{site.base}/deep/er",
        f"{site.base}/base/frame",
        f"{site.base}/deep/er",
    ]


async def test_all_thirteen_nested_shadow_trees_are_reached(fetcher: Fetcher, site: Site) -> None:
    document = clean(await fetcher.fetch(site.url("/shadows.html")))
    assert document.text.split("\n") == ["Shadows", *(f"target {n}" for n in range(1, 14))]
