"""A site's robots.txt -> what it allows (RFC 9309).

2xx          its rules; the first 500 KiB of them
3xx          followed, five at most; more count as no file
4xx          no file: everything is allowed (429 is no such answer, but "later")
429, 5xx     unreachable: nothing is allowed
no answer    unreachable: nothing is allowed
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from protego import Protego

from lookstruct.extractors.egress.client import Answer, TooManyRedirects
from lookstruct.extractors.egress.guard import Refused, Unreachable
from lookstruct.schemas.errors import FetchError

LONGEST = 500 * 1024
"""Bytes of a robots.txt that are read; the RFC asks for no fewer."""

KEEP_S = 24 * 3600.0
_MOST_SITES = 5_000

Get = Callable[[str], Awaitable[Answer]]
"""Fetches a robots.txt; raises as `egress.client.get` does where no answer came."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What one site allows; `unreachable` says why nothing is, None where an answer came.

    `fault` is what stands between this machine and the whole site, if that is known.
    """

    parsed: Protego | None = None
    unreachable: str | None = None
    fault: Refused | Unreachable | None = None

    def allows(self, url: str, agent: str) -> bool:
        """Whether `agent` may fetch `url`."""
        if self.unreachable is not None:
            return False
        return self.parsed is None or bool(self.parsed.can_fetch(url, agent))

    def delay_s(self, agent: str) -> float:
        """Seconds that the site wants between two pages: its crawl-delay, or its request-rate."""
        if self.parsed is None:
            return 0.0
        rate = self.parsed.request_rate(agent)
        return max(float(self.parsed.crawl_delay(agent) or 0.0), rate.seconds / rate.requests if rate else 0.0)


class Robots:
    """The rules of every site asked about, each fetched once a day; again at once where no answer came."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, asyncio.Future[Rules]]] = {}

    async def rules(self, url: str, get: Get) -> Rules:
        """The rules for `url`; several that ask at once share one request."""
        address = address_for(url)
        asked = self._valid(address)
        if asked is None:
            asked = asyncio.ensure_future(_read(address, get))
            self._known = {} if len(self._known) >= _MOST_SITES else self._known
            self._known[address] = (asyncio.get_running_loop().time() + KEEP_S, asked)
        return await asyncio.shield(asked)

    def _valid(self, address: str) -> asyncio.Future[Rules] | None:
        """What is known, or being asked; None if it is too old, or was no answer."""
        until, asked = self._known.get(address, (0.0, None))
        if asked is None or until <= asyncio.get_running_loop().time():
            return None
        return None if asked.done() and not _is_answered(asked) else asked

    async def close(self) -> None:
        """Stop what is still being fetched."""
        asked = [future for _, future in self._known.values() if not future.done()]
        for future in asked:
            future.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


def _is_answered(asked: asyncio.Future[Rules]) -> bool:
    """Whether there were rules to be read: a refusal of ours depends on who leads there, so it is not kept either."""
    if asked.cancelled() or asked.exception():
        return False
    return asked.result().unreachable is None and asked.result().fault is None


def address_for(url: str) -> str:
    """Where the robots.txt for `url` is.

    >>> address_for("https://Shop.example:8443/a/b?c")
    'https://Shop.example:8443/robots.txt'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/robots.txt"


async def _read(address: str, get: Get) -> Rules:
    try:
        answer = await get(address)
    except TooManyRedirects:
        return Rules()
    except FetchError as exc:
        return Rules(unreachable=str(exc))
    except (Refused, Unreachable) as exc:
        return Rules(unreachable=str(exc), fault=exc)
    if answer.status == 429 or answer.status >= 500:
        return Rules(unreachable=f"{address} answered {answer.status}")
    if answer.status >= 300:
        return Rules()
    return Rules(Protego.parse(answer.body.decode("utf-8-sig", "replace")))
