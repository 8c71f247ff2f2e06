"""A tab in a context of its own: no cookies but those given, nothing permitted, closed whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from playwright.async_api import Browser, BrowserContext
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as Tab

from lookstruct.extractors.identity import credentials_for, read_storage
from lookstruct.extractors.job import Job, Means
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.patience import patiently
from lookstruct.schemas.errors import BrowserLost

_CLOSE_S = 5.0


@asynccontextmanager
async def open_tab(browser: Browser, job: Job, options: FetchOptions, means: Means) -> AsyncIterator[Tab]:
    """The tab for a job. Raises `BrowserLost` where the browser gives none."""
    settings = {"proxy": means.ticket.settings, **_settings(job, options, means.device)}
    context: BrowserContext | None = None
    try:
        try:
            async with asyncio.timeout(options.timeout_s):
                context = await browser.new_context(**settings)
                tab = await context.new_page()
        except (PlaywrightError, TimeoutError) as exc:
            raise BrowserLost(f"{job.name} was not tried because the browser stopped answering: try again") from exc
        context.on("page", _close_popup)
        yield tab
    finally:
        if context is not None:
            await _close(context)


def _settings(job: Job, options: FetchOptions, device: Mapping[str, Any]) -> dict[str, Any]:
    width, height = options.viewport
    window = (
        {}
        if "viewport" in device and "viewport" not in options.model_fields_set
        else {"width": width, "height": height}
    )
    agent = {} if options.user_agent is None else {"user_agent": options.user_agent}
    return {
        **device,
        **({"viewport": window} if window else {}),
        **agent,
        "locale": options.locale,
        "timezone_id": options.timezone,
        "http_credentials": credentials_for(job.url, job.credentials or options.http_auth),
        "storage_state": read_storage(options.storage_state) if options.storage_state else None,
        "accept_downloads": False,
        "permissions": [],  # none is granted, none is asked for
        "service_workers": "block",
        "reduced_motion": "reduce",  # what would fade in is there at once
        "color_scheme": "light",
    }


async def _close_popup(popup: Tab) -> None:
    """A page has one tab; what it opens besides is nothing that a person asked for."""
    with suppress(PlaywrightError):
        await popup.close()


async def _close(context: BrowserContext) -> None:
    """Close even while being cancelled; a browser that does not answer is left to its owner."""
    await patiently(context.close(), _CLOSE_S)
