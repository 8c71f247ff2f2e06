"""What one visit is for, and what the run lends it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from lookstruct.extractors.egress.proxy import Ticket
from lookstruct.extractors.httpcache.cache import HttpCache

BLANK = "about:blank"
"""The URL of HTML that comes from nowhere."""

Turn = Callable[[str], AbstractAsyncContextManager[None]]
"""A turn at the host of a URL for one more page of the same visit; raises `BlockedByPolicy` where there is none."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to navigate to: `url`, or `body` shown under that URL; `name` is what messages call it.

    `is_offline` lets nothing be loaded besides.
    """

    url: str
    name: str
    body: str | None = None
    typed: str | None = None
    credentials: str | None = field(default=None, repr=False)
    is_offline: bool = False

    @property
    def is_local(self) -> bool:
        """Whether the page is a file, which may load other files."""
        return self.url.startswith("file:")


@asynccontextmanager
async def at_once(url: str) -> AsyncIterator[None]:
    """The turn of who need not wait."""
    del url
    yield


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Means:
    """What the run lends a visit.

    `ticket` lets it through the egress proxy, `device` are the context settings of the device that the browser is to
    pass for, `next_turn` is asked before each further page, `was_outgrown` tells after a crash whether the page was
    ended for the memory it took.
    """

    ticket: Ticket
    device: Mapping[str, Any] = field(default_factory=dict)
    cache: HttpCache | None = None
    next_turn: Turn = at_once
    was_outgrown: Callable[[], bool] = _never
