"""A throw-away PostgreSQL server, where its programs are on the machine; `conftest.py` gives its fixtures to all tests.

`postgres` is one server for all tests, `postgres_url` an empty database on it. Tests that use them are skipped where
there is no `initdb`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

NOT_ROOT = ("postgres", "nobody")
"""PostgreSQL refuses to run as root; one of these runs it then."""


def _program(name: str) -> str | None:
    """A program on PATH, or in the folder where Debian hides it."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(places[-1]) if places else None)


def _user() -> str | None:
    """Whom to run the server as; None for ourselves."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in NOT_ROOT if name in names), None)


@dataclass(frozen=True)
class Server:
    """A server that listens on a socket in its own folder."""

    folder: Path
    user: str | None

    def url(self, database: str) -> str:
        """The URL of one of its databases."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def run(self, program: str, *arguments: str) -> None:
        """Runs one of PostgreSQL's programs as the server's user."""
        command = [str(_program(program)), *arguments]
        done = subprocess.run(
            command, user=self.user, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120
        )
        assert done.returncode == 0, done.stderr.decode()

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        options = f"-k {self.folder} -c listen_addresses= -c fsync=off -c max_connections=50"
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-o", options, "-w", "start")

    def stop(self) -> None:
        """Ends the server at once, as a crash would."""
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def sql(self, text: str) -> None:
        """Runs one statement."""
        self.run("psql", "-h", str(self.folder), "-U", "postgres", "-d", "postgres", "-q", "-c", text)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """The server, up and running."""
    pytest.importorskip("psycopg")
    if not all(map(_program, ("initdb", "pg_ctl", "postgres", "psql"))):
        pytest.skip("PostgreSQL's server programs are not on this machine")
    user = _user()
    if os.geteuid() == 0 and user is None:
        pytest.skip("PostgreSQL does not run as root, and there is no other user")
    folder = Path(tempfile.mkdtemp(prefix="lookstruct-pg-", dir="/tmp"))
    server = Server(folder, user)
    try:
        if user is not None:
            shutil.chown(folder, user)
        server.run(
            "initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"
        )
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres: Server) -> str:
    """An empty database of its own."""
    name = f"test_{uuid4().hex[:12]}"
    postgres.sql(f"CREATE DATABASE {name}")
    return postgres.url(name)
