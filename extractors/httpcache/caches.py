"""The caches that one run's options name, each opened once; where there can be none, the run goes on without."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lookstruct.extractors.httpcache.cache import HttpCache, Use
from lookstruct.extractors.httpcache.store import CacheUnusable, Storage, default_folder, open_storage
from lookstruct.extractors.options import FetchOptions

_LARGEST_PART = 4  # of a cache that one response may fill


class Caches:
    """Hands out the cache for some options; `close` at the end."""

    def __init__(self) -> None:
        self._open: dict[Path, Storage | CacheUnusable] = {}
        self._opening = asyncio.Lock()

    async def of(self, options: FetchOptions) -> HttpCache | None:
        """The cache, None where none is wanted or there can be none."""
        if options.cache in ("auto", "off"):
            return None
        storage = await self._storage(options)
        return None if isinstance(storage, CacheUnusable) else HttpCache(storage, Use(options.cache))

    async def _storage(self, options: FetchOptions) -> Storage | CacheUnusable:
        folder = _folder(options)
        async with self._opening:
            if folder not in self._open:
                try:
                    self._open[folder] = await open_storage(folder, options.cache_mb * 1_000_000, _LARGEST_PART)
                except CacheUnusable as exc:
                    self._open[folder] = exc
            return self._open[folder]

    def notes(self, options: FetchOptions) -> tuple[str, ...]:
        """Why there was no cache, if one was wanted."""
        found = self._open.get(_folder(options))
        return (f"pages were fetched without a cache: {found}",) if isinstance(found, CacheUnusable) else ()

    async def close(self) -> None:
        """Let go of the files."""
        for storage in self._open.values():
            if not isinstance(storage, CacheUnusable):
                await storage.close()
        self._open.clear()


def _folder(options: FetchOptions) -> Path:
    return options.cache_folder or default_folder()
