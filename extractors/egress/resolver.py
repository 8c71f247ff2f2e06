"""Names -> addresses by the system's resolver; an answer is kept for a minute, for all pages."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_address

from lookstruct.extractors.egress.addresses import Address

Resolve = Callable[[str], Awaitable[tuple[Address, ...]]]
"""A name's addresses, the preferred ones first; none for a name that nobody knows. Raises `OSError` on failure."""

_KEEP_S = 60.0
_MOST = 1000


class SystemResolver:
    """Asks the system, once a minute and name."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, tuple[Address, ...]]] = {}

    async def __call__(self, name: str) -> tuple[Address, ...]:
        """The addresses of `name`."""
        now = asyncio.get_running_loop().time()
        until, addresses = self._known.get(name, (0.0, ()))
        if until <= now:
            addresses = await _ask(name)
            self._known = {} if len(self._known) >= _MOST else self._known
            if addresses:
                self._known[name] = (now + _KEEP_S, addresses)
        return addresses


async def _ask(name: str) -> tuple[Address, ...]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as exc:
        if isinstance(exc, socket.gaierror) and exc.errno == socket.EAI_AGAIN:
            raise OSError(f"no name server answered for {name}") from exc
        return ()
    return tuple(dict.fromkeys(ip_address(str(info[4][0]).split("%")[0]) for info in found))
