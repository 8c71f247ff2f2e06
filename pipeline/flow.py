"""Target + schema -> Record, the whole story in one event loop: fetch, clean, read."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from enum import Enum
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from lookstruct.extractors.clean import check_content, clean
from lookstruct.pipeline.readers import LoadReader, Readers

if TYPE_CHECKING:
    from lookstruct.decoding.request import Completion
    from lookstruct.extractors.options import FetchOptions
    from lookstruct.extractors.target import Target
    from lookstruct.pipeline.reader import Reader
    from lookstruct.schemas.document import Document, Page
    from lookstruct.schemas.loader import Schema
    from lookstruct.schemas.record import Record


class Stage(Enum):
    """What an extraction is busy with; the value is what a progress line says."""

    FETCH = "fetching the page"
    CLEAN = "cleaning the page"
    LOAD = "loading the model"
    READ = "reading the record"


@dataclass(frozen=True, slots=True)
class Watch:
    """Who wants to know how it goes: `stage` is told each stage, `text` the record's text as it is written.

    `completion` gets what the model wrote, before it is checked. All are called from background threads.
    """

    stage: Callable[[Stage], None] = lambda _: None
    text: Callable[[str], None] = lambda _: None
    completion: Callable[[Completion], None] = lambda _: None


class PageSource(Protocol):
    """What the flow asks of a fetcher; `extractors.Fetcher` is one."""

    async def fetch(self, target: Target | str, options: FetchOptions | None = None) -> Page:
        """The page that `target` names; `options` None takes the source's own."""
        ...


PageSourceContext = AbstractAsyncContextManager[PageSource]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A page that waits for the model: what it was, without its markup, and the document that was made of it."""

    page: Page
    document: Document
    clean_s: float


class Flow:
    """Fetches many pages at once and reads as many as there are readers; browser and models start at their first use.

    Lives in one event loop. A model is only ever touched by one thread of its own.
    """

    def __init__(self, open_source: Callable[[], PageSourceContext], loaders: Sequence[LoadReader]) -> None:
        self.n_readers = len(loaders)
        self._open_source = open_source
        self._readers = Readers(loaders)
        self._source: PageSource | None = None
        self._opening = asyncio.Lock()
        self._opened = AsyncExitStack()

    async def extract(
        self, target: Target | str, schema: Schema, watch: Watch, options: FetchOptions | None = None
    ) -> Record[Any]:
        """The record behind `target`."""
        return await self.record(await self.arrive(target, watch, options), schema, watch)

    async def arrive(self, target: Target | str, watch: Watch, options: FetchOptions | None = None) -> Arrival:
        """The page behind `target`, cleaned: all that can be done before the model has time for it."""
        watch.stage(Stage.FETCH)
        page = await self.fetch(target, options)
        watch.stage(Stage.CLEAN)
        start = perf_counter()
        document = await asyncio.to_thread(clean, page)
        check_content(document)
        return Arrival(replace(page, html="", screenshot=None), document, perf_counter() - start)

    async def record(self, arrival: Arrival, schema: Schema, watch: Watch) -> Record[Any]:
        """The record in a page that has arrived."""
        record = await self.read(arrival.document, schema, watch)
        return replace(record, meta=_meta(arrival.page, arrival.clean_s, record))

    async def fetch(self, target: Target | str, options: FetchOptions | None = None) -> Page:
        """The page behind `target`."""
        async with self._opening:
            if self._source is None:
                self._source = await self._opened.enter_async_context(self._open_source())
        return await self._source.fetch(target, options)

    async def read(self, document: Document, schema: Schema, watch: Watch) -> Record[Any]:
        """The record in a document, in a model's thread; cancelling this stops the model within one forward."""
        cancelled = threading.Event()

        def work(reader: Reader) -> Record[Any]:
            watch.stage(Stage.READ)
            return reader.read(
                document, schema, on_text=watch.text, on_completion=watch.completion, cancel=cancelled.is_set
            )

        try:
            return await self._readers.use(work, lambda: watch.stage(Stage.LOAD))
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def close(self) -> None:
        """Closes the browser."""
        await self._opened.aclose()
        self._source = None

    def end_models(self, *, wait: bool) -> None:
        """Lets go of the models and ends their threads; without `wait` a thread ends when its work does."""
        self._readers.close(wait=wait)


def _meta(page: Page, clean_s: float, record: Record[Any]) -> dict[str, Any]:
    """What is known about the page, then what the record knows about itself."""
    return {
        "url": page.url,
        "final_url": page.final_url,
        "status": page.status,
        "fetch_s": round(page.fetch_s, 3),
        "clean_s": round(clean_s, 3),
        **record.meta,
        "notes": [*page.notes, *record.meta.get("notes", ())],
    }
