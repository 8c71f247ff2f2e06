"""The HTTP cache and what the browser navigates to, by the requests that its server counts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from press import Press, serving
from site_fixtures import fetcher

from lookstruct.extractors import Fetcher, FetchOptions, Target
from lookstruct.extractors.clean import clean
from lookstruct.schemas.errors import BlockedByPolicy

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
__all__ = ["fetcher"]

COPY = "which its server lets be used unasked"


@pytest_asyncio.fixture(loop_scope="session")
async def press() -> AsyncIterator[Press]:
    async with serving() as press:
        yield press


def options(folder: Path, use: str = "check", **more: Any) -> FetchOptions:
    return FetchOptions.model_validate(
        {"cache": use, "cache_folder": folder, "ignore_robots": True, "retries": 0, "timeout_s": 20, **more}
    )


async def texts(fetcher: Fetcher, press: Press, asked: FetchOptions, path: str = "/a", n: int = 3) -> list[str]:
    return [clean(await fetcher.fetch(press.base + path, asked)).text for _ in range(n)]


async def test_a_page_that_has_not_changed_is_not_sent_again(fetcher: Fetcher, press: Press, tmp_path: Path) -> None:
    press.headers, press.body = {"ETag": '"a"', "X-Shop": "1"}, b"<p id=p>Tea <script>p.append(3.5)</script>"
    assert await texts(fetcher, press, options(tmp_path)) == ["Tea 3.5"] * 3
    assert press.seen == [("/a", 200), ("/a", 304), ("/a", 304)]
    page = await fetcher.fetch(press.base + "/a", options(tmp_path))
    assert (page.status, page.final_url, page.headers["x-shop"]) == (200, press.base + "/a", "1")
    press.headers, press.body = {"ETag": '"b"'}, b"<p>Coffee"
    assert await texts(fetcher, press, options(tmp_path), n=2) == ["Coffee"] * 2
    assert press.seen[4:] == [("/a", 200), ("/a", 304)]


async def test_without_being_told_to_nothing_is_kept(fetcher: Fetcher, press: Press, tmp_path: Path) -> None:
    press.headers = {"ETag": '"a"', "Cache-Control": "max-age=60"}
    for use in ("auto", "off"):
        await texts(fetcher, press, options(tmp_path, use), n=2)
    assert press.seen == [("/a", 200)] * 4
    assert list(tmp_path.iterdir()) == []


async def test_files_need_no_cache(fetcher: Fetcher, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>text")
    await fetcher.fetch(str(tmp_path / "a.html"), options(tmp_path / "cache", "on"))
    assert not (tmp_path / "cache").exists()


async def test_what_is_fresh_is_not_asked_for_and_that_is_said(fetcher: Fetcher, press: Press, tmp_path: Path) -> None:
    press.headers = {"Cache-Control": "max-age=600"}
    pages = [await fetcher.fetch(press.base + "/a", options(tmp_path, "on")) for _ in range(2)]
    assert [clean(page).text for page in pages] == ["Tea 3.50"] * 2
    assert [any(COPY in note for note in page.notes) for page in pages] == [False, True]
    assert press.seen == [("/a", 200)]
    await texts(fetcher, press, options(tmp_path, "check"), n=1)
    assert press.seen == [("/a", 200)] * 2


async def test_a_charset_is_kept_along(fetcher: Fetcher, press: Press, tmp_path: Path) -> None:
    press.headers, press.body = {"ETag": '"a"'}, "<meta charset=latin-1><p>Köln".encode("latin-1")
    assert await texts(fetcher, press, options(tmp_path), n=2) == ["Köln"] * 2


@pytest.mark.parametrize(
    "headers", [{"ETag": '"a"', "Set-Cookie": "a=b"}, {"ETag": '"a"', "Cache-Control": "no-store"}]
)
async def test_personal_pages_are_asked_for_again(
    fetcher: Fetcher, press: Press, tmp_path: Path, headers: dict[str, str]
) -> None:
    press.headers = headers
    await texts(fetcher, press, options(tmp_path, "on"), n=2)
    assert press.seen == [("/a", 200)] * 2


async def test_who_brings_cookies_or_credentials_passes_by_the_cache(
    fetcher: Fetcher, press: Press, tmp_path: Path
) -> None:
    press.headers = {"ETag": '"a"', "Cache-Control": "public, max-age=60"}
    state = tmp_path / "state.json"
    cookie = {"name": "who", "value": "ann", "domain": "127.0.0.1", "path": "/", "expires": -1}
    state.write_text(json.dumps({"cookies": [cookie], "origins": []}))
    for more in ({"storage_state": state}, {"http_auth": "ann:x"}, {"headers": {"X-Key": "1"}}):
        await texts(fetcher, press, options(tmp_path, "on", **more), n=2)
    await texts(fetcher, press, options(tmp_path, "on"), n=1)
    assert press.seen == [("/a", 200)] * 7


async def test_304_of_where_a_redirect_led_brings_the_page_whole(
    fetcher: Fetcher, press: Press, tmp_path: Path
) -> None:
    press.headers = {"ETag": '"a"'}
    await texts(fetcher, press, options(tmp_path), path="/a", n=1)
    onward = press.answer

    async def leads_on(request: Any) -> Any:
        if request.path != "/a":
            return await onward(request)
        press.seen.append(("/a", 302))
        return web.Response(status=302, headers={"Location": "/b"})

    press.answer = leads_on  # type: ignore[method-assign]
    press.body = b"<p>other"
    assert await texts(fetcher, press, options(tmp_path), path="/a", n=1) == ["other"]
    assert press.seen == [("/a", 200), ("/a", 302), ("/b", 304), ("/a", 302), ("/b", 200)]


async def test_where_the_page_goes_by_itself_it_asks_by_itself(fetcher: Fetcher, press: Press, tmp_path: Path) -> None:
    press.headers = {"ETag": '"a"'}
    press.body = b"<p id=p>one<script>if (!location.hash && location.pathname == '/a') location = '/b'</script>"
    assert await texts(fetcher, press, options(tmp_path), path="/a", n=2) == ["one"] * 2
    assert ("/b", 304) not in press.seen


async def test_what_was_kept_for_a_typed_local_page_answers_no_page_that_leads_there(
    fetcher: Fetcher, press: Press, tmp_path: Path
) -> None:
    press.headers = {"Cache-Control": "max-age=600"}
    await texts(fetcher, press, options(tmp_path, "on"), n=1)
    led_to = Target("url", press.base + "/a", typed="https://shop.example/sitemap.xml")
    for asked in (options(tmp_path, "on"), options(tmp_path, "on", for_others=True)):
        with pytest.raises(BlockedByPolicy):
            await fetcher.fetch(led_to, asked)


async def test_a_folder_that_cannot_be_used_is_said_on_the_page(fetcher: Fetcher, press: Press, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    page = await fetcher.fetch(press.base + "/a", options(tmp_path / "file", "on"))
    assert any(note.startswith("pages were fetched without a cache: ") for note in page.notes)
