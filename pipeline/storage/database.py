"""A database's URL -> SQLAlchemy `Engine`, with SQLite set up for several processes and errors in our own words.

sqlite:///relative.db    sqlite:////absolute.db    postgresql://user@host/name
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from lookstruct.schemas.errors import StorageError, UsageError

BUSY_S = 60
"""How long one process waits for another that writes to the same SQLite file."""
_DRIVERS = {"postgres": "postgresql+psycopg", "postgresql": "postgresql+psycopg"}


def database_url(text: str) -> URL:
    """The URL with the driver we use; UsageError if it is none of SQLite or PostgreSQL.

    >>> database_url("postgresql://me@db/shop").render_as_string()
    'postgresql+psycopg://me@db/shop'
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as exc:
        raise UsageError(f"{text!r} is no database URL; write sqlite:///file.db or postgresql://host/name.") from exc
    url = url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise UsageError(f"{url} is neither SQLite nor PostgreSQL; write sqlite:///file.db or postgresql://host/name.")
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise UsageError(f"{text!r} names no file; write sqlite:///file.db.")
    return url


def open_database(url: str | URL) -> Engine:
    """An engine that connects at its first use. Its SQLite connections wait for each other and survive power cuts."""
    chosen = database_url(url) if isinstance(url, str) else url
    is_sqlite = chosen.get_backend_name() == "sqlite"
    try:
        engine = create_engine(chosen, pool_pre_ping=not is_sqlite, connect_args=_connect_args(is_sqlite))
    except (NoSuchModuleError, ImportError) as exc:
        raise UsageError(
            f"{chosen.get_backend_name()} needs a package that is missing ({exc}); "
            "run pip install 'lookstruct[postgresql]'."
        ) from exc
    if is_sqlite:
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_immediate)
    return engine


def _connect_args(is_sqlite: bool) -> dict[str, Any]:
    return {"timeout": BUSY_S} if is_sqlite else {"connect_timeout": 10}


def _set_up_sqlite(connection: Any, _: Any) -> None:
    """A write-ahead log lets others read meanwhile; every commit is on the disk before the next step."""
    connection.isolation_level = None  # transactions begin where we say so, not where the driver guesses
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Any) -> None:
    """Takes the write lock at once: a transaction that reads first and then writes would fail instead of waiting."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def storage_errors(name: str) -> Iterator[None]:
    """Turns a failing database or disk into a StorageError that names it."""
    try:
        yield
    except (SQLAlchemyError, OSError) as exc:
        raise StorageError(f"{name} failed ({reason(exc)}); see to it and go on: what was done is kept.") from exc


def reason(exc: BaseException) -> str:
    """The first line of what the database or the system said.

    >>> reason(OSError(28, "No space left on device"))
    'No space left on device'
    """
    origin = getattr(exc, "orig", None) or exc
    text = getattr(origin, "strerror", None) or str(origin) or type(origin).__name__
    return str(text).strip().splitlines()[0]


def shown_url(url: URL) -> str:
    """The URL without its password, as messages name it."""
    return url.render_as_string(hide_password=True)


def sqlite_url(path: Path) -> URL:
    """The URL of a SQLite file."""
    return URL.create("sqlite", database=str(path))
