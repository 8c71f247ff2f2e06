"""Hundreds of pages through one `Fetcher`, some faulty: is each read or reported, and does anything stay behind?

    python -m bench.soak                  500 pages, one in twenty faulty; a report, and 1 if it falls short
    python -m bench.soak --pages 60

The site is our own, on loopback. Its faults take turns: hang (no answer), crash (the page's process is killed, every
third time the whole browser), reset, 500, and drip (an answer without end). Memory is what this process and all its
browsers hold, taken after each page; "flat" compares the medians of the first 50 pages after page 50 and the last 50.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import psutil
from aiohttp import web

from lookstruct.extractors import Fetcher, FetchOptions
from lookstruct.extractors.clean import clean
from lookstruct.extractors.processes import Family
from lookstruct.schemas.errors import FetchError

FAULTS = ("hang", "crash", "reset", "500", "drip")
WARM_UP = 50
MOST_GROWTH = 1.15
PAGE = """<!doctype html><title>Item {n}</title><nav><a href=/page/1>Home</a></nav><h1>Item {n}</h1>
<p id=price><table><tr><th>Part<th>Price{rows}</table>
<script>fetch("/price/{n}").then(r => r.text()).then(t => {{ price.textContent = "Price: " + t + " EUR" }})</script>"""
ROWS = "".join(f"<tr><td>part {i}<td>{i}.50" for i in range(200))


@dataclass
class Report:
    """What came of it; `other` counts failures of pages that had no fault, `silent` faulty pages that were read."""

    pages: int
    read: int = 0
    reported: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    other: Counter[str] = field(default_factory=Counter)
    recovered: int = 0
    first_mb: float = 0.0
    last_mb: float = 0.0
    left_processes: list[str] = field(default_factory=list)
    left_files: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def growth(self) -> float:
        """Memory at the end over memory after the warm-up."""
        return self.last_mb / self.first_mb if self.first_mb else 1.0

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}  # asdict would take counters apart
        return {**own, "growth": round(self.growth, 3), "shortfalls": self.shortfalls}

    @property
    def shortfalls(self) -> list[str]:
        """What is not as it should be."""
        accounted = self.read + self.reported.total() + self.other.total()
        found = [f"wrong text: {url}" for url in self.wrong]
        found += [f"left behind: {name}" for name in [*self.left_processes, *self.left_files]]
        if accounted != self.pages:
            found.append(f"{self.pages - accounted} pages unaccounted for")
        if self.other:
            found.append(f"sound pages that failed: {dict(self.other)}")
        if self.growth > MOST_GROWTH:
            found.append(f"memory grew to {self.growth:.2f} of what it was")
        return found


class Site:
    """The site; a page is faulty at its first visit, and `crash` at no other."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.families: list[Family] = []
        self._n_crashes = 0
        self._crashed: set[int] = set()

    def fault(self, n: int) -> str | None:
        """What is wrong with page `n`."""
        return FAULTS[n // self.every % len(FAULTS)] if n % self.every == self.every - 1 else None

    async def page(self, request: web.Request) -> web.StreamResponse:
        """A page, or its fault."""
        n = int(request.match_info["n"])
        match self.fault(n):
            case "hang":
                await asyncio.sleep(3600)
            case "reset":
                assert request.transport is not None
                request.transport.abort()
            case "500":
                return web.Response(status=500, text="no")
            case "drip":
                return await _drip(request)
            case "crash" if n not in self._crashed:
                self._crashed.add(n)
                self._crash()
                await asyncio.sleep(3600)
        return web.Response(text=PAGE.format(n=n, rows=ROWS), content_type="text/html")

    def _crash(self) -> None:
        """Kill a page's process, every third time the browser."""
        self._n_crashes += 1
        for family in self.families:
            victim = family.head if self._n_crashes % 3 == 0 else family.largest_page()
            if victim is not None:
                victim.kill()

    async def price(self, request: web.Request) -> web.Response:
        """What the page's script asks for."""
        return web.Response(text=f"{request.match_info['n']}.90")


async def _drip(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    await response.prepare(request)
    while True:
        await response.write(b"<p>drop</p>")
        await asyncio.sleep(0.2)


@asynccontextmanager
async def served(site: Site) -> AsyncIterator[str]:
    """The site's address while it is up."""
    app = web.Application()
    app.router.add_get("/page/{n}", site.page)
    app.router.add_get("/price/{n}", site.price)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def soak(n_pages: int, *, at_once: int = 4, every: int = 20, timeout_s: float = 30.0) -> Report:
    """Read `n_pages` pages, every `every`-th of them faulty."""
    report, site, memory = Report(n_pages), Site(every), [0.0] * 0
    began = time.monotonic()
    options = FetchOptions(timeout_s=timeout_s, retries=0)
    with tempfile.TemporaryDirectory(prefix="soak", dir="/tmp") as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        numbers = iter(range(n_pages))
        async with served(site) as base, Fetcher(options, max_pages=at_once) as fetcher:

            async def work() -> None:
                for n in numbers:
                    site.families[:] = fetcher.families()
                    await _one(fetcher, site, f"{base}/page/{n}", n, report)
                    memory.append(_memory(fetcher))

            await asyncio.gather(*(work() for _ in range(at_once)))
        report.left_files = [path.name for path in Path(folder).iterdir()]
    report.left_processes = _children()
    if len(memory) >= 3 * WARM_UP:
        report.first_mb = statistics.median(memory[WARM_UP : 2 * WARM_UP])
        report.last_mb = statistics.median(memory[-WARM_UP:])
    report.seconds = time.monotonic() - began
    return report


async def _one(fetcher: Fetcher, site: Site, url: str, n: int, report: Report) -> None:
    fault = site.fault(n)
    try:
        text = clean(await fetcher.fetch(url)).text
    except FetchError as exc:
        (report.reported if fault else report.other)[f"{fault or 'sound'}: {type(exc).__name__}"] += 1
        return
    report.read += 1
    report.recovered += fault is not None
    if f"Item {n}" not in text or f"Price: {n}.90 EUR" not in text:
        report.wrong.append(url)


def _memory(fetcher: Fetcher) -> float:
    """Megabytes that this process and its browsers hold."""
    own = psutil.Process().memory_info().rss
    return (own + sum(family.memory() for family in fetcher.families())) / 1e6


def _children() -> list[str]:
    """Processes below this one that are still there, zombies too."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            found.append(f"{child.name()} ({child.status()})")
        except psutil.NoSuchProcess:
            continue
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Soak the fetcher.")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=4)
    report = asyncio.run(soak(parser.parse_args().pages, at_once=parser.parse_args().at_once))
    sys.stdout.write(json.dumps(report.to_json(), indent=2) + "\n")
    sys.exit(1 if report.shortfalls else 0)


if __name__ == "__main__":
    main()
