"""The loopback proxy, spoken to over a plain socket: who may pass, where to, and how much."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from ipaddress import ip_address

import pytest
import pytest_asyncio

from lookstruct.extractors.egress.addresses import Address
from lookstruct.extractors.egress.dialer import Streams, Upstream, connect_to
from lookstruct.extractors.egress.guard import Guard
from lookstruct.extractors.egress.proxy import EgressProxy, Ticket
from lookstruct.schemas.errors import UsageError

PUBLIC = ip_address("93.184.215.14")
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """A server on loopback that answers every head as told and keeps what came."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi") -> None:
        self.answer = answer
        self.heads: list[str] = []
        self.port = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(self.answer)
        await writer.drain()
        writer.close()


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Server]:
    served = Server()
    listener = await asyncio.start_server(served, "127.0.0.1", 0)
    served.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield served


async def say(proxy: EgressProxy, data: bytes) -> bytes:
    """What the proxy answers until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    writer.write(data)
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


def get(url: str, ticket: Ticket, *headers: str) -> bytes:
    lines = [f"GET {url} HTTP/1.1", "Host: x", f"Proxy-Authorization: {ticket.header}", *headers, "", ""]
    return "\r\n".join(lines).encode()


def connect(place: str, ticket: Ticket) -> bytes:
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\nProxy-Authorization: {ticket.header}\r\n\r\n".encode()


async def test_a_request_reaches_its_server_as_if_it_came_directly(server: Server) -> None:
    async with EgressProxy() as proxy:
        base = f"http://127.0.0.1:{server.port}"
        with proxy.admit(Guard.for_target(base), max_bytes=1000) as ticket:
            answer = await say(proxy, get(f"{base}/a?b", ticket, "Connection: keep-alive, X-Hop", "X-Hop: 1", "X: 2"))
    assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
    assert server.heads == ["GET /a?b HTTP/1.1\r\nHost: x\r\nX: 2\r\nConnection: close\r\n\r\n"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:{}", "http://127.0.0.1:{}?q"])
async def test_a_url_without_a_path_asks_for_the_root(server: Server, url: str) -> None:
    async with EgressProxy() as proxy:
        url = url.format(server.port)
        with proxy.admit(Guard.for_target(url), max_bytes=1000) as ticket:
            await say(proxy, get(url, ticket))
    assert server.heads[0].startswith(("GET / ", "GET /?q "))


async def test_without_credentials_nothing_passes(server: Server) -> None:
    async with EgressProxy() as proxy:
        url = f"http://127.0.0.1:{server.port}/"
        with proxy.admit(Guard.for_target(url), max_bytes=1000) as ticket:
            forged = base64.b64encode(f"{ticket.username}:guess".encode()).decode()
            for header in ("X: 1", f"Proxy-Authorization: Basic {forged}", "Proxy-Authorization: "):
                lines = f"POST {url} HTTP/1.1\r\n{header}\r\nContent-Length: 0\r\n\r\n".encode()
                assert (await say(proxy, lines)).startswith(b"HTTP/1.1 407 ")
    assert server.heads == []


async def test_credentials_may_follow_on_the_same_connection(server: Server) -> None:
    async with EgressProxy() as proxy:
        url = f"http://127.0.0.1:{server.port}/"
        with proxy.admit(Guard.for_target(url), max_bytes=1000) as ticket:
            answer = await say(proxy, f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode() + get(url, ticket))
    assert answer.startswith(b"HTTP/1.1 407 ")
    assert answer.endswith(b"hi")


async def test_a_ticket_is_void_once_its_page_is_done(server: Server) -> None:
    async with EgressProxy() as proxy:
        url = f"http://127.0.0.1:{server.port}/"
        with proxy.admit(Guard.for_target(url), max_bytes=1000) as ticket:
            pass
        void = get(url, ticket, "Content-Length: 0").replace(b"GET", b"POST")
        assert (await say(proxy, void)).startswith(b"HTTP/1.1 407 ")
    assert server.heads == []


async def test_what_is_still_open_is_closed_when_the_page_is_done() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    listener = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with listener, EgressProxy() as proxy:
        place = f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        with proxy.admit(Guard.for_target(f"http://{place}"), max_bytes=1000) as ticket:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
            writer.write(connect(place, ticket))
            assert b"200" in await reader.readuntil(b"\r\n\r\n")
        assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()


async def test_a_tunnel_carries_bytes_both_ways(server: Server) -> None:
    async with EgressProxy() as proxy:
        place = f"127.0.0.1:{server.port}"
        with proxy.admit(Guard.for_target(f"https://{place}"), max_bytes=1000) as ticket:
            answer = await say(proxy, connect(place, ticket) + b"hello\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK")
    assert server.heads == ["hello\r\n\r\n"]


@pytest.mark.parametrize("how", ["get", "connect"])
async def test_another_place_than_the_typed_one_is_refused_unreached(server: Server, how: str) -> None:
    async with EgressProxy() as proxy:
        with proxy.admit(Guard.for_target("https://shop.example/"), max_bytes=1000) as ticket:
            place = f"127.0.0.1:{server.port}"
            answer = await say(proxy, get(f"http://{place}/", ticket) if how == "get" else connect(place, ticket))
            assert ticket.passage.refusals.total() == 1
    assert answer == (b"" if how == "get" else b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
    assert server.heads == []


@pytest.mark.parametrize("line", ["GET / HTTP/1.1", "GET ftp://a/ HTTP/1.1", "GET https://a/ HTTP/1.1", "x"])
async def test_what_is_no_request_to_a_proxy_gets_no_answer(line: str) -> None:
    async with EgressProxy() as proxy:
        with proxy.admit(Guard.for_target("http://127.0.0.1/"), max_bytes=1000) as ticket:
            assert await say(proxy, f"{line}\r\nProxy-Authorization: {ticket.header}\r\n\r\n".encode()) == b""


async def test_an_endless_head_is_cut_off() -> None:
    async with EgressProxy() as proxy:
        with suppress(ConnectionResetError):  # what was sent is thrown away unread
            assert await say(proxy, b"GET / HTTP/1.1\r\n" + b"X: 1\r\n" * 100_000) == b""


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 407 Yes\r\nProxy-Authenticate: Basic\r\n\r\n", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nX"],
)
async def test_a_server_that_answers_strangely_gets_no_further(server: Server, answer: bytes) -> None:
    server.answer = answer
    async with EgressProxy() as proxy:
        url = f"http://127.0.0.1:{server.port}/"
        with proxy.admit(Guard.for_target(url), max_bytes=1000) as ticket:
            assert await say(proxy, get(url, ticket)) == b""


async def test_more_bytes_than_allowed_end_the_page(server: Server) -> None:
    server.answer = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000
    calls: list[int] = []
    async with EgressProxy() as proxy:
        url = f"http://127.0.0.1:{server.port}/"
        with proxy.admit(Guard.for_target(url), max_bytes=200_000) as ticket:
            ticket.passage.on_excess = lambda: calls.append(1)
            assert len(await say(proxy, get(url, ticket))) < 300_000
            assert await say(proxy, get(url, ticket)) == b""
    assert calls == [1]
    assert len(server.heads) == 1


def looking_up(*answers: str) -> Callable[[str], Awaitable[tuple[Address, ...]]]:
    """A resolver with one answer after another."""
    left = list(answers)

    async def resolve(_: str) -> tuple[Address, ...]:
        return (ip_address(left.pop(0) if len(left) > 1 else left[0]),)

    return resolve


async def test_a_name_that_changes_its_address_is_still_reached_at_the_first(server: Server) -> None:
    dialled: list[str] = []

    async def dial(address: Address, port: int) -> Streams:
        dialled.append(str(address))
        return await connect_to(ip_address("127.0.0.1"), port)

    async with EgressProxy(looking_up(str(PUBLIC), "127.0.0.1"), dial) as proxy:
        url = f"http://evil.example:{server.port}/"
        with proxy.admit(Guard.for_target(url), max_bytes=10_000) as ticket:
            await say(proxy, get(url, ticket))
            await say(proxy, get(url, ticket))
        with proxy.admit(Guard.for_target("https://shop.example/"), max_bytes=10_000) as ticket:
            assert await say(proxy, get(url, ticket)) == b""
    assert dialled == [str(PUBLIC)] * 2
    assert len(server.heads) == 2


async def test_a_silent_address_does_not_hold_up_the_next(server: Server) -> None:
    async def dial(address: Address, port: int) -> Streams:
        if address == PUBLIC:
            await asyncio.sleep(60)
        return await connect_to(ip_address("127.0.0.1"), port)

    async def resolve(_: str) -> tuple[Address, ...]:
        return PUBLIC, ip_address("1.1.1.1")

    async with EgressProxy(resolve, dial) as proxy:
        url = f"http://shop.example:{server.port}/"
        with proxy.admit(Guard.for_target(url), max_bytes=1000) as ticket:
            assert (await say(proxy, get(url, ticket))).endswith(b"hi")


async def test_a_user_s_proxy_gets_the_request_with_its_credentials(server: Server) -> None:
    upstream = Upstream.parse(f"http://joe:p%40ss@127.0.0.1:{server.port}")
    async with EgressProxy() as proxy:
        with proxy.admit(Guard(), max_bytes=1000, upstream=upstream) as ticket:
            await say(proxy, get("http://shop.example/a", ticket))
            await say(proxy, connect("shop.example:443", ticket))
    login = base64.b64encode(b"joe:p@ss").decode()
    assert server.heads[0].startswith("GET http://shop.example/a HTTP/1.1\r\n")
    assert server.heads[1].startswith("CONNECT shop.example:443 HTTP/1.1\r\n")
    assert all(f"Proxy-Authorization: Basic {login}\r\n" in head for head in server.heads)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "printer.local", "[::ffff:10.0.0.1]", "2130706433"])
async def test_a_user_s_proxy_is_not_asked_for_what_is_local_by_its_looks(server: Server, host: str) -> None:
    upstream = Upstream.parse(f"http://127.0.0.1:{server.port}")
    async with EgressProxy() as proxy:
        with proxy.admit(Guard(), max_bytes=1000, upstream=upstream) as ticket:
            assert await say(proxy, get(f"http://{host}/", ticket)) == b""
            assert ticket.passage.refusals.total() == 1
    assert server.heads == []


async def test_a_socks_proxy_resolves_the_name_and_takes_the_password() -> None:
    said: list[bytes] = []

    async def socks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said.append(await reader.readexactly(4))
        writer.write(b"\x05\x02")
        said.append(await reader.readexactly(12))
        writer.write(b"\x01\x00")
        said.append(await reader.readexactly(4 + 1 + 12 + 2))
        writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
        writer.write(b"over " + await reader.readexactly(2))
        writer.close()

    listener = await asyncio.start_server(socks, "127.0.0.1", 0)
    async with listener, EgressProxy() as proxy:
        upstream = Upstream.parse(f"socks5://joe:secret@127.0.0.1:{listener.sockets[0].getsockname()[1]}")
        with proxy.admit(Guard(), max_bytes=1000, upstream=upstream) as ticket:
            answer = await say(proxy, connect("shop.example:443", ticket) + b"hi")
    assert answer.endswith(b"\r\n\r\nover hi")
    assert said == [b"\x05\x02\x00\x02", b"\x01\x03joe\x06secret", b"\x05\x01\x00\x03\x0cshop.example\x01\xbb"]


@pytest.mark.parametrize("url", ["ftp://proxy:21", "http://", "http://a:port", "socks4://a:1"])
def test_a_faulty_proxy_url_is_a_usage_error(url: str) -> None:
    with pytest.raises(UsageError, match="The proxy's URL"):
        Upstream.parse(url)


def test_a_proxy_s_password_is_not_shown() -> None:
    assert "secret" not in repr(Upstream.parse("http://joe:secret@proxy.example"))
