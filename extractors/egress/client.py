"""Our own requests for small texts (robots.txt, lists of pages), held to the same proxy and guard as the browser's."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2

from lookstruct.extractors.egress.guard import Unreachable
from lookstruct.extractors.egress.proxy import Ticket
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
) -> Answer:
    """The answer to a GET, whatever its status; redirects pass the guard as every request does.

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
        async with asyncio.timeout(timeout_s), client, client.stream("GET", url) as response:
            body, is_cut = await _up_to(response, max_bytes)
            return Answer(str(response.url), response.status_code, dict(response.headers), body, is_cut)
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
