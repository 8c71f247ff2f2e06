"""What fetching costs beside plain Playwright, on the same pages, in one run, with the same Chromium.

    python -m bench.fetching --rounds 7

Plain: a context, a page, `goto`, the wait, `content()`, close. Ours: `Fetcher.fetch`, with its guard and loopback
proxy, its checks, and the snapshot with all that CSS says about visibility. Both wait alike: `load` against `load`, and
`networkidle` against `settled`, which are the two ways of waiting for what scripts bring. The arms take turns page by
page; an arm's time on a page is the median of its rounds, its overhead the ratio of the sums.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from aiohttp import web
from playwright.async_api import Browser, async_playwright

from lookstruct.extractors.browser import launch
from lookstruct.extractors.fetch import Fetcher
from lookstruct.extractors.options import FetchOptions

PAGES = Path(__file__).resolve().parent.parent / "examples" / "pages"
WAITS = {"load": "load", "networkidle": "settled"}
"""Playwright's wait, and ours that is meant for the same pages."""

Fetch = Callable[[str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of fetching."""

    name: str
    fetch: Fetch


async def serve() -> tuple[web.AppRunner, str]:
    """The example pages on loopback."""
    app = web.Application()
    app.router.add_static("/", PAGES)
    runner = web.AppRunner(app)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"


def plainly(browser: Browser, wait: str) -> Fetch:
    """Playwright as its guide shows it."""

    async def fetch(url: str) -> str:
        context = await browser.new_context()
        try:
            page = await context.new_page()
            await page.goto(url, wait_until=wait)  # type: ignore[arg-type]
            return await page.content()
        finally:
            await context.close()

    return fetch


def ours(fetcher: Fetcher, wait: str) -> Fetch:
    """`Fetcher.fetch`, without asking for robots.txt and without pauses, which are manners and no overhead."""
    options = FetchOptions.model_validate({"wait": wait, "ignore_robots": True, "delay_s": 0})
    return lambda url: fetcher.fetch(url, options)


async def measure(arms: list[Arm], urls: list[str], n_rounds: int) -> dict[str, list[float]]:
    """Seconds of each arm on each page: the median of the rounds, after one that warms up."""
    times: dict[str, list[list[float]]] = {arm.name: [[] for _ in urls] for arm in arms}
    for number in range(n_rounds + 1):
        for n, url in enumerate(urls):
            for arm in arms if number % 2 else reversed(arms):
                began = perf_counter()
                await arm.fetch(url)
                if number:
                    times[arm.name][n].append(perf_counter() - began)
    return {name: [median(rounds) for rounds in pages] for name, pages in times.items()}


def table(found: dict[str, list[float]], n_pages: int) -> str:
    """The figures as Markdown."""
    lines = ["| wait | plain Playwright, ms a page | lookstruct, ms a page | overhead |", "|---|---|---|---|"]
    for plain_wait, our_wait in WAITS.items():
        plain, mine = (sum(found[f"{who} {wait}"]) for who, wait in (("plain", plain_wait), ("ours", our_wait)))
        said = plain_wait if plain_wait == our_wait else f"{plain_wait} / {our_wait}"
        lines.append(f"| {said} | {plain / n_pages * 1e3:.0f} | {mine / n_pages * 1e3:.0f} | {mine / plain - 1:+.0%} |")
    return "\n".join(lines)


async def run(n_rounds: int, n_pages: int | None) -> str:
    """All arms on the first `n_pages` pages, or all; the table."""
    runner, base = await serve()
    urls = [f"{base}/{path.name}" for path in sorted(PAGES.glob("*.html"))[:n_pages]]
    with tempfile.TemporaryDirectory() as temporary:
        async with async_playwright() as playwright, Fetcher(FetchOptions()) as fetcher:
            browser = await launch(playwright, Path(temporary))
            arms = [
                arm
                for plain_wait, our_wait in WAITS.items()
                for arm in (
                    Arm(f"plain {plain_wait}", plainly(browser, plain_wait)),
                    Arm(f"ours {our_wait}", ours(fetcher, our_wait)),
                )
            ]
            found = await measure(arms, urls, n_rounds)
            await browser.close()
    await runner.cleanup()
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    return f"{len(urls)} pages, {n_rounds} rounds, {machine}\n\n{table(found, len(urls))}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pages", type=int, help="only the first so many")
    asked = parser.parse_args()
    sys.stdout.write(asyncio.run(run(asked.rounds, asked.pages)) + "\n")


if __name__ == "__main__":
    main()
