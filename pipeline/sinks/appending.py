"""Adding pieces to a file so that each is in it once, even if an earlier attempt was killed half way."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from lookstruct.schemas.errors import StorageError


class Appender:
    """Adds pieces (lines, with their newlines) to a file; others may add lines of their own meanwhile.

    A position is the file's length. What stands behind a position that an earlier process committed is looked
    through for the pieces that it had added before it was killed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._own: str | None = None

    def start(self) -> str:
        """The position at the end of what is there."""
        self._own = str(self._path.stat().st_size if self._path.exists() else 0)
        return self._own

    def add(self, pieces: Sequence[bytes], position: str) -> str:
        """Adds the pieces and syncs the disk; the new position. StorageError leaves the file as long as it was."""
        try:
            if position != self._own:
                pieces = self._take_up(pieces, int(position or 0))
            self._own = str(self._append(b"".join(pieces)))
        except OSError as exc:
            raise StorageError(
                f"{self._path} cannot be written ({exc.strerror or exc}); see to it and go on: what was done is kept."
            ) from exc
        return self._own

    def _append(self, data: bytes) -> int:
        with self._path.open("a+b", buffering=0) as file, _alone(file):
            end = file.seek(0, os.SEEK_END)
            if data and end and _last_byte(self._path) != b"\n":
                data = b"\n" + data
            try:
                _write_all(file.fileno(), data)
                os.fsync(file.fileno())
            except OSError:
                _take_back(file, end, data)
                raise
            return file.seek(0, os.SEEK_END)

    def _take_up(self, pieces: Sequence[bytes], start: int) -> Sequence[bytes]:
        """The pieces that do not stand behind `start` yet; half a piece at the file's end is cut off."""
        if not self._path.exists():
            return pieces
        with self._path.open("r+b") as file, _alone(file):
            file.seek(start)
            tail = file.read()
            left, end = missing_pieces(tail, pieces)
            if end < len(tail):
                file.truncate(start + end)
        return left


def missing_pieces(tail: bytes, pieces: Sequence[bytes]) -> tuple[Sequence[bytes], int]:
    r"""The pieces that do not stand in `tail`, and where a torn one begins.

    They may stand there among other lines, and in another order: what was kept last need not be what was added last.

    >>> missing_pieces(b"a\nother\nb\nc", [b"a\n", b"b\n", b"cd\n"])
    ([b'cd\n'], 10)
    >>> missing_pieces(b"b\n", [b"a\n", b"b\n"])
    ([b'a\n'], 2)
    """
    left, at = list(pieces), 0
    while at < len(tail) and left:
        whole = next((piece for piece in left if tail.startswith(piece, at)), None)
        if whole is not None:
            left.remove(whole)
            at += len(whole)
        elif any(piece.startswith(tail[at:]) for piece in left):
            return left, at
        else:
            at = tail.find(b"\n", at) + 1 or len(tail)
    return left, len(tail)


@contextmanager
def _alone(file: IO[bytes]) -> Iterator[None]:
    """Other processes that add to the file wait meanwhile; the lock ends with the open file."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with suppress(OSError):  # some network file systems have no locks
        fcntl.flock(file, fcntl.LOCK_EX)
    yield


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _take_back(file: IO[bytes], end: int, data: bytes) -> None:
    """Cuts off what was written of `data`, unless somebody has added to it meanwhile."""
    file.seek(end)
    if data.startswith(file.read()):
        file.truncate(end)


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)
