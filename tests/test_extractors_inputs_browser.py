"""Inputs that are no HTML behind URLs, and saved pages whose visibility the browser computes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import async_playwright
from site_fixtures import Site, fetcher, site

from lookstruct.extractors import Fetcher, FetchOptions
from lookstruct.extractors.browser import launch
from lookstruct.extractors.clean import clean
from lookstruct.schemas.errors import HTTPStatusError

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
__all__ = ["fetcher", "site"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.pdf", "Tea | 3.50"),
        ("a.txt", "Tea | 3.50"),
        ("a.md", "Tea\n3.50"),
        ("mail", "Tea\nFrom: a@a.example\n3.50"),
    ],
)
async def test_a_url_may_lead_to_any_kind_of_input(fetcher: Fetcher, site: Site, name: str, text: str) -> None:
    url = site.url(f"/document/{name}")
    page = await fetcher.fetch(url)
    assert (clean(page).text, page.url, page.final_url, page.status) == (text, url, url, 200)


async def test_a_document_behind_a_redirect_is_read_too(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/redirect?to=/document/a.pdf"))
    assert (clean(page).text, page.final_url) == ("Tea | 3.50", site.url("/document/a.pdf"))


async def test_a_document_is_asked_for_with_the_cookies_of_the_login(
    fetcher: Fetcher, site: Site, tmp_path: Path
) -> None:
    host = {"domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": False, "secure": False, "sameSite": "Lax"}
    state = {"cookies": [{"name": "who", "value": "ann", **host}], "origins": []}
    (tmp_path / "state.json").write_text(json.dumps(state))
    options = FetchOptions(storage_state=tmp_path / "state.json")
    assert clean(await fetcher.fetch(site.url("/document/ann.pdf"), options)).text == "Tea | 3.50"
    with pytest.raises(HTTPStatusError, match="403"):
        await fetcher.fetch(site.url("/document/ann.pdf"))


async def test_a_page_saved_by_chromium_is_read_as_it_was_without_the_network(
    fetcher: Fetcher, site: Site, tmp_path: Path
) -> None:
    saved = tmp_path / "saved.mhtml"
    async with async_playwright() as playwright:
        browser = await launch(playwright, tmp_path)
        tab = await browser.new_page()
        await tab.goto(site.url("/styled.html"))
        session = await tab.context.new_cdp_session(tab)
        saved.write_bytes((await session.send("Page.captureSnapshot", {"format": "mhtml"}))["data"].encode())
        await browser.close()
    site.requests.clear()
    page = await fetcher.fetch(str(saved))
    document = clean(page)
    assert document.text.split("\n") == ["Styled", "seen", "framed link", "after"]
    assert page.final_url == site.url("/styled.html")
    places = [link.href for link in document.links if not link.is_image]
    assert places == [site.url("/deep/er"), site.url("/away")]
    assert [link.href for link in document.links if link.is_image] == [site.url("/inner.html")]
    assert document.n_hidden_chars == len("unseen")
    assert site.requests == []
