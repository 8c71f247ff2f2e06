"""A page by way of the user's own proxy, which wants to know who asks and looks names up itself."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from site_fixtures import Site, fetcher, site

from lookstruct.extractors import Fetcher, FetchOptions
from lookstruct.extractors.clean import clean
from lookstruct.schemas.errors import BlockedByPolicy, FetchError

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
__all__ = ["fetcher", "site"]

WANTED = b"HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass
class Upstream:
    """A forward proxy for joe alone, to whom every name is the test site; `asked` are the hosts it was asked for."""

    site_port: int
    port: int = 0
    asked: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, its answer, the end."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.splitlines()[0].split(" ")
        if f"Proxy-Authorization: Basic {base64.b64encode(b'joe:p@ss').decode()}" not in head:
            writer.write(WANTED)
            writer.close()
            return
        parts = urlsplit(target)
        self.asked.append(parts.netloc)
        kept = [line for line in head.splitlines()[1:] if not line.lower().startswith("proxy-") and line]
        there, onward = await asyncio.open_connection("127.0.0.1", self.site_port)
        onward.write("\r\n".join([f"{method} {parts.path}?{parts.query} HTTP/1.1", *kept, "", ""]).encode())
        while data := await there.read(65536):
            writer.write(data)
        writer.close()


@pytest_asyncio.fixture(loop_scope="session")
async def upstream(site: Site) -> AsyncIterator[Upstream]:
    proxy = Upstream(int(site.base.rpartition(":")[2]))
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield proxy


def through(upstream: Upstream, who: str = "joe:p%40ss") -> FetchOptions:
    proxy = f"http://{who}@127.0.0.1:{upstream.port}"
    return FetchOptions(proxy=proxy, retries=0, timeout_s=20, ignore_robots=True, delay_s=0)


async def test_a_proxy_with_credentials_is_used_and_looks_names_up(fetcher: Fetcher, upstream: Upstream) -> None:
    page = await fetcher.fetch("http://shop.example/inner.html", through(upstream))
    assert "framed link" in clean(page).text
    assert set(upstream.asked) == {"shop.example"}
    assert not any("could not be checked" in note for note in page.notes)  # a person typed that name


async def test_names_that_only_the_proxy_looked_up_are_told_of(fetcher: Fetcher, upstream: Upstream) -> None:
    page = await fetcher.fetch(
        "http://shop.example/html?body=%3Cp%3Etext%3Ciframe%20src=http://inside.example/inner.html%3E%3C/iframe%3E",
        through(upstream),
    )
    assert "inside.example" in upstream.asked
    (note,) = [note for note in page.notes if "could not be checked" in note]
    assert note.startswith("the proxy looked names up (inside.example): ")


async def test_what_is_private_by_its_looks_does_not_reach_the_proxy(fetcher: Fetcher, upstream: Upstream) -> None:
    for host in ("10.0.0.1", "127.0.0.2", "localhost", "printer.local", "[::ffff:10.0.0.1]", "0x0a000001"):
        with pytest.raises(BlockedByPolicy, match="not a public address"):
            await fetcher.fetch(f"http://shop.example/redirect?to=http://{host}/", through(upstream))
    assert set(upstream.asked) == {"shop.example"}


async def test_a_proxy_that_does_not_know_us_is_said(fetcher: Fetcher, upstream: Upstream) -> None:
    with pytest.raises(FetchError, match="through the proxy: check its address and credentials"):
        await fetcher.fetch("http://shop.example/inner.html", through(upstream, "joe:wrong"))
    assert upstream.asked == []
