"""Robots, pace and retries in one object, for all the pages of a run.

    async with manners.turn(url, options) as notes:
        ...one page...

Whoever fetches through `Fetcher` has this already: one `Fetcher` is one guest, whatever fetches through it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from lookstruct.extractors.agent import product_of, user_agent
from lookstruct.extractors.egress.addresses import is_public, literal
from lookstruct.extractors.egress.client import Answer, get
from lookstruct.extractors.egress.dialer import Upstream
from lookstruct.extractors.egress.guard import Guard, Refused, Unreachable
from lookstruct.extractors.egress.proxy import EgressProxy
from lookstruct.extractors.httpcache.caches import Caches
from lookstruct.extractors.manners.pace import Pace
from lookstruct.extractors.manners.retrying import retried
from lookstruct.extractors.manners.robots import KEEP_S, LONGEST, Robots, Rules, address_for
from lookstruct.extractors.neterrors import fetch_error
from lookstruct.extractors.options import FetchOptions
from lookstruct.schemas.errors import BlockedByPolicy, FetchError, HTTPStatusError

T = TypeVar("T")

IGNORED_NOTE = "robots.txt was not asked, as --ignore-robots says"

_ROBOTS_S = 15.0
_LONGEST_DELAY_S = 60.0
_DELAY_S = 1.0
_AT_ONCE, _AT_ONCE_LOCAL = 2, 64


class Manners:
    """How this run behaves towards all hosts; what it asks goes through the egress proxy."""

    def __init__(self, egress: EgressProxy, pace: Pace | None = None, caches: Caches | None = None) -> None:
        self._egress = egress
        self._caches = caches or Caches()
        self._robots = Robots()
        self._pace = pace or Pace()

    async def visited(
        self, url: str, visit: Callable[[], Awaitable[T]], options: FetchOptions, *, typed: str | None = None
    ) -> T:
        """What `visit` returns: asked for when it is its turn, and again where that is worth it.

        `typed` is the URL that a person named, where another one led to `url`: it may not lead to private addresses.
        """

        async def once() -> T:
            async with self.turn(url, options, typed=typed):
                with self._held(url):
                    return await visit()

        return await retried(once, options.retries)

    @contextmanager
    def _held(self, url: str) -> Iterator[None]:
        """Leave the host alone for as long as it asks for in the block."""
        try:
            yield
        except HTTPStatusError as exc:
            if exc.retry_after_s:
                self._pace.hold(_host(url), exc.retry_after_s)
            raise

    @asynccontextmanager
    async def turn(self, url: str, options: FetchOptions, *, typed: str | None = None) -> AsyncIterator[None]:
        """A turn at the URL's host. Raises `BlockedByPolicy` where robots.txt says no."""
        delay_s = await self._delay_s(url, options, typed)
        at_once = options.per_host or (_AT_ONCE_LOCAL if _is_local(_host(url)) else _AT_ONCE)
        async with self._pace.turn(_host(url), at_once=at_once, delay_s=delay_s):
            yield

    @asynccontextmanager
    async def next_turn(self, url: str, options: FetchOptions, *, typed: str) -> AsyncIterator[None]:
        """A turn for one more page of a visit, to which `typed` led.

        It waits as any other, but goes on in the place that the visit has: one that waited for a second place while
        it holds the first could wait for itself.
        """
        if urlsplit(url).scheme in ("http", "https"):
            await self._pace.wait(_host(url), await self._delay_s(url, options, typed))
        with self._held(url):
            yield

    async def _delay_s(self, url: str, options: FetchOptions, typed: str | None) -> float:
        """Seconds between two pages of the host, by the options and the site's own wish; raises if it wants none."""
        wanted_s = 0.0 if options.ignore_robots else await self._asked(url, options, typed)
        usual_s = 0.0 if _is_local(_host(url)) else _DELAY_S
        return max(usual_s if options.delay_s is None else options.delay_s, min(wanted_s, _LONGEST_DELAY_S))

    async def _asked(self, url: str, options: FetchOptions, typed: str | None) -> float:
        """Seconds that the site wants between two pages, if it wants any at all; raises if it does not."""

        async def fetched(address: str) -> Answer:
            return await self._get(address, options, typed)

        rules = await self._robots.rules(url, fetched)
        _check(url, rules, product_of(options.user_agent))
        return rules.delay_s(product_of(options.user_agent))

    async def _get(self, address: str, options: FetchOptions, typed: str | None) -> Answer:
        """A robots.txt.

        Browsers complete chains of certificates that servers send in part, our client does not: what it cannot check is
        read none the less, as it only says yes or no. The page itself is shown by Chromium, which checks.
        """
        guard = Guard.for_target(typed or address, options.allow_private, for_others=options.for_others)
        upstream = Upstream.parse(options.proxy) if options.proxy else None
        headers = {"User-Agent": options.user_agent or user_agent()}
        with self._egress.admit(guard, max_bytes=4 * LONGEST, upstream=upstream) as ticket:
            limits: dict[str, Any] = {"max_bytes": LONGEST, "timeout_s": _ROBOTS_S, "keep_s": KEEP_S}
            ask = partial(get, ticket, address, headers=headers, cache=await self._caches.of(options), **limits)
            try:
                return await ask()
            except Unreachable as exc:
                if not exc.name.startswith("ERR_CERT_"):
                    raise
                try:
                    return await ask(verify=False)
                except FetchError:
                    raise exc from None

    async def close(self) -> None:
        """Stop what is still being asked."""
        await self._robots.close()


def _check(url: str, rules: Rules, agent: str) -> None:
    if isinstance(rules.fault, Refused):
        raise BlockedByPolicy(f"{url} {rules.fault}")
    if rules.fault is not None:
        raise fetch_error(url, rules.fault.name)
    if rules.unreachable is not None:
        raise BlockedByPolicy(
            f"{url} was not fetched because its site's robots.txt could not be had, which means no "
            f"({rules.unreachable}): try again later, or pass --ignore-robots if the site permits it"
        )
    if not rules.allows(url, agent):
        raise BlockedByPolicy(
            f"{url} was not fetched because {address_for(url)} forbids it to {agent}: "
            "pass --ignore-robots if the site permits it otherwise"
        )


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").removesuffix(".")


def _is_local(host: str) -> bool:
    """Whether this is a server of one's own, by its looks: it needs no courtesy unless that is asked for."""
    address = literal(host)
    return not is_public(address) if address else host.rpartition(".")[2] == "localhost"
