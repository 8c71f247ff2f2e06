"""What fetching costs beside plain Playwright, on the same pages, in one run, with the same Chromium.

    python -m bench.fetching --rounds 7

Plain: a context, a page, `goto`, the wait, `content()`, close. Ours: `Fetcher.fetch`, with its guard and loopback
proxy, its checks, and the snapshot with all that CSS says about visibility. Both load the same: everything, or all but
images, fonts and media, which plain Playwright refuses by `route` as its guide shows. Both wait alike: `load` against
`load`, and `networkidle` against `settled`, which are the two ways of waiting for what scripts bring.

The arms take turns page by page; an arm's figure on a page is the median of its rounds, its overhead the ratio of the
sums. Beside the time stands the CPU time of this process, Playwright's driver and all of Chromium, which other work on
the machine blurs less.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import psutil
from aiohttp import web
from playwright.async_api import Browser, Route, async_playwright

from lookstruct.extractors.browser import launch
from lookstruct.extractors.fetch import Fetcher
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.processes import Family, family_of

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "examples" / "pages", ROOT / "tests" / "site")
LEFT_OUT = frozenset({"hung.html", "busy.html", "hop.html", "infinite.html", "whoami.html"})
"""Pages that never end, go elsewhere, or are there to be acted on."""

WAITS = {"load": "load", "networkidle": "settled"}
"""Playwright's wait, and ours that is meant for the same pages."""

REFUSED = frozenset({"image", "font", "media"})
LOADS: dict[str, frozenset[str]] = {"everything": frozenset(), "no images, fonts, media": REFUSED}

Fetch = Callable[[str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of fetching; `family` are the processes that work for it."""

    name: str
    fetch: Fetch
    family: Callable[[], Family]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one fetch: by the clock, and of CPU."""

    wall: float
    cpu: float


async def serve() -> tuple[web.AppRunner, list[str]]:
    """The pages on loopback; their URLs."""
    app = web.Application()
    for folder in FOLDERS:
        app.router.add_static(f"/{folder.name}/", folder)
    runner = web.AppRunner(app)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    pages = [path for folder in FOLDERS for path in sorted(folder.glob("*.html")) if path.name not in LEFT_OUT]
    return runner, [f"{base}/{path.parent.name}/{path.name}" for path in pages]


def plainly(browser: Browser, wait: str, refused: frozenset[str]) -> Fetch:
    """Playwright as its guide shows it."""

    async def gate(route: Route) -> None:
        await (route.abort() if route.request.resource_type in refused else route.continue_())

    async def fetch(url: str) -> str:
        context = await browser.new_context()
        try:
            page = await context.new_page()
            if refused:
                await page.route("**/*", gate)
            await page.goto(url, wait_until=wait)  # type: ignore[arg-type]
            return await page.content()
        finally:
            await context.close()

    return fetch


def ours(fetcher: Fetcher, wait: str, refused: frozenset[str]) -> Fetch:
    """`Fetcher.fetch`, without asking for robots.txt and without pauses, which are manners and no overhead."""
    options = FetchOptions.model_validate({"wait": wait, "ignore_robots": True, "delay_s": 0, "block": refused})
    return lambda url: fetcher.fetch(url, options)


def cpu_s(family: Family) -> float:
    """CPU seconds so far of a browser, of its children past and present, and of the driver that started it."""
    driver = family.head.parent() if family.head is not None else None
    own = sum(_seconds(process, with_ended=True) for process in family.members())
    return own + (_seconds(driver, with_ended=False) if driver is not None else 0.0)


def _seconds(process: psutil.Process, *, with_ended: bool) -> float:
    """A process's CPU seconds, those of its ended children too if wanted; zombies have theirs still."""
    with suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system + (times.children_user + times.children_system if with_ended else 0))
    return 0.0


async def cost(arm: Arm, url: str) -> Cost:
    """What one fetch costs."""
    others, own, began = cpu_s(arm.family()), process_time(), perf_counter()
    await arm.fetch(url)
    wall = perf_counter() - began
    return Cost(wall, process_time() - own + cpu_s(arm.family()) - others)


async def measure(arms: list[Arm], urls: list[str], n_rounds: int) -> dict[str, list[Cost]]:
    """Each arm's cost of each page: the medians of the rounds, after one that warms up."""
    costs: dict[str, list[list[Cost]]] = {arm.name: [[] for _ in urls] for arm in arms}
    for number in range(n_rounds + 1):
        for n, url in enumerate(urls):
            for arm in arms if number % 2 else reversed(arms):
                found = await cost(arm, url)
                if number:
                    costs[arm.name][n].append(found)
    return {name: [_median(rounds) for rounds in pages] for name, pages in costs.items()}


def _median(rounds: list[Cost]) -> Cost:
    return Cost(median(one.wall for one in rounds), median(one.cpu for one in rounds))


def table(found: dict[str, list[Cost]]) -> str:
    """The figures as Markdown."""
    kinds = "plain Playwright, ms a page | lookstruct, ms a page | overhead"
    lines = [f"| loads | wait | {kinds} | CPU: {kinds} |", "|---|---|---|---|---|---|---|---|"]
    for load in LOADS:
        for plain_wait, our_wait in WAITS.items():
            said = plain_wait if plain_wait == our_wait else f"{plain_wait} / {our_wait}"
            plain, mine = found[f"plain {load} {plain_wait}"], found[f"ours {load} {our_wait}"]
            cells = [cell for unit in ("wall", "cpu") for cell in _cells(plain, mine, unit)]
            lines.append(f"| {load} | {said} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cells(plain: list[Cost], mine: list[Cost], unit: str) -> Iterator[str]:
    first, second = (sum(getattr(one, unit) for one in costs) for costs in (plain, mine))
    yield f"{first / len(plain) * 1e3:.0f}"
    yield f"{second / len(mine) * 1e3:.0f}"
    yield f"{second / first - 1:+.0%}"


def arms_of(browser: Browser, family: Family, fetcher: Fetcher) -> list[Arm]:
    """Both ways with each wait and load, side by side."""
    return [
        arm
        for load, refused in LOADS.items()
        for plain_wait, our_wait in WAITS.items()
        for arm in (
            Arm(f"plain {load} {plain_wait}", plainly(browser, plain_wait, refused), lambda: family),
            Arm(f"ours {load} {our_wait}", ours(fetcher, our_wait, refused), lambda: _current(fetcher)),
        )
    ]


def _current(fetcher: Fetcher) -> Family:
    return next(iter(fetcher.families()), Family(None))


async def run(n_rounds: int, n_pages: int | None) -> str:
    """All arms on all pages, or on `n_pages` of them from both folders; the table."""
    runner, urls = await serve()
    if n_pages is not None:
        urls = [urls[n * len(urls) // n_pages] for n in range(n_pages)]
    mark = "--lookstruct-run=plain"
    with tempfile.TemporaryDirectory() as temporary:
        async with async_playwright() as playwright, Fetcher(FetchOptions()) as fetcher:
            browser = await launch(playwright, Path(temporary), mark=mark)
            found = await measure(arms_of(browser, family_of(mark), fetcher), urls, n_rounds)
            await browser.close()
    await runner.cleanup()
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    return f"{len(urls)} pages, {n_rounds} rounds, {machine}\n\n{table(found)}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pages", type=int, help="only so many, from both folders")
    asked = parser.parse_args()
    sys.stdout.write(asyncio.run(run(asked.rounds, asked.pages)) + "\n")


if __name__ == "__main__":
    main()
