"""Fetching from the loopback site with a real Chromium."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from site_fixtures import Site, fetcher, site

from lookstruct.extractors import Fetcher, FetchOptions, Target
from lookstruct.extractors.clean import clean
from lookstruct.schemas.errors import (
    ContentTypeError,
    EmptyPage,
    FetchError,
    FetchTimeout,
    HTTPStatusError,
    PageTooLarge,
)

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
__all__ = ["fetcher", "site"]

QUICK = FetchOptions(timeout_s=1.5, retries=0)
ONCE = FetchOptions(timeout_s=20, retries=0)


async def test_text_that_javascript_brings_late_is_read(fetcher: Fetcher, site: Site) -> None:
    document = clean(await fetcher.fetch(site.url("/shop.html")))
    assert document.text == "Oak table\nPrice: 249.00 EUR"


async def test_wait_load_reads_what_is_there(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/shop.html?delay=5"), FetchOptions(wait="load"))
    assert clean(page).text == "Oak table\nLoading"


async def test_a_selector_is_waited_for(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/shop.html?delay=1"), FetchOptions(wait="load", selector="#app h1"))
    assert "Price: 249.00 EUR" in clean(page).text


async def test_a_selector_that_never_comes_times_out(fetcher: Fetcher, site: Site) -> None:
    with pytest.raises(FetchTimeout):
        await fetcher.fetch(site.url("/inner.html"), QUICK.model_copy(update={"selector": "#never"}))


async def test_a_page_that_never_settles_is_read_with_a_note(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/busy.html"), FetchOptions(settle_s=1))
    assert "steady" in clean(page).text
    assert any("still changing after 1 s" in note for note in page.notes)


async def test_redirects_and_scripted_navigation_end_in_the_final_url(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/redirect?to=/hop.html"))
    assert page.url == site.url("/redirect?to=/hop.html")
    assert page.final_url == site.url("/inner.html?hop")
    assert page.status == 200
    assert page.headers["content-type"] == "text/html"
    assert clean(page).links[0].href == site.url("/deep/er")


@pytest.mark.parametrize("code", [403, 404, 429, 500, 503])
async def test_an_error_status_is_an_error_that_carries_it(fetcher: Fetcher, site: Site, code: int) -> None:
    with pytest.raises(HTTPStatusError, match=f"answered {code}") as caught:
        await fetcher.fetch(site.url(f"/status/{code}"), ONCE)
    assert caught.value.status == code


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/file/pdf", r"is a PDF that is damaged"),
        ("/file/png", r"is an image \(image/png\)"),
        ("/file/zip", r"is a ZIP archive"),
        ("/attachment", r"text/html"),
    ],
)
async def test_what_is_no_page_is_named(fetcher: Fetcher, site: Site, path: str, said: str) -> None:
    with pytest.raises(ContentTypeError, match=said):
        await fetcher.fetch(site.url(path))


async def test_no_content_is_an_empty_page(fetcher: Fetcher, site: Site) -> None:
    with pytest.raises(EmptyPage):
        await fetcher.fetch(site.url("/status/204"))


async def test_a_page_without_visible_text_is_empty(fetcher: Fetcher) -> None:
    with pytest.raises(EmptyPage, match="no text that a person could read"):
        await fetcher.fetch(Target.html("<title>t</title><p hidden>x"), FetchOptions(render=True, settle_s=0.5))


@pytest.mark.parametrize("path", ["/slow", "/drip", "/hung.html"])
async def test_a_page_that_does_not_come_times_out(fetcher: Fetcher, site: Site, path: str) -> None:
    with pytest.raises(FetchTimeout, match=r"did not load within 1\.5 s"):
        await fetcher.fetch(site.url(path), QUICK)
    assert (await fetcher.fetch(site.url("/inner.html"))).status == 200


@pytest.mark.parametrize("path", ["/stream?mb=50", "/stream?mb=50&length=1", "/bomb"])
async def test_a_page_over_the_limit_is_stopped(fetcher: Fetcher, site: Site, path: str) -> None:
    with pytest.raises(PageTooLarge, match="is larger than 2 MB"):
        await fetcher.fetch(site.url(path), FetchOptions(max_bytes=2_000_000))


async def test_a_refused_connection_says_so(fetcher: Fetcher) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(FetchError, match="refuses connections"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/", ONCE)


async def test_an_unknown_host_says_so(fetcher: Fetcher) -> None:
    with pytest.raises(FetchError, match="unknown host name"):
        await fetcher.fetch("http://no-such-host.invalid/")


@pytest.mark.parametrize(("path", "said"), [("/loop", "redirects without end"), ("/reset", "closed the connection")])
async def test_a_broken_server_says_so(fetcher: Fetcher, site: Site, path: str, said: str) -> None:
    with pytest.raises(FetchError, match=said):
        await fetcher.fetch(site.url(path), ONCE)


async def test_plain_http_on_an_https_url_says_so(fetcher: Fetcher, site: Site) -> None:
    with pytest.raises(FetchError, match="does not speak HTTPS"):
        await fetcher.fetch(site.url("/inner.html").replace("http:", "https:"))


async def test_an_untrusted_certificate_says_so(fetcher: Fetcher, tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(FetchError, match=r"certificate that cannot be trusted \(its issuer is unknown\)"):
            await fetcher.fetch(f"https://localhost:{port}/")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/charset/utf-8?header=utf-8", "Straße 12, Köln, 価格"),
        ("/charset/utf-8?header=iso-8859-1", "Straße 12, Köln, 価格"),
        ("/charset/windows-1252?header=utf-8", "Straße 12, Köln, "),
        ("/charset/shift_jis?header=shift_jis", "Strae 12, Kln, 価格"),
    ],
)
async def test_a_wrong_charset_is_put_right(fetcher: Fetcher, site: Site, path: str, text: str) -> None:
    assert clean(await fetcher.fetch(site.url(path))).text == f"x\n{text}".strip()


async def test_images_are_not_loaded_and_web_pages_reach_no_files(fetcher: Fetcher, site: Site) -> None:
    site.requests.clear()
    document = clean(await fetcher.fetch(site.url("/assets.html")))
    assert document.text == "Assets\ntext\nA dot"
    assert set(site.requests) <= {"/assets.html", "/robots.txt"}


async def test_headers_and_user_agent_are_sent(fetcher: Fetcher, site: Site) -> None:
    options = FetchOptions(user_agent="tester/1", headers={"X-Word": "yes"}, locale="de-DE")
    for header, value in {"User-Agent": "tester/1", "X-Word": "yes", "Accept-Language": "de-DE"}.items():
        assert value in clean(await fetcher.fetch(site.url(f"/header?header={header}"), options)).text


async def test_pages_fetched_at_once_do_not_see_each_other(fetcher: Fetcher, site: Site) -> None:
    urls = [site.url(path) for path in ("/shop.html", "/inner.html", "/shop.html?delay=0.1", "/hop.html")]
    pages = await asyncio.gather(*(fetcher.fetch(url) for url in urls))
    assert [clean(page).title for page in pages] == ["Oak table", "Inner", "Oak table", "Inner"]


async def test_a_screenshot_is_kept_when_asked_for(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/inner.html"), FetchOptions(screenshot=True))
    assert page.screenshot is not None
    assert page.screenshot.startswith(b"\x89PNG")


async def test_a_local_file_is_rendered_whatever_its_name(fetcher: Fetcher, tmp_path: Path) -> None:
    path = tmp_path / "page.php"
    path.write_bytes("<meta charset=gbk><p id=a>价格<script>a.append(' 12')</script>".encode("gbk"))
    page = await fetcher.fetch(str(path))
    assert (clean(page).text, page.final_url) == ("价格 12", path.as_uri())
