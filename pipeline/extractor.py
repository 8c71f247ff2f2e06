"""The pipeline as an object: browser and model stay warm, calls come from any thread, loop or notebook.

>>> with Extractor() as extractor:  # doctest: +SKIP
...     record = extractor.extract("https://example.com/invoices/7", "Invoice")
>>> record.data["totalPaymentDue"]  # doctest: +SKIP
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack, overload

from lookstruct.extractors.decode import decode
from lookstruct.extractors.target import Target, resolve_target
from lookstruct.pipeline.config import load_settings
from lookstruct.pipeline.devices import devices_of, on_device
from lookstruct.pipeline.flow import Flow, PageSourceContext, Watch
from lookstruct.pipeline.loop import LoopThread
from lookstruct.pipeline.readers import LoadReader, shared
from lookstruct.pipeline.settings import ModelSettings, Settings
from lookstruct.schemas.loader import load_schema
from lookstruct.schemas.record import Record

if TYPE_CHECKING:
    from lookstruct.extractors.options import FetchOptions
    from lookstruct.pipeline.learning.memory import Memory
    from lookstruct.pipeline.reader import Reader

T = TypeVar("T")
SILENT = Watch()


class Call(TypedDict, total=False):
    """What may be said about one call: who watches it, and how to fetch, if not as the settings say."""

    watch: Watch
    fetch: FetchOptions | None


class Extractor:
    """Extracts records; several threads and tasks may call at once, the model runs one at a time.

    `settings` None reads lookstruct.toml and the environment as the command line does; `model`, `device` and `dtype`
    win over them. Browser and model start at their first use and stay until `close`, which leaves no thread and no
    process; `with` and `async with` close by themselves. The synchronous methods work inside a running event loop
    too, which they block. `open_source` and `load_reader` replace the browser and the model.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        device: str | None = None,
        dtype: str | None = None,
        settings: Settings | None = None,
        open_source: Callable[[], PageSourceContext] | None = None,
        load_reader: Callable[[], Reader] | None = None,
    ) -> None:
        self.settings = _settings(settings, {"name": model, "device": device, "dtype": dtype})
        _check_names(self.settings)
        self._flow = Flow(
            open_source or partial(_open_browser, self.settings),
            [load_reader] if load_reader else _loaders(self.settings),
        )
        self._loop = LoopThread()
        self._finalizer = weakref.finalize(self, _close, self._loop, self._flow)

    @overload
    def extract(self, target: Target | str, schema: type[T], **options: Unpack[Call]) -> Record[T]: ...
    @overload
    def extract(self, target: Target | str, schema: Any, **options: Unpack[Call]) -> Record[Any]: ...
    def extract(self, target: Target | str, schema: Any, **options: Unpack[Call]) -> Record[Any]:
        """The record behind `target`, a URL or a file. `schema` is whatever `load_schema` takes.

        Raises SchemaError and TargetError before any work; FetchError, ModelError and InvalidRecord during it.
        """
        return self._loop.run(self._extraction(target, schema, **options))

    @overload
    async def aextract(self, target: Target | str, schema: type[T], **options: Unpack[Call]) -> Record[T]: ...
    @overload
    async def aextract(self, target: Target | str, schema: Any, **options: Unpack[Call]) -> Record[Any]: ...
    async def aextract(self, target: Target | str, schema: Any, **options: Unpack[Call]) -> Record[Any]:
        """`extract` for async callers; cancelling it stops the work."""
        return await self._loop.arun(self._extraction(target, schema, **options))

    def extract_html(
        self, html: str | bytes, schema: Any, *, url: str | None = None, watch: Watch = SILENT
    ) -> Record[Any]:
        """The record in HTML that is here already; `url` is what relative links refer to. No browser runs."""
        return self.extract(_given(html), schema, fetch=self._fetch_given(url), watch=watch)

    async def aextract_html(
        self, html: str | bytes, schema: Any, *, url: str | None = None, watch: Watch = SILENT
    ) -> Record[Any]:
        """`extract_html` for async callers."""
        return await self.aextract(_given(html), schema, fetch=self._fetch_given(url), watch=watch)

    def _extraction(
        self, target: Target | str, schema: Any, watch: Watch = SILENT, fetch: FetchOptions | None = None
    ) -> Coroutine[Any, Any, Record[Any]]:
        chosen = load_schema(schema, lenient=self.settings.schemas.lenient)
        resolved = resolve_target(target) if isinstance(target, str) else target
        return self._flow.extract(resolved, chosen, watch, fetch)

    def _fetch_given(self, url: str | None) -> FetchOptions:
        return self.settings.fetch.model_copy(update={"render": False, "base_url": url})

    def run(self, work: Callable[[Flow], Coroutine[Any, Any, T]]) -> T:
        """Runs `work` in this extractor's event loop, with its browser and its model: for many pages at once."""
        return self._loop.run(work(self._flow))

    def close(self, *, wait: bool = True) -> None:
        """Stops what still runs, closes the browser and lets go of the model; a second call does nothing.

        Without `wait`, a model that is just being loaded is left to end in the background.
        """
        if self._finalizer.detach() is not None:
            _close(self._loop, self._flow, wait=wait)

    async def aclose(self) -> None:
        """`close` for async callers."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(wait=kind not in (KeyboardInterrupt, SystemExit))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def extract(target: str, schema: Any, **options: Any) -> Record[Any]:
    """One record from one page: `Extractor(**options).extract(target, schema)`, and everything closed again."""
    with Extractor(**options) as extractor:
        return extractor.extract(target, schema)


def extract_html(html: str | bytes, schema: Any, *, url: str = "", **options: Any) -> Record[Any]:
    """One record from HTML that is here already; see `Extractor.extract_html`."""
    with Extractor(**options) as extractor:
        return extractor.extract_html(html, schema, url=url)


def _settings(settings: Settings | None, model: Mapping[str, str | None]) -> Settings:
    """The settings with what was given for the model put over them."""
    given = {name: value for name, value in model.items() if value is not None}
    if settings is None:
        return load_settings(flags={"model": given} if given else {})
    return settings.model_copy(update={"model": ModelSettings(**{**settings.model.model_dump(), **given})})


def _check_names(settings: Settings) -> None:
    """UsageError for a draft source, a profile or a server that cannot be: now, not after the page was fetched."""
    if settings.engine.engine == "openai":
        from lookstruct.pipeline.remote.loading import check_server

        check_server(settings)
    if settings.model.profile != "auto":
        from lookstruct.pipeline.profiles import check_profile

        check_profile(settings.model.profile)
    if settings.decode.sources:
        from lookstruct.decoding.sources import find_source

        for name in settings.decode.sources:
            find_source(name)


def _open_browser(settings: Settings) -> PageSourceContext:
    from lookstruct.extractors.fetch import Fetcher

    return Fetcher(settings.fetch, max_pages=settings.batch.concurrency)


def _loaders(settings: Settings) -> list[LoadReader]:
    """One for each page that is read at once: a server takes several, a device one."""
    if settings.engine.engine == "openai":
        return [shared(partial(_load_reader, settings))] * settings.engine.requests
    return [partial(_load_reader, on_device(settings, device)) for device in devices_of(settings)]


def _load_reader(settings: Settings) -> Reader:
    if settings.engine.engine == "openai":
        from lookstruct.pipeline.remote.loading import remote_reader

        return remote_reader(settings)
    return _load_local(settings)


def _load_local(settings: Settings) -> Reader:
    from lookstruct.decoding.certificate import certify
    from lookstruct.decoding.engine import Engine
    from lookstruct.decoding.loading import load_model
    from lookstruct.pipeline.profiles import choose_profile
    from lookstruct.pipeline.reader import Reader

    wanted = settings.model
    loaded = load_model(
        wanted.name,
        device=wanted.device,
        dtype=wanted.dtype,
        attn_implementation=wanted.attn_implementation,
        trust_remote_code=wanted.trust_remote_code,
    )
    linear = None if wanted.linear == "auto" else wanted.linear
    engine = Engine(loaded.model, loaded.tokenizer, eos_ids=loaded.eos_ids, linear=linear)
    if settings.decode.draft_model is not None:
        small = load_model(settings.decode.draft_model, device=wanted.device, dtype=wanted.dtype)
        engine.assist(small.model, small.tokenizer)
    verify = settings.decode.verify and engine.can_draft
    plain = () if verify or not settings.decode.verify else ("This model decodes plainly: there is nothing to verify.",)
    return Reader(
        engine,
        loaded.tokenizer,
        profile=choose_profile(wanted.profile, wanted.name),
        options=settings.decode.options(),
        max_page_tokens=settings.prompt.max_page_tokens,
        max_chunks=settings.prompt.max_chunks,
        free=settings.schemas.free,
        metadata=settings.prompt.metadata,
        certify=partial(certify, engine) if verify else None,
        memory=_memory(settings, loaded.name, loaded.tokenizer),
        meta={
            "model": loaded.name,
            "device": str(loaded.device),
            "dtype": str(loaded.dtype).removeprefix("torch."),
            "model_notes": [*loaded.notes, *plain],
        },
    )


def _memory(settings: Settings, model: str, tokenizer: Any) -> Memory | None:
    """What earlier pages taught, where that is wanted."""
    from lookstruct.decoding.modelcache import cache_root
    from lookstruct.pipeline.learning.memory import Memory, version_of

    wanted = settings.memory
    if wanted.use != "on":
        return None
    path = wanted.path or cache_root() / "memory.db"
    return Memory(path, version_of(model, tokenizer), most_records=wanted.most_records)


def _given(html: str | bytes) -> Target:
    return Target.html(html if isinstance(html, str) else decode(html).text)


def _close(loop: LoopThread, flow: Flow, *, wait: bool = True) -> None:
    loop.close(flow.close(), wait=wait)
    flow.end_models(wait=wait)
