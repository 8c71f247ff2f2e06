"""What the tests of jobs share: records without a model, a reader of pages that does as it is told, a worker process.

As a program it is a worker that reads pages of its own making: `python jobs_bench.py DATABASE SECONDS_A_PAGE`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from lookstruct.pipeline.jobs.checking import job_sink
from lookstruct.pipeline.jobs.job import Job, make_job
from lookstruct.pipeline.jobs.running import Runner
from lookstruct.pipeline.jobs.store import JobStore
from lookstruct.pipeline.jobs.worker import Worker
from lookstruct.schemas.document import Span
from lookstruct.schemas.record import Evidence, EvidenceStatus, Record, Stats

START = datetime(2025, 6, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SCHEMA = "name: str, price: float?"


def job(name: str = "lamps", **given: Any) -> Job:
    return make_job({"name": name, "url": "https://shop.example/lamp", "schema": SCHEMA, "every": "1h", **given})


def record(data: Any, url: str = "https://shop.example/lamp", confidence: float = 0.9) -> Record[Any]:
    """A record whose every top-level value stands on the page."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    evidence = {
        f"/{key}": Evidence(EvidenceStatus.EXACT, Span(0, 1), str(value), "html > p", confidence)
        for key, value in items
        if value is not None
    }
    return Record(data, data, evidence, "", Stats(), url, {"final_url": url})


class Pages:
    """Reads pages: what each holds stands in `data` (an exception is raised), how long it takes in `delay_s`."""

    def __init__(self, **data: Any) -> None:
        self.data: dict[str, Any] = data
        self.default: Any = {"name": "Lamp", "price": 45.5}
        self.delay_s = 0.0
        self.read: list[str] = []

    async def __call__(self, job: Job, url: str) -> Record[Any]:
        del job
        self.read.append(url)
        await asyncio.sleep(self.delay_s)
        found = self.data.get(url, self.default)
        if isinstance(found, BaseException):
            raise found
        return record(found, url)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def worker(store: JobStore, pages: Any, clock: Callable[[], datetime] | None = None, **options: Any) -> Worker:
    timed = {} if clock is None else {"clock": clock}
    return Worker(store, Runner(store, pages, job_sink, **timed), **timed, **{"poll_s": 0.01, **options})


async def _serve(url: str, delay_s: float) -> None:
    pages = Pages()
    pages.delay_s = delay_s
    store = JobStore(url)
    try:
        await worker(store, pages, slots=3, lease=timedelta(seconds=0.6)).serve()
    finally:
        store.close()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], float(sys.argv[2])))
