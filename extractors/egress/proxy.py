"""A small forward proxy on loopback: names are resolved once, every address is checked, and that address is used.

Chromium and our own client are given it as their proxy, loopback included, so nothing they do can go another way: not a
redirect, not a socket, not a name that changes its address. Each page has a `Passage` and credentials of its own;
without any, nothing passes, so other programs on this machine cannot use it.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from playwright.async_api import ProxySettings

from lookstruct.extractors.egress.dialer import (
    Connect,
    Dialer,
    Direct,
    FromEnvironment,
    Line,
    Through,
    Upstream,
    connect_to,
)
from lookstruct.extractors.egress.guard import Guard, Passage, Place, Refused, Unreachable
from lookstruct.extractors.egress.heads import LONGEST, Head, HeadError, read_head
from lookstruct.extractors.egress.resolver import Resolve, SystemResolver

_PIECE = 64 * 1024
_MOST_LINES = 256  # connections of one page at once; Chromium opens 32 to a proxy, and 255 WebSockets
_HEAD_S = 30.0
_WANTED = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=lookstruct\r\n"


@dataclass(eq=False, slots=True)
class Ticket:
    """A page's right to pass: what it logs in with, its passage, how it connects, and what it has open."""

    username: str
    password: str
    passage: Passage
    dialer: Dialer
    proxy_url: str
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def settings(self) -> ProxySettings:
        """The proxy as Playwright's contexts take it."""
        return {"server": self.proxy_url, "bypass": "<-loopback>", "username": self.username, "password": self.password}

    @property
    def header(self) -> str:
        """What a client sends as Proxy-Authorization."""
        return "Basic " + base64.b64encode(f"{self.username}:{self.password}".encode()).decode()


class EgressProxy:
    """The proxy; `start` before use, `close` at the end, `async with` does both.

        with proxy.admit(Guard.for_target(url), max_bytes=10**8) as ticket:
            context = await browser.new_context(proxy=ticket.settings)

    `resolve` and `connect` are the ways to names and addresses; tests put their own in their places.
    """

    def __init__(self, resolve: Resolve | None = None, connect: Connect = connect_to) -> None:
        self._resolve = resolve or SystemResolver()
        self._direct = Direct(connect)
        self._tickets: dict[str, Ticket] = {}
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> EgressProxy:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Listen on a free port of loopback; a second call does nothing."""
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=LONGEST)

    @property
    def url(self) -> str:
        """Where it listens."""
        assert self._server is not None, "the proxy is not running"
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Stop listening and end every connection; safe to call twice."""
        server, self._server = self._server, None
        for ticket in self._tickets.values():
            _end(ticket)
        self._tickets.clear()
        if server is not None:
            server.close()

    @contextmanager
    def admit(self, guard: Guard, *, max_bytes: int, upstream: Upstream | None = None) -> Iterator[Ticket]:
        """Let a page pass while the block runs; what it still has open is closed at its end.

        `upstream` is the user's proxy; None takes the environment's, if it has one.
        """
        passage = Passage(guard, self._resolve, max_bytes)
        dialer = Through(upstream) if upstream else FromEnvironment(self._direct)
        ticket = Ticket(secrets.token_urlsafe(9), secrets.token_urlsafe(24), passage, dialer, self.url)
        self._tickets[ticket.header] = ticket
        try:
            yield ticket
        finally:
            self._tickets.pop(ticket.header, None)
            _end(ticket)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """One connection of a client: its first request with credentials is its only one."""
        task = asyncio.current_task()
        assert task is not None
        try:
            async with asyncio.timeout(_HEAD_S):
                admitted = await self._admitted(reader, writer)
            if admitted is None:
                return
            head, ticket = admitted
            ticket.tasks.add(task)
            try:
                await _Exchange(ticket.dialer, ticket.passage, head, reader, writer).run()
            finally:
                ticket.tasks.discard(task)
        except (OSError, EOFError, HeadError, asyncio.CancelledError):
            pass  # a client that went away, or was sent away: there is nobody left to tell
        finally:
            writer.close()

    async def _admitted(self, reader: StreamReader, writer: StreamWriter) -> tuple[Head, Ticket] | None:
        """The request and whose it is; None for a page that has too much under way."""
        while True:
            head = await read_head(reader)
            ticket = self._tickets.get(head.get("proxy-authorization") or "")
            if ticket is not None:
                return (head, ticket) if len(ticket.tasks) < _MOST_LINES else None
            if head.get("content-length") or head.get("transfer-encoding"):
                writer.write(f"{_WANTED}Connection: close\r\nContent-Length: 0\r\n\r\n".encode())
                return None
            writer.write(f"{_WANTED}Content-Length: 0\r\n\r\n".encode())


def _end(ticket: Ticket) -> None:
    for task in ticket.tasks:
        task.cancel()


@dataclass(slots=True)
class _Exchange:
    """One request of a page, from its head to the last byte."""

    dialer: Dialer
    passage: Passage
    head: Head
    reader: StreamReader
    writer: StreamWriter

    async def run(self) -> None:
        """Connect, hand the request on, and carry bytes both ways."""
        method, _, rest = self.head.first.partition(" ")
        target = rest.rpartition(" ")[0]
        tunnel = method == "CONNECT"
        place = Place.of(f"https://{target}" if tunnel else target)
        if place is None or not (tunnel or target.lower().startswith("http://")):
            raise HeadError(f"no request to a proxy: {self.head.first[:80]!r}")
        line = await self._connected(place, tunnel=tunnel)
        if line is None:
            return
        try:
            if tunnel:
                self.writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                line.writer.write(bytes(_for_server(self.head, line)))
            await self._carry(line, place, tunnel=tunnel)
        finally:
            line.writer.close()

    async def _connected(self, place: Place, *, tunnel: bool) -> Line | None:
        """A line to `place`, or None, after the client was told that there is none and the passage why."""
        try:
            if self.passage.is_exhausted:
                raise Unreachable("ERR_FILE_TOO_BIG")
            line = await self.dialer.open(self.passage, place, tunnel=tunnel)
            self.passage.reached(place)
            return line
        except (Refused, Unreachable) as exc:
            self.passage.note(place, exc)
            if tunnel:
                self.writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                await self.writer.drain()
            return None

    async def _carry(self, line: Line, place: Place, *, tunnel: bool) -> None:
        upward = asyncio.create_task(_copy(self.reader, line.writer))
        try:
            if not tunnel:
                await self._answer_head(line, place)
            await _copy(line.reader, self.writer, self.passage)
            if tunnel:
                await upward
        finally:
            upward.cancel()

    async def _answer_head(self, line: Line, place: Place) -> None:
        """Hand on the answer's head, so that the client closes after it; 407 belongs to proxies alone."""
        while True:
            head = await read_head(line.reader)
            if head.status == 407:
                if line.absolute:
                    self.passage.note(place, Unreachable("ERR_PROXY_AUTH_REQUESTED"))
                raise HeadError("a server that answers as a proxy does")
            is_final = head.status >= 200
            self.writer.write(bytes(head.closing() if is_final else head))
            if is_final:
                return


def _for_server(head: Head, line: Line) -> Head:
    """The request as the server expects it, or as another proxy does."""
    method, target, version = head.first.split(" ", 2)
    if not line.absolute:
        rest = target.split("//", 1)[1]
        slash = min((i for i in (rest.find("/"), rest.find("?")) if i >= 0), default=len(rest))
        path = rest[slash:]
        target = path if path.startswith("/") else f"/{path}"
    closing = head.closing(line.headers)
    return Head(f"{method} {target} {version}", closing.headers)


async def _copy(reader: StreamReader, writer: StreamWriter, passage: Passage | None = None) -> None:
    """Carry bytes until their end, and hand that on; bytes that come in are counted and end when they are too many."""
    with suppress(OSError):
        while data := await reader.read(_PIECE):
            if passage is not None:
                passage.count(len(data))
                if passage.is_exhausted:
                    return
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
