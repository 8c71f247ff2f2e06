"""Checked addresses -> a connection: directly, or through the proxy that the user named."""

from __future__ import annotations

import asyncio
import base64
import ssl
import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from lookstruct.extractors.egress.addresses import Address, is_local_name, is_public, literal
from lookstruct.extractors.egress.guard import Passage, Place, Refused, Unreachable
from lookstruct.extractors.egress.heads import LONGEST, HeadError, read_head
from lookstruct.schemas.errors import UsageError

Streams = tuple[StreamReader, StreamWriter]
Connect = Callable[[Address, int], Awaitable[Streams]]

_ATTEMPT_S = 10.0
_NEXT_AFTER_S = 0.3  # then the next address is tried besides
_DEFAULT_PORTS = {"http": 8080, "https": 443, "socks5": 1080, "socks5h": 1080}


@dataclass(frozen=True, slots=True)
class Line:
    """A connection; with `absolute`, requests in the clear go to another proxy, with `headers` for it."""

    reader: StreamReader
    writer: StreamWriter
    absolute: bool = False
    headers: tuple[tuple[str, str], ...] = ()


class Dialer(Protocol):
    """Connects to a place for a page."""

    async def open(self, passage: Passage, place: Place, *, tunnel: bool) -> Line:
        """A connection to `place`, for bytes as they are (`tunnel`) or for one HTTP request.

        Raises `Refused` or `Unreachable`.
        """
        ...


async def connect_to(address: Address, port: int) -> Streams:
    """A TCP connection to one address."""
    return await asyncio.open_connection(str(address), port, limit=LONGEST)


@dataclass(frozen=True, slots=True)
class Direct:
    """Connects to the addresses that the passage has checked, and to no other."""

    connect: Connect = connect_to

    async def open(self, passage: Passage, place: Place, *, tunnel: bool) -> Line:
        """The first of the place's addresses that answers."""
        del tunnel
        addresses = await passage.addresses(place)
        reader, writer = await _race(self.connect, addresses, place.port)
        if _is_this_machine(writer, addresses) and not passage.guard.admits(place):
            writer.close()
            raise Refused(f"leads to {place.host}, which is this machine: {passage.guard.advice(place)}")
        return Line(reader, writer)


def _is_this_machine(writer: StreamWriter, addresses: Sequence[Address]) -> bool:
    """Whether one of `addresses` is this machine's own, public as it may be."""
    own = writer.get_extra_info("sockname")
    return bool(own) and any(own[0] == str(address) for address in addresses)


async def _race(connect: Connect, addresses: Sequence[Address], port: int) -> Streams:
    """The first connection that comes about; a silent address does not hold up the next one for long."""
    waiting = list(addresses)
    running: set[asyncio.Task[Streams]] = set()
    errors: list[BaseException | None] = []
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.create_task(_attempt(connect, waiting.pop(0), port)))
            pause = _NEXT_AFTER_S if waiting else None
            done, running = await asyncio.wait(running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            if won := [task for task in done if task.exception() is None]:
                running |= set(won[1:])
                return won[0].result()
            errors += [task.exception() for task in done]
    finally:
        for task in running:
            task.add_done_callback(_let_go)
            task.cancel()
    raise Unreachable(_name(errors[0]))


def _let_go(task: asyncio.Task[Streams]) -> None:
    """Close a connection that came about too late."""
    if not task.cancelled() and task.exception() is None:
        task.result()[1].close()


async def _attempt(connect: Connect, address: Address, port: int) -> Streams:
    async with asyncio.timeout(_ATTEMPT_S):
        return await connect(address, port)


def _name(error: BaseException | None) -> str:
    """What Chromium would call it."""
    match error:
        case ConnectionRefusedError():
            return "ERR_CONNECTION_REFUSED"
        case TimeoutError():
            return "ERR_CONNECTION_TIMED_OUT"
        case OSError() | None:
            return "ERR_ADDRESS_UNREACHABLE"
        case _:
            raise error


@dataclass(frozen=True, slots=True)
class Upstream:
    """A proxy that the user named: http, https (itself reached by TLS), or socks5."""

    scheme: str
    host: str
    port: int
    username: str = ""
    password: str = field(default="", repr=False)

    @classmethod
    def parse(cls, url: str) -> Upstream:
        """`http://user:password@host:port`; percent escapes in the credentials are undone.

        >>> Upstream.parse("http://joe:p%40ss@proxy.example:3128")
        Upstream(scheme='http', host='proxy.example', port=3128, username='joe')
        """
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            scheme, host, port = parts.scheme.lower(), parts.hostname, parts.port
        except ValueError as exc:
            raise UsageError(f"The proxy's URL is not valid ({exc}): expected http://user:password@host:port.") from exc
        if scheme not in _DEFAULT_PORTS or not host:
            kinds = "http://, https:// or socks5://"
            raise UsageError(f"The proxy's URL names {scheme}://{host or ''}: expected {kinds} and a host.")
        names = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(scheme, host, _DEFAULT_PORTS[scheme] if port is None else port, *names)

    @property
    def authorization(self) -> tuple[tuple[str, str], ...]:
        """The header with the credentials, if there are any."""
        if not self.username:
            return ()
        pair = f"{self.username}:{self.password}".encode()
        return (("Proxy-Authorization", f"Basic {base64.b64encode(pair).decode()}"),)


@dataclass(frozen=True, slots=True)
class Through:
    """Connects through the user's proxy, which looks names up itself: the guard checks what it can see.

    That is addresses written as numbers, and names that can only be local ones.
    """

    upstream: Upstream

    async def open(self, passage: Passage, place: Place, *, tunnel: bool) -> Line:
        """A connection to `place` by way of the proxy."""
        _check_unresolved(passage, place)
        reader, writer = await self._reach()
        try:
            async with asyncio.timeout(_ATTEMPT_S):
                return await self._line(reader, writer, place, tunnel)
        except BaseException as exc:
            writer.close()
            if isinstance(exc, OSError | EOFError | HeadError):
                raise Unreachable("ERR_PROXY_CONNECTION_FAILED") from exc
            raise

    async def _line(self, reader: StreamReader, writer: StreamWriter, place: Place, tunnel: bool) -> Line:
        if self.upstream.scheme.startswith("socks5"):
            await _ask_socks(reader, writer, self.upstream, place)
        elif not tunnel:
            return Line(reader, writer, absolute=True, headers=self.upstream.authorization)
        else:
            await _ask_connect(reader, writer, self.upstream, place)
        return Line(reader, writer)

    async def _reach(self) -> Streams:
        context = ssl.create_default_context() if self.upstream.scheme == "https" else None
        try:
            async with asyncio.timeout(_ATTEMPT_S):
                return await asyncio.open_connection(self.upstream.host, self.upstream.port, ssl=context, limit=LONGEST)
        except OSError as exc:
            raise Unreachable("ERR_PROXY_CONNECTION_FAILED") from exc


def _check_unresolved(passage: Passage, place: Place) -> None:
    """Raise `Refused` for what is not public by its looks; names that may lead anywhere are noted."""
    address = literal(place.host)
    is_private = not is_public(address) if address else is_local_name(place.host)
    if is_private and not passage.guard.admits(place):
        raise Refused(f"leads to {place.host}, which is not a public address: {passage.guard.advice(place)}")
    if address is None and not passage.guard.admits(place):
        passage.unchecked.add(place.host)


async def _ask_connect(reader: StreamReader, writer: StreamWriter, upstream: Upstream, place: Place) -> None:
    headers = "".join(f"{name}: {value}\r\n" for name, value in upstream.authorization)
    writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{headers}\r\n".encode())
    status = (await read_head(reader)).status
    if status == 407:
        raise Unreachable("ERR_PROXY_AUTH_REQUESTED")
    if status != 200:
        raise Unreachable("ERR_TUNNEL_CONNECTION_FAILED")


async def _ask_socks(reader: StreamReader, writer: StreamWriter, upstream: Upstream, place: Place) -> None:
    """SOCKS 5 (RFC 1928) with user name and password (RFC 1929); the proxy resolves the name."""
    writer.write(b"\x05\x02\x00\x02" if upstream.username else b"\x05\x01\x00")
    method = (await reader.readexactly(2))[1]
    if method == 2:
        user, password = upstream.username.encode()[:255], upstream.password.encode()[:255]
        writer.write(bytes([1, len(user)]) + user + bytes([len(password)]) + password)
        if (await reader.readexactly(2))[1] != 0:
            raise Unreachable("ERR_PROXY_AUTH_REQUESTED")
    elif method != 0:
        raise Unreachable("ERR_PROXY_AUTH_REQUESTED")
    host = place.host.encode("idna") if place.host.isascii() is False else place.host.encode()
    writer.write(b"\x05\x01\x00\x03" + bytes([len(host)]) + host + struct.pack("!H", place.port))
    _, answer, _, kind = await reader.readexactly(4)
    n_address = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
    await reader.readexactly(n_address + 2)
    if answer != 0:
        raise Unreachable(
            {3: "ERR_ADDRESS_UNREACHABLE", 5: "ERR_CONNECTION_REFUSED"}.get(answer, "ERR_PROXY_CONNECTION_FAILED")
        )


@dataclass(frozen=True, slots=True)
class FromEnvironment:
    """As the machine's own settings say (HTTP_PROXY, HTTPS_PROXY, NO_PROXY): through a proxy or directly."""

    direct: Dialer

    async def open(self, passage: Passage, place: Place, *, tunnel: bool) -> Line:
        """A connection as the environment wants it; this machine itself is always reached directly."""
        proxies = getproxies()
        url = proxies.get("https" if tunnel else "http") or proxies.get("all")
        address = literal(place.host)
        is_here = address.is_loopback if address else place.host.rpartition(".")[2] == "localhost"
        if url and not is_here:
            with suppress(OSError):
                if not proxy_bypass(place.host):
                    return await Through(Upstream.parse(url)).open(passage, place, tunnel=tunnel)
        return await self.direct.open(passage, place, tunnel=tunnel)
