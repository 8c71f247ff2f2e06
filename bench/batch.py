"""A batch of local pages with an engine that answers at once: does it go at the speed of the fetcher, in flat memory?

    python -m bench.batch --pages 1000 --concurrency 4          # through Chromium
    python -m bench.batch --pages 1000 --concurrency 4 --static # read from the disk, without a browser

The engine is a stand-in; everything else is what `extract batch` runs: fetching, cleaning, prompt and grammar of each
page, validation, evidence, ledger, a JSONL file. The fetcher alone takes half of the pages before the batch and half
after it, so that a machine whose speed drifts drifts for both.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import re
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import psutil

from bench.decoding import hardware
from lookstruct.decoding.request import Completion
from lookstruct.extractors.fetch import Fetcher
from lookstruct.extractors.options import FetchOptions
from lookstruct.pipeline.batch.running import Batch, Step
from lookstruct.pipeline.batch.start import begin
from lookstruct.pipeline.extractor import Extractor
from lookstruct.pipeline.reader import Reader
from lookstruct.pipeline.settings import Settings
from lookstruct.pipeline.storage.ledger import open_ledger
from lookstruct.pipeline.tinymodel import tiny_tokenizer
from lookstruct.schemas.record import Stats

TEMPLATE = Path(__file__).resolve().parent.parent / "examples" / "pages" / "product.html"
SCHEMA = "name: str, price: float"
NAME = re.compile(r"Number (\d+) of the range")
SAMPLE_EVERY = 5


@dataclass
class StubEngine:
    """Answers with what the page in the prompt is called, at once."""

    tokenizer: Any
    max_context: int = 100_000

    def generate(self, prompt_ids: Sequence[int], **_: Any) -> Completion:
        """The record of the page that the prompt shows."""
        found = NAME.search(self.tokenizer.decode(prompt_ids))
        assert found is not None, "the prompt does not show the page"
        text = json.dumps({"name": found[0], "price": int(found[1]) + 0.5})
        ids = self.tokenizer(text)["input_ids"]
        stats = Stats(prompt_tokens=len(prompt_ids), new_tokens=len(ids), forwards=1, finish_reason="eos")
        return Completion(text, ids, [0.0] * len(ids), "eos", stats)


@dataclass
class Memory:
    """Resident megabytes of this process after every so many pages."""

    samples: list[float] = field(default_factory=list)
    n_pages: int = 0

    def watch(self, step: Step) -> None:
        """One page was dealt with."""
        assert step.error is None, f"{step.page.target}: {step.error}"
        self.n_pages += 1
        if self.n_pages % SAMPLE_EVERY == 0:
            self.samples.append(psutil.Process().memory_info().rss / 1e6)

    def growth(self) -> tuple[float, float]:
        """The median of the second and of the last fifth, in MB: the first fifth warms up."""
        fifth = max(len(self.samples) // 5, 1)
        return statistics.median(self.samples[fifth : 2 * fifth]), statistics.median(self.samples[-fifth:])


def main(argv: Sequence[str] | None = None) -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--static", action="store_true", help="without a browser")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="lookstruct-bench-") as folder:
        paths = write_pages(Path(folder), args.pages)
        fetch = FetchOptions(render=False) if args.static else FetchOptions()
        half = len(paths) // 2
        alone_s = asyncio.run(fetch_alone(paths[:half], fetch, args.concurrency))
        memory = Memory()
        batch_s = run_batch(Path(folder), fetch, args.concurrency, memory)
        alone_s += asyncio.run(fetch_alone(paths[half:], fetch, args.concurrency))
    sys.stdout.write(report(args.pages, alone_s, batch_s, memory))


def write_pages(folder: Path, n_pages: int) -> list[str]:
    """So many product pages of the same kind, and their list."""
    markup = TEMPLATE.read_text(encoding="utf-8")
    paths = [folder / f"page{number:05}.html" for number in range(n_pages)]
    for number, path in enumerate(paths):
        heading = f"<h2>Number {number} of the range</h2><p>Only {number + 0.5} EUR.</p></main>"
        path.write_text(markup.replace("</main>", heading), encoding="utf-8")
    (folder / "list.txt").write_text("\n".join(map(str, paths)), encoding="utf-8")
    return list(map(str, paths))


async def fetch_alone(paths: Sequence[str], options: FetchOptions, concurrency: int) -> float:
    """Seconds that the fetcher takes for these pages, its browser warm."""
    async with Fetcher(options, max_pages=concurrency) as fetcher:
        await fetcher.fetch(paths[0])
        left = iter(paths)

        async def work() -> None:
            for path in left:
                await fetcher.fetch(path)

        start = perf_counter()
        await asyncio.gather(*(work() for _ in range(concurrency)))
        return perf_counter() - start


def run_batch(folder: Path, fetch: FetchOptions, concurrency: int, memory: Memory) -> float:
    """Seconds that a batch of the list takes, its browser warm."""
    settings = Settings.model_validate(
        {"fetch": fetch, "output": {"to": str(folder / "out.jsonl")}, "batch": {"concurrency": concurrency}}
    )
    tokenizer = tiny_tokenizer()
    ledger = open_ledger(f"sqlite:///{folder / 'ledger.db'}")
    with Extractor(settings=settings, load_reader=lambda: Reader(StubEngine(tokenizer), tokenizer)) as extractor:
        extractor.extract(str(folder / "page00000.html"), SCHEMA)
        started = begin(ledger, str(folder / "list.txt"), SCHEMA, settings, {})
        job = Batch(
            ledger,
            started.run,
            started.schema,
            started.sink,
            started.position,
            concurrency=concurrency,
            watch=memory.watch,
        )
        gc.collect()
        start = perf_counter()
        counts = extractor.run(job.work)
        seconds = perf_counter() - start
    ledger.close()
    lines = (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == counts.done == counts.total
    return seconds


def report(n_pages: int, alone_s: float, batch_s: float, memory: Memory) -> str:
    """The figures in three lines."""
    early, late = memory.growth()
    return (
        f"{hardware()}; {n_pages} pages\n"
        f"fetcher alone {alone_s:.1f} s ({n_pages / alone_s:.1f} pages/s), batch {batch_s:.1f} s "
        f"({n_pages / batch_s:.1f} pages/s): {batch_s / alone_s:.2f} times as long\n"
        f"memory of the process: {early:.0f} MB in the second fifth of the pages, {late:.0f} MB in the last\n"
    )


if __name__ == "__main__":
    main()
