"""Which failures are worth another try, and when: as Retry-After says, else later each time, with jitter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from lookstruct.schemas.errors import FetchError, HTTPStatusError

T = TypeVar("T")

LONGEST_WAIT_S = 60.0
"""Who asks to be left alone for longer is not waited for."""

_backoff = wait_exponential_jitter(initial=1.0, max=30.0, jitter=1.0)


async def retried(work: Callable[[], Awaitable[T]], n_retries: int) -> T:
    """What `work` returns, after up to `n_retries` more tries; the last failure if none succeeds."""
    attempts = AsyncRetrying(
        stop=stop_after_attempt(n_retries + 1), wait=_wait, retry=retry_if_exception(is_worth_it), reraise=True
    )
    return await attempts(work)


def is_worth_it(error: BaseException) -> bool:
    """Whether the same may do in a while that one waits for."""
    if not isinstance(error, FetchError) or not error.is_transient:
        return False
    return not isinstance(error, HTTPStatusError) or (error.retry_after_s or 0.0) <= LONGEST_WAIT_S


def _wait(state: RetryCallState) -> float:
    """Seconds until the next try."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after_s if isinstance(error, HTTPStatusError) else None
    return max(asked or 0.0, _backoff(state)) if asked else _backoff(state)


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or a date; None for none or a faulty one.

    >>> retry_after("120"), retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), retry_after("soon")
    (120.0, 0.0, None)
    """
    text = (header or "").strip()
    if text.isdecimal():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max((at - (now or datetime.now(UTC))).total_seconds(), 0.0)
