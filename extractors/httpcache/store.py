"""The cache's file: opened, replaced where it is damaged, held to a size.

It is SQLite, in write-ahead mode: several processes may use it at once, and a kill in the middle of a write leaves what
was whole before. A file that is damaged none the less is replaced by an empty one: nothing in it is irreplaceable.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import platformdirs
from filelock import FileLock
from hishel import AsyncSqliteStorage

FILE_NAME = "http.db"
_LOCK_S = 60.0

logging.getLogger("hishel").addHandler(logging.NullHandler())  # a cache that fails is slow, and no news to a person


Storage = AsyncSqliteStorage


class CacheUnusable(Exception):
    """There can be no cache in this folder; the text is the reason."""


def default_folder() -> Path:
    """Where it is unless told: beside whatever else can be made again."""
    return Path(os.environ.get("LOOKSTRUCT_CACHE") or platformdirs.user_cache_dir("lookstruct", appauthor=False))


async def open_storage(folder: Path, max_bytes: int, largest_part: int = 4, *, protect_s: float = 180.0) -> Storage:
    """The cache in `folder`, which holds at most `max_bytes`; the least recently used go first.

    One response may fill a `largest_part`-th of it. What was used within `protect_s` stays, as someone may be reading
    it. Raises `CacheUnusable`.
    """
    path = folder / FILE_NAME
    try:
        await asyncio.to_thread(_prepare, path)
    except (OSError, sqlite3.Error) as exc:
        raise CacheUnusable(f"{folder} cannot be used ({exc})") from exc
    storage = AsyncSqliteStorage(
        database_path=path, max_size=max_bytes, max_stream_size=max_bytes // largest_part, soft_delete_ttl=protect_s
    )
    try:
        await storage.get_entries("")  # opens it
    except RuntimeError as exc:
        raise CacheUnusable(f"{folder} cannot be used ({exc})") from exc
    return storage


def _prepare(path: Path) -> None:
    """See to it that there is a sound file, or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock"), timeout=_LOCK_S):
        if not _is_sound(path):
            _remove(path)


def _is_sound(path: Path) -> bool:
    """Whether SQLite can read all of it; a file that is not there yet is sound. OSError where it may not be used."""
    with closing(sqlite3.connect(path, timeout=_LOCK_S)) as connection:
        try:
            connection.execute("CREATE TABLE IF NOT EXISTS sound (x)")  # whether it can be written, too
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
        except sqlite3.OperationalError as exc:
            raise OSError(str(exc)) from exc
        except sqlite3.DatabaseError:
            return False


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
