"""JSON to a web address, through the egress guard: the address a person named, and nowhere that it redirects to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from lookstruct.schemas.errors import FetchError

if TYPE_CHECKING:
    from lookstruct.extractors.options import FetchOptions

_MAX_BYTES = 1_000_000
_TIMEOUT_S = 20.0


def poster(fetch: FetchOptions) -> Callable[[str, bytes], Awaitable[None]]:
    """A function that posts JSON, with the proxy and the private hosts that `fetch` allows."""

    async def post(url: str, data: bytes) -> None:
        import httpx2

        from lookstruct.extractors.egress.dialer import Upstream
        from lookstruct.extractors.egress.guard import Guard
        from lookstruct.extractors.egress.proxy import EgressProxy

        upstream = Upstream.parse(fetch.proxy) if fetch.proxy else None
        guard = Guard.for_target(url, fetch.allow_private)
        async with EgressProxy() as egress:
            with egress.admit(guard, max_bytes=_MAX_BYTES, upstream=upstream) as ticket:
                proxy = httpx2.Proxy(egress.url, auth=(ticket.username, ticket.password))
                async with httpx2.AsyncClient(proxy=proxy, trust_env=False, timeout=_TIMEOUT_S) as client:
                    answer = await client.post(url, content=data, headers={"Content-Type": "application/json"})
        if not answer.is_success:
            raise FetchError(f"it answered with status {answer.status_code}")

    return post
