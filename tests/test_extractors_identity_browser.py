"""Who visits: devices, credentials, kept cookies, logging in; and pages kept on disk."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path

import pytest
from site_fixtures import Site, fetcher, site

from lookstruct.extractors import Fetcher, FetchOptions, login
from lookstruct.extractors.clean import clean
from lookstruct.schemas.errors import BrowserUnavailable, HTTPStatusError, SinkError, TargetError, UsageError

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
__all__ = ["fetcher", "site"]


async def seen(fetcher: Fetcher, url: str, **options: object) -> list[str]:
    return clean(await fetcher.fetch(url, FetchOptions.model_validate(options))).text.split("\n")


async def test_a_device_brings_its_window_and_its_touch_screen(fetcher: Fetcher, site: Site) -> None:
    lines = await seen(fetcher, site.url("/whoami.html"), emulate="pixel 7")
    assert {"width 412", "touch true"} <= set(lines)
    agent = await seen(fetcher, site.url("/header?header=User-Agent"), emulate="Pixel 7")
    assert "Android" in agent[0]


async def test_what_is_set_apart_wins_over_the_device(fetcher: Fetcher, site: Site) -> None:
    lines = await seen(fetcher, site.url("/whoami.html"), emulate="Pixel 7", viewport=(700, 500))
    assert {"width 700", "touch true"} <= set(lines)
    assert await seen(fetcher, site.url("/header?header=User-Agent"), emulate="Pixel 7", user_agent="t/1") == ["t/1"]


async def test_an_unknown_device_is_named_with_those_that_are_near(fetcher: Fetcher, site: Site) -> None:
    with pytest.raises(UsageError, match=r"no device 'Pixl 7': known are Pixel 7"):
        await seen(fetcher, site.url("/whoami.html"), emulate="Pixl 7")


async def test_locale_and_time_zone_are_what_the_page_sees(fetcher: Fetcher, site: Site) -> None:
    lines = await seen(fetcher, site.url("/whoami.html"), locale="de-AT", timezone="Asia/Tokyo")
    assert {"zone Asia/Tokyo", "locale de-AT"} <= set(lines)


async def test_credentials_open_the_page_from_the_url_or_the_settings(fetcher: Fetcher, site: Site) -> None:
    assert await seen(fetcher, site.url("/secret"), http_auth="ann:s@fe:") == ["secret"]
    page = await fetcher.fetch(site.url("/secret").replace("//", "//ann:s%40fe%3A@"))
    assert clean(page).text == "secret"
    assert (page.url, page.final_url) == (site.url("/secret"),) * 2


async def test_wrong_credentials_say_so(fetcher: Fetcher, site: Site) -> None:
    with pytest.raises(HTTPStatusError, match="401"):
        await seen(fetcher, site.url("/secret"), http_auth="ann:wrong")


async def test_headers_are_told_to_the_pages_own_host_only(fetcher: Fetcher, site: Site) -> None:
    other = site.base.replace("127.0.0.1", "localhost")
    options = {"headers": {"X-Word": "yes"}, "allow_private": ["localhost"]}
    assert await seen(fetcher, site.url(f"/told?other={other}"), **options) == ["own yes"]


async def test_what_a_login_left_is_there_at_the_next_visit(fetcher: Fetcher, site: Site, tmp_path: Path) -> None:
    kept = tmp_path / "new" / "state.json"

    async def done() -> None:
        while "/whoami.html?login" not in site.requests:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)  # for the page's script

    assert await login.log_in(site.url("/whoami.html?login"), kept, done=done, headless=True) == 1
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "kept yes who=ann" in await seen(fetcher, site.url("/whoami.html"), storage_state=kept)
    assert "kept null" in await seen(fetcher, site.url("/whoami.html"))


async def test_without_a_screen_a_login_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BrowserUnavailable, match="needs a screen"):
        await login.log_in("http://a.example/", tmp_path / "x.json", done=asyncio.Event().wait)


async def test_a_place_that_cannot_be_written_is_found_out_before_the_login(tmp_path: Path) -> None:
    with pytest.raises(SinkError, match="name a file that can be written"):
        await login.log_in("http://a.example/", tmp_path, done=asyncio.Event().wait, headless=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "does not exist: make it with extract login"), ("{", "cannot be read"), ("[]", "holds no")],
)
async def test_a_faulty_cookie_file_says_so(
    fetcher: Fetcher, site: Site, tmp_path: Path, content: str | None, said: str
) -> None:
    path = tmp_path / "state.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=said):
        await seen(fetcher, site.url("/inner.html"), storage_state=path)


# -- pages kept on disk ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/visibility.html", "/layout.html", "/composed.html"])
async def test_a_kept_page_reads_as_it_did(fetcher: Fetcher, site: Site, tmp_path: Path, path: str) -> None:
    options = FetchOptions(snapshot=tmp_path, screenshot=True)
    first = await fetcher.fetch(site.url(path), options)
    (kept,) = tmp_path.glob("*.html")
    site.requests.clear()
    again = await fetcher.fetch(str(kept))
    assert clean(again) == clean(first)
    assert (again.url, again.status, again.headers) == (first.url, first.status, first.headers)
    assert again.notes[-1].startswith("read from the snapshot of ")
    assert site.requests == []
    assert kept.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


async def test_hidden_text_is_read_on_request_from_pages_and_kept_pages(
    fetcher: Fetcher, site: Site, tmp_path: Path
) -> None:
    options = FetchOptions(include_hidden=True, snapshot=tmp_path)
    first = clean(await fetcher.fetch(site.url("/visibility.html"), options))
    (kept,) = tmp_path.glob("*.html")
    assert "unseen display" in first.text
    assert clean(await fetcher.fetch(str(kept), FetchOptions(include_hidden=True))) == first
    assert "unseen display" not in clean(await fetcher.fetch(str(kept))).text


async def test_a_damaged_kept_page_says_so(fetcher: Fetcher, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>x")
    (tmp_path / "a.page.json").write_text(json.dumps({"format": "lookstruct page 1", "url": "x"}))
    with pytest.raises(TargetError, match=r"a\.page\.json cannot be read"):
        await fetcher.fetch(str(tmp_path / "a.html"))


async def test_a_folder_that_cannot_be_written_says_so(fetcher: Fetcher, site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SinkError, match="name another folder"):
        await fetcher.fetch(site.url("/inner.html"), FetchOptions(snapshot=tmp_path / "file" / "folder"))
