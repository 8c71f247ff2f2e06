"""A server whose pages carry the headers they are told to, and that answers 304 where a condition holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

BODY = b"<p>Tea 3.50"


@dataclass
class Press:
    """`seen` has path and status of each answer."""

    base: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = BODY
    seen: list[tuple[str, int]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        """304 where the condition holds, else the page; with ?to= the way to another."""
        if "to" in request.query:
            self.seen.append((request.path, 302))
            raise web.HTTPFound(request.query["to"])
        tag = self.headers.get("ETag")
        status = 304 if tag is not None and request.headers.get("If-None-Match") == tag else 200
        self.seen.append((request.path, status))
        kind = {"Content-Type": "text/html"} if status == 200 else {}
        return web.Response(body=self.body if status == 200 else b"", status=status, headers={**self.headers, **kind})


@asynccontextmanager
async def serving() -> AsyncIterator[Press]:
    """The server while it is up."""
    press = Press()
    app = web.Application()

    async def answered(request: web.Request) -> web.Response:
        return await press.answer(request)  # whatever that is by now

    app.router.add_get("/{path:.*}", answered)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    press.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield press
    finally:
        await runner.cleanup()
