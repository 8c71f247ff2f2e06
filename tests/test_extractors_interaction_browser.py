"""Scrolling, asking for more, unfolding, answering banners, and turning to the next page, in a real Chromium."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup
from site_fixtures import Site, fetcher, site

from lookstruct.extractors import Fetcher, FetchOptions
from lookstruct.extractors.clean import clean
from lookstruct.schemas.document import Document
from lookstruct.schemas.errors import HTTPStatusError, UsageError

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
__all__ = ["fetcher", "site"]


def lines(document: Document) -> list[str]:
    return document.text.split("\n")


def numbers(document: Document, word: str) -> list[int]:
    return [int(n) for n in re.findall(rf"^{word} (\d+)", document.text, re.MULTILINE)]


# -- scrolling -------------------------------------------------------------------------------------------------------


async def test_without_being_asked_nothing_is_scrolled(fetcher: Fetcher, site: Site) -> None:
    document = clean(await fetcher.fetch(site.url("/infinite.html?pages=6")))
    assert numbers(document, "book") == list(range(10))


async def test_an_infinite_page_is_scrolled_to_its_end(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/infinite.html?pages=4"), FetchOptions(scroll=100))
    assert lines(clean(page)) == ["Endless shelf", *(f"book {n}" for n in range(40)), "that is all", "imprint"]
    assert not [note for note in page.notes if "scrolling" in note]


async def test_a_page_without_end_is_scrolled_to_the_limit_with_a_note(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/infinite.html?pages=1000000"), FetchOptions(scroll=6))
    found = numbers(clean(page), "book")
    assert found == list(range(len(found)))
    assert len(found) > 10
    assert "scrolling stopped after 6 screens, and the page goes on" in page.notes


async def test_what_a_virtual_list_takes_away_is_kept_in_order(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/virtual.html"), FetchOptions(scroll=100))
    rows = [f"row {n} {n * 7} EUR same" for n in range(60)]
    assert lines(clean(page)) == ["Virtual lists", "made anew", *rows, "written over", *rows, "the end"]


async def test_scrolling_leaves_an_ordinary_page_as_it_is(fetcher: Fetcher, site: Site) -> None:
    for path in ("/visibility.html", "/layout.html"):
        plain, scrolled = [await fetcher.fetch(site.url(path), FetchOptions(scroll=n)) for n in (0, 20)]
        assert clean(plain).text == clean(scrolled).text


async def test_a_page_that_never_rests_is_scrolled_all_the_same(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/busy.html"), FetchOptions(scroll=20, settle_s=0.5))
    assert lines(clean(page))[:2] == ["Busy", "steady"]


# -- more, folds, banners, scripts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("selector", ["auto", "#more"])
async def test_what_loads_more_is_clicked_until_it_is_gone(fetcher: Fetcher, site: Site, selector: str) -> None:
    page = await fetcher.fetch(site.url("/more.html?most=5"), FetchOptions(load_more=selector))
    assert numbers(clean(page), "item") == [0, 1, 2, 3, 4]
    assert page.final_url == site.url("/more.html?most=5")


async def test_clicks_have_a_limit_with_a_note(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/more.html?most=99"), FetchOptions(load_more="auto", max_clicks=3))
    assert numbers(clean(page), "item") == [0, 1, 2, 3]
    assert "loading more stopped after 3 clicks: raise max_clicks for all of it" in page.notes


async def test_folds_and_tabs_are_opened_on_request_and_menus_are_not(fetcher: Fetcher, site: Site) -> None:
    shut = clean(await fetcher.fetch(site.url("/folds.html")))
    assert not {"answer", "three days", "second panel", "pounds", "menu entry"} & set(lines(shut))
    opened = lines(clean(await fetcher.fetch(site.url("/folds.html"), FetchOptions(open_folds=True))))
    assert [line for line in opened if line in {"answer", "three days", "first panel", "second panel"}] == [
        *("answer", "three days", "first panel", "second panel")
    ]
    assert opened[-2:] == ["kilograms", "pounds"]
    assert "menu entry" not in opened


@pytest.mark.parametrize(
    ("answer", "price"), [("ignore", "choose first"), ("reject", "rejected"), ("accept", "accepted")]
)
async def test_a_banner_is_answered_as_told_and_is_never_content(
    fetcher: Fetcher, site: Site, answer: str, price: str
) -> None:
    page = await fetcher.fetch(site.url("/consent.html"), FetchOptions.model_validate({"consent": answer}))
    document = clean(page)
    assert [block.span.of(document.text) for block in document.blocks if not block.consent] == ["Tea shop", price]
    assert any(block.consent for block in document.blocks) is (answer == "ignore")


async def test_a_script_runs_before_the_page_is_read(fetcher: Fetcher, site: Site) -> None:
    script = "setTimeout(() => { document.body.innerHTML = '<p>scripted' }, 50)"
    assert clean(await fetcher.fetch(site.url("/inner.html"), FetchOptions(script=script))).text == "Inner\nscripted"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"script": "nothing.there()"}, "script failed on .*ReferenceError"),
        ({"load_more": "p["}, "load_more is 'p\\[', which is no CSS selector"),
        ({"follow_next": 1, "next_selector": "a["}, "next_selector is 'a\\[', which is no selector"),
        ({"wait_function": "nothing.there()"}, "wait_function cannot be evaluated"),
    ],
)
async def test_a_faulty_setting_says_so(fetcher: Fetcher, site: Site, options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        await fetcher.fetch(site.url("/inner.html"), FetchOptions.model_validate(options))


async def test_a_function_and_a_selector_are_waited_for(fetcher: Fetcher, site: Site) -> None:
    for options in (
        {"wait_function": "document.querySelectorAll('li').length >= 10"},
        {"selector": "li:nth-child(10)"},
    ):
        fetched = FetchOptions.model_validate({"wait": "dom", **options})
        assert "book 9" in clean(await fetcher.fetch(site.url("/infinite.html"), fetched)).text


# -- the next page ---------------------------------------------------------------------------------------------------

ALL = ["List", *(line for n in (1, 2, 3) for line in (f"Page {n}", f"item {2 * n - 1}", f"item {2 * n}"))]


@pytest.mark.parametrize(
    ("options", "by"),
    [
        ({"follow_next": 9}, "rel"),
        ({"follow_next": 9, "next_selector": "a.onward"}, "class"),
        ({"follow_next": 2}, "rel"),
    ],
)
async def test_the_pages_of_a_listing_are_read_as_one(
    fetcher: Fetcher, site: Site, options: dict[str, object], by: str
) -> None:
    page = await fetcher.fetch(site.url(f"/listing?by={by}"), FetchOptions.model_validate(options))
    document = clean(page)
    assert [line for line in lines(document) if line != "more"] == ALL
    assert (page.url, page.final_url) == (site.url(f"/listing?by={by}"),) * 2
    assert "3 pages of the listing were read as one" in page.notes
    assert document.n_hidden_chars == 3


async def test_links_and_paths_of_further_pages_lead_where_they_did(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/listing"), FetchOptions(follow_next=1))
    document = clean(page)
    assert [link.href for link in document.links] == [site.url(f"/item/{n}") for n in (1, 2, 3, 4)]
    soup = BeautifulSoup(page.html, "lxml")
    assert all(len(soup.select(block.dom_path)) == 1 for block in document.blocks)


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("missing", "read up to page 1: .*404"),
        ("private", "read up to page 1: .*127.0.0.2.* not a public address"),
        ("slow", "read up to page 1: .*did not load within 2 s"),
    ],
)
async def test_a_next_page_that_cannot_be_had_ends_the_listing_with_a_note(
    fetcher: Fetcher, site: Site, by: str, said: str
) -> None:
    page = await fetcher.fetch(site.url(f"/listing?by={by}"), FetchOptions(follow_next=3, timeout_s=2))
    assert numbers(clean(page), "item") == [1, 2]
    assert any(re.search(said, note) for note in page.notes), page.notes


async def test_a_next_page_that_robots_txt_forbids_is_not_asked_for(fetcher: Fetcher, site: Site) -> None:
    site.requests.clear()
    page = await fetcher.fetch(site.url("/listing?by=forbidden"), FetchOptions(follow_next=3))
    assert any(re.search(r"read up to page 1: .*robots\.txt forbids it", note) for note in page.notes), page.notes
    assert not [path for path in site.requests if path.startswith("/forbidden")]
    page = await fetcher.fetch(site.url("/listing?by=forbidden"), FetchOptions(follow_next=3, ignore_robots=True))
    assert any(re.search("read up to page 1: .*404", note) for note in page.notes), page.notes
    assert [path for path in site.requests if path.startswith("/forbidden")] == ["/forbidden?page=2"]


async def test_a_listing_that_leads_in_a_circle_ends(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/listing?by=itself&page=1"), FetchOptions(follow_next=50))
    assert numbers(clean(page), "item") == [1, 2, 3, 4]


async def test_pages_that_a_button_turns_are_read_too(fetcher: Fetcher, site: Site) -> None:
    options = FetchOptions(follow_next=9, next_selector="#next")
    assert numbers(clean(await fetcher.fetch(site.url("/turning.html"), options)), "entry") == [1, 2, 3]


async def test_a_first_page_that_fails_is_an_error_as_ever(fetcher: Fetcher, site: Site) -> None:
    with pytest.raises(HTTPStatusError):
        await fetcher.fetch(site.url("/status/500"), FetchOptions(follow_next=3))
