"""The URL of a sitemap or a feed -> the pages it lists, through the egress guard; lists of sitemaps are followed."""

from __future__ import annotations

from lookstruct.extractors.agent import user_agent
from lookstruct.extractors.egress.client import get
from lookstruct.extractors.egress.dialer import Upstream
from lookstruct.extractors.egress.guard import Guard, Refused, Unreachable
from lookstruct.extractors.egress.proxy import EgressProxy, Ticket
from lookstruct.extractors.httpcache.cache import HttpCache
from lookstruct.extractors.httpcache.caches import Caches
from lookstruct.extractors.listing import MAX_BYTES, read_listing
from lookstruct.extractors.neterrors import fetch_error
from lookstruct.extractors.options import FetchOptions
from lookstruct.schemas.errors import BlockedByPolicy, HTTPStatusError, PageTooLarge, TargetError

MOST_SITEMAPS = 500
"""So many sitemaps of one list are read."""


async def listed_at(url: str, options: FetchOptions) -> tuple[str, ...]:
    """The pages that the sitemap or feed at `url` lists, each once.

    Only `url` itself may be at a private address; the sitemaps it leads to must be public, as all that a page leads to.
    Raises FetchError where one of them cannot be had, TargetError where it is no list.
    """
    egress, caches = EgressProxy(), Caches()
    await egress.start()
    guard = Guard.for_target(url, options.allow_private, for_others=options.for_others)
    upstream = Upstream.parse(options.proxy) if options.proxy else None
    try:
        with egress.admit(guard, max_bytes=MOST_SITEMAPS * MAX_BYTES, upstream=upstream) as ticket:
            return await _pages(url, ticket, options, await caches.of(options))
    finally:
        await caches.close()
        await egress.close()


async def _pages(url: str, ticket: Ticket, options: FetchOptions, cache: HttpCache | None) -> tuple[str, ...]:
    found = read_listing(await _read(url, ticket, options, cache), url)
    if len(found.sitemaps) > MOST_SITEMAPS:
        raise TargetError(f"{url} lists more than {MOST_SITEMAPS} sitemaps: give them one by one.")
    pages = list(found.pages)
    for address in found.sitemaps:
        pages += read_listing(await _read(address, ticket, options, cache), address).pages
    return tuple(dict.fromkeys(pages))


async def _read(url: str, ticket: Ticket, options: FetchOptions, cache: HttpCache | None) -> bytes:
    headers = {"User-Agent": options.user_agent or user_agent()}
    try:
        answer = await get(ticket, url, max_bytes=MAX_BYTES, timeout_s=options.timeout_s, headers=headers, cache=cache)
    except Refused as exc:
        raise BlockedByPolicy(f"{url} {exc}") from exc
    except Unreachable as exc:
        raise fetch_error(url, exc.name) from exc
    if answer.status >= 400:
        raise HTTPStatusError(f"{url} answered {answer.status}: check the address", answer.status)
    if answer.is_cut:
        raise PageTooLarge(f"{url} is larger than {MAX_BYTES / 1e6:g} MB, the most a sitemap may have")
    return answer.body
