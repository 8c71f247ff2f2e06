"""Our own requests for small texts (robots.txt, lists of pages), held to the same proxy and guard as the browser's."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2

from lookstruct.extractors.egress.guard import Guard, Unreachable
from lookstruct.extractors.egress.proxy import Ticket
from lookstruct.extractors.httpcache.cache import HttpCache
from lookstruct.schemas.errors import FetchError, FetchTimeout, Interrupted


class TooManyRedirects(FetchError):
    """It was led on and on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came: `body` is cut at the limit, `url` is where redirects led."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False


async def get(
    ticket: Ticket,
    url: str,
    *,
    max_bytes: int,
    timeout_s: float,
    headers: Mapping[str, str],
    max_redirects: int = 5,
    verify: bool = True,
    cache: HttpCache | None = None,
    keep_s: float | None = None,
) -> Answer:
    """The answer to a GET, whatever its status; redirects pass the guard as every request does.

    `cache` may know it, or know what to ask; what it keeps of this it keeps no longer than `keep_s`.
    Raises `Refused` or `Unreachable` where the guard or the network knows why there is none, else `FetchTimeout`,
    `Interrupted`, or `TooManyRedirects`.
    """
    proxy = httpx2.Proxy(ticket.proxy_url, auth=(ticket.username, ticket.password))
    client = httpx2.AsyncClient(
        proxy=proxy,
        trust_env=False,
        verify=verify,
        timeout=timeout_s,
        follow_redirects=True,
        max_redirects=max_redirects,
        headers=dict(headers),
    )
    try:
        async with asyncio.timeout(timeout_s), client:
            if cache is None:
                return await _asked(client, url, max_bytes)
            return await _by_cache(cache, ticket.passage.guard, client, url, max_bytes, keep_s)
    except (TimeoutError, httpx2.TimeoutException) as exc:
        raise FetchTimeout(f"{url} did not answer within {timeout_s:g} s: try again later") from exc
    except httpx2.TooManyRedirects as exc:
        raise TooManyRedirects(f"{url} redirects more than {max_redirects} times: check the address") from exc
    except (httpx2.HTTPError, httpx2.InvalidURL) as exc:
        if (fault := ticket.passage.fault(url)) is not None:
            raise fault from exc
        if (name := _tls_error(exc)) is not None:
            raise Unreachable(name) from exc
        raise Interrupted(f"{url} could not be read ({exc or type(exc).__name__}): try again later") from exc


async def _asked(
    client: httpx2.AsyncClient, url: str, max_bytes: int, extra: Mapping[str, str] | None = None
) -> Answer:
    """What the server says."""
    async with client.stream("GET", url, headers=dict(extra or {})) as response:
        body, is_cut = await _up_to(response, max_bytes)
        return Answer(str(response.url), response.status_code, dict(response.headers), body, is_cut)


async def _by_cache(
    cache: HttpCache, guard: Guard, client: httpx2.AsyncClient, url: str, max_bytes: int, keep_s: float | None
) -> Answer:
    """What the cache has, asked about where that is due, else what the server says; redirects are never kept."""
    sent = dict(client.build_request("GET", url).headers)
    lookup = await cache.look_up(url, sent, is_admitted=guard.admits_url(url), variant="own")
    if lookup is None:
        return await _asked(client, url, max_bytes)
    kept = lookup.fresh
    if kept is None:
        answer = await _asked(client, url, max_bytes, lookup.conditions)
        is_direct = answer.url == str(httpx2.URL(url))
        if answer.status != 304 or not lookup.conditions:
            if is_direct and not answer.is_cut:
                await cache.keep(lookup, answer.status, answer.headers, answer.body, at_most_s=keep_s)
            return answer
        kept = await cache.confirmed(lookup, answer.headers) if is_direct else None
    if kept is None:  # 304 of another page, or of what was removed meanwhile
        return await _asked(client, url, max_bytes)
    return Answer(url, kept.status, kept.headers, kept.body[:max_bytes], len(kept.body) > max_bytes)


def _tls_error(error: BaseException | None) -> str | None:
    """What Chromium would call it, None if TLS is not to blame."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return {10: "ERR_CERT_DATE_INVALID", 62: "ERR_CERT_COMMON_NAME_INVALID"}.get(
                error.verify_code, "ERR_CERT_AUTHORITY_INVALID"
            )
        if isinstance(error, ssl.SSLError):
            return "ERR_SSL_PROTOCOL_ERROR"
        error = error.__cause__ or error.__context__
    return None


async def _up_to(response: httpx2.Response, max_bytes: int) -> tuple[bytes, bool]:
    """The first bytes of the body, and whether there were more."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > max_bytes:
            return bytes(body[:max_bytes]), True
    return bytes(body), False
