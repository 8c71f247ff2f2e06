"""Waiting for an end that may never come."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from playwright.async_api import Error as PlaywrightError


async def patiently(closing: Coroutine[Any, Any, Any], seconds: float) -> None:
    """Wait so long for `closing` to end, whatever it says; cancelling the caller does not stop it."""
    task = asyncio.ensure_future(closing)
    task.add_done_callback(_hear)
    with suppress(PlaywrightError, TimeoutError):
        await asyncio.wait_for(asyncio.shield(task), seconds)


def _hear(task: asyncio.Task[Any]) -> None:
    """Take note of a late failure, so that nobody complains that it went unheard."""
    if not task.cancelled():
        task.exception()
