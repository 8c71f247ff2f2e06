"""Which kept response answers a request, and which response is kept: RFC 9111 as a cache that many may share.

The rules are hishel's. Stricter than the RFC asks:

- a response without a lifetime of its own (max-age, Expires) is never guessed to be fresh, but asked about;
- with `Use.CHECK` every one is asked about;
- requests with cookies or credentials, and responses that set cookies, pass by the cache;
- what only a person's own word admitted (a typed local address) is kept apart from what pages may lead to.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate, parsedate_to_datetime
from enum import Enum
from urllib.parse import urlsplit

from hishel import (
    AnyState,
    CacheMiss,
    CacheOptions,
    Entry,
    FromCache,
    Headers,
    IdleClient,
    InvalidateEntries,
    NeedRevalidation,
    NeedToBeUpdated,
    Request,
    Response,
    StoreAndUse,
)

from lookstruct.extractors.httpcache.store import Storage

_OPTIONS = CacheOptions(shared=True, allow_stale=False)
_PERSONAL = frozenset({"cookie", "authorization"})
_OF_THE_TRANSFER = frozenset({"content-encoding", "content-length", "transfer-encoding", "age"})
_VALIDATORS = frozenset({"etag", "last-modified"})
_NO_CACHE = {"cache-control": "no-cache"}


class Use(Enum):
    """CHECK asks about everything that is kept; FRESH uses without asking what its server calls fresh."""

    CHECK = "check"
    FRESH = "on"


@dataclass(frozen=True, slots=True)
class Kept:
    """A response out of the cache; `age_s` is how old it is, by its server's clock."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    age_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Lookup:
    """What is known of a URL before it is asked for: an answer that may be used at once, or what to ask with."""

    request: Request
    key: str
    state: CacheMiss | NeedRevalidation | FromCache
    fresh: Kept | None = None

    @property
    def conditions(self) -> dict[str, str]:
        """The headers with which the server may answer 304, none where nothing is kept."""
        if not isinstance(self.state, NeedRevalidation):
            return {}
        asked = self.state.request.headers
        return {name: asked[name] for name in ("if-none-match", "if-modified-since") if name in asked}


class HttpCache:
    """The cache as one run uses it, over a file that other runs use too."""

    def __init__(self, storage: Storage, use: Use) -> None:
        self._storage = storage
        self._use = use

    async def look_up(
        self, url: str, headers: Mapping[str, str], *, is_admitted: bool, variant: str = ""
    ) -> Lookup | None:
        """What is kept for a GET of `url` with these headers; None for a request that passes by the cache.

        `is_admitted`: a person's word lets this request reach private addresses; what came so answers no other.
        `variant` tells requests apart that servers may answer differently without saying so (another client).
        """
        if urlsplit(url).username is not None or any(name.lower() in _PERSONAL for name in headers):
            return None
        key = hashlib.sha256(f"{is_admitted} {variant} {url}".encode()).hexdigest()
        request = Request("GET", url, _headers(headers))
        entries = await self._storage.get_entries(key)
        state = _idle(self._use, request, entries)
        fresh = await _kept(state.entry) if isinstance(state, FromCache) else None
        if isinstance(state, FromCache) and fresh is None:
            state = CacheMiss(_OPTIONS, request)
        return Lookup(request, key, state, fresh)

    async def confirmed(self, lookup: Lookup, headers: Mapping[str, str]) -> Kept | None:
        """The kept response that a 304 with these headers speaks of; None if it is none of ours."""
        state = await self._next(lookup, Response(304, _headers(_dated(headers))))
        if not isinstance(state, NeedToBeUpdated):
            return None
        for entry in state.updating_entries:
            await self._storage.update_headers(entry.id, entry.response.headers)
        return await _kept(state.next().entry)

    async def keep(
        self, lookup: Lookup, status: int, headers: Mapping[str, str], body: bytes, *, at_most_s: float | None = None
    ) -> None:
        """Keep a whole response, its body decoded, if its server lets us; `at_most_s` bounds how long."""
        names = {name.lower() for name in headers}
        if "set-cookie" in names or not (names & _VALIDATORS or _has_lifetime(headers)):
            return
        kept = {name: value for name, value in _dated(headers).items() if name.lower() not in _OF_THE_TRANSFER}
        state = await self._next(lookup, Response(status, _headers(kept), _one(body)))
        if isinstance(state, StoreAndUse):
            entry = await self._storage.create_entry(lookup.request, state.response, lookup.key, ttl=at_most_s)
            await _body(entry)  # it is written as it is read
            await self._forget(lookup)

    async def _forget(self, lookup: Lookup) -> None:
        """Removes what a whole new response has taken the place of: of two of one second, none is the newer."""
        for entry in lookup.state.revalidating_entries if isinstance(lookup.state, NeedRevalidation) else ():
            await self._storage.remove_entry(entry.id)

    async def _next(self, lookup: Lookup, response: Response) -> AnyState:
        """What the rules make of a response; what it makes void is forgotten."""
        assert isinstance(lookup.state, CacheMiss | NeedRevalidation), "a fresh answer needs no response"
        state: AnyState = lookup.state.next(response)
        while isinstance(state, InvalidateEntries):
            for entry_id in state.entry_ids:
                await self._storage.remove_entry(entry_id)
            state = state.next_state
        return state


def _idle(use: Use, request: Request, entries: list[Entry]) -> CacheMiss | NeedRevalidation | FromCache:
    """Whether an entry may be used, must be asked about, or there is none."""
    must_ask = use is Use.CHECK or not all(_has_lifetime(entry.response.headers) for entry in entries)
    asked = replace(request, headers=Headers({**request.headers, **_NO_CACHE})) if must_ask else request
    return IdleClient(options=_OPTIONS).next(asked, entries)


def _headers(headers: Mapping[str, str]) -> Headers:
    return Headers({name.lower(): value for name, value in headers.items()})


def _has_lifetime(headers: Mapping[str, str]) -> bool:
    """Whether a server said itself how long its answer holds."""
    lower = {name.lower(): value for name, value in headers.items()}
    return "expires" in lower or "max-age" in lower.get("cache-control", "").replace("s-maxage", "max-age").lower()


def _dated(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with the date at which the answer left its server, by which its age is counted.

    Caches on the way say in Age how old it is; a server without a clock says nothing.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    aged = lower.get("age", "")
    since = time.time() - (int(aged) if aged.isdecimal() else 0)
    return {**lower, "date": formatdate(min(since, _date(lower.get("date")) or since), usegmt=True)}


def _date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text or "").timestamp()
    except (ValueError, OverflowError):
        return None


async def _kept(entry: Entry) -> Kept | None:
    """The entry with its body; None if it was removed meanwhile."""
    try:
        body = await _body(entry)
    except RuntimeError:
        return None
    headers = {name: str(value) for name, value in entry.response.headers.items()}
    return Kept(entry.response.status_code, headers, body, float(headers.get("age", "0")))


async def _body(entry: Entry) -> bytes:
    stream = entry.response.stream
    assert isinstance(stream, AsyncIterable)
    return b"".join([piece async for piece in stream])


async def _one(body: bytes) -> AsyncIterator[bytes]:
    yield body
