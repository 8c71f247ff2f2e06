"""A URL that leads to something other than HTML -> `Page`: fetched by our own client, read by its kind of input."""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lookstruct.extractors.contenttypes import not_a_page
from lookstruct.extractors.egress.client import get
from lookstruct.extractors.egress.proxy import Ticket
from lookstruct.extractors.httpcache.cache import HttpCache
from lookstruct.extractors.inputs import Kind, convert, kind_of
from lookstruct.extractors.options import FetchOptions
from lookstruct.schemas.document import Page
from lookstruct.schemas.errors import EmptyPage, HTTPStatusError, PageTooLarge


@dataclass
class OtherInput(Exception):
    """The browser was led to a `kind` of input that it cannot show; `headers` are what it would have sent."""

    url: str
    kind: Kind
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


async def download(
    other: OtherInput, asked: str, options: FetchOptions, ticket: Ticket, cache: HttpCache | None = None
) -> Page:
    """The input as a page; raises one of the `FetchError`s. `asked` is the URL that led to it."""
    began = time.monotonic()
    limits: dict[str, Any] = {"max_bytes": options.max_bytes, "timeout_s": options.timeout_s}
    answer = await get(ticket, other.url, headers=other.headers, cache=cache, **limits)
    if answer.status >= 400:
        raise HTTPStatusError(f"{other.url} answered {answer.status} when asked again: try again", answer.status)
    if answer.is_cut:
        raise PageTooLarge(
            f"{other.url} is larger than {options.max_bytes / 1e6:g} MB: raise max_bytes if you want all of it"
        )
    content_type = answer.headers.get("content-type")
    kind = kind_of(answer.url, answer.body, content_type)
    if kind is None:
        raise not_a_page(other.url, (content_type or "an unknown type").split(";")[0])
    read = await asyncio.to_thread(convert, kind, answer.body, other.url)
    if not read.html.strip():
        raise EmptyPage(f"{other.url} is empty: expected {kind.title} with some text")
    return Page(
        url=asked,
        final_url=read.base_url or answer.url,
        html=read.html,
        status=answer.status,
        headers=dict(answer.headers),
        fetch_s=time.monotonic() - began,
        notes=read.notes,
    )


def basic_auth(credentials: str | None) -> dict[str, str]:
    """The header for `user:password`, if there are any.

    >>> basic_auth("a:b"), basic_auth(None)
    ({'Authorization': 'Basic YTpi'}, {})
    """
    return {"Authorization": f"Basic {b64encode(credentials.encode()).decode()}"} if credentials else {}
