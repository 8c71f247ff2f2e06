"""The head of an HTTP/1.1 request or answer: bytes <-> `Head`."""

from __future__ import annotations

from asyncio import StreamReader
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

LONGEST = 256 * 1024
"""The longest head, in bytes."""


class HeadError(Exception):
    """What came is no HTTP/1.1 head."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first line and the headers, in their order."""

    first: str
    headers: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str | None:
        """The first header of this name."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    @property
    def status(self) -> int:
        """An answer's status."""
        parts = self.first.split(" ", 2)
        if len(parts) < 2 or not parts[0].startswith("HTTP/") or not parts[1].isdecimal():
            raise HeadError(f"no status line: {self.first!r}")
        return int(parts[1])

    def closing(self, extra: Iterable[tuple[str, str]] = ()) -> Head:
        """The same for the next stretch: what was between neighbours is gone, and the connection ends with it."""
        named = {token.strip().lower() for token in (self.get("connection") or "").split(",")}
        kept = [(k, v) for k, v in self.headers if not _is_between_neighbours(k.lower(), named)]
        return replace(self, headers=(*kept, *extra, ("Connection", "close")))

    def __bytes__(self) -> bytes:
        lines = [self.first, *(f"{name}: {value}" for name, value in self.headers), "", ""]
        return "\r\n".join(lines).encode("latin-1")


def _is_between_neighbours(name: str, named: set[str]) -> bool:
    return name in ("connection", "keep-alive", "upgrade") or name.startswith("proxy-") or name in named


async def read_head(reader: StreamReader) -> Head:
    """The next head. Raises `EOFError` where there is none, `HeadError` for what is none or too long."""
    lines: list[bytes] = []
    size = 0
    while (line := await _line(reader)) != b"":
        lines.append(line)
        size += len(line)
        if size > LONGEST:
            raise HeadError("the head is too long")
    return parse_head(lines)


async def _line(reader: StreamReader) -> bytes:
    try:
        line = await reader.readline()
    except ValueError as exc:
        raise HeadError("a line is too long") from exc
    if not line.endswith(b"\n"):
        raise EOFError
    return line.removesuffix(b"\n").removesuffix(b"\r")


def parse_head(lines: Sequence[bytes]) -> Head:
    """The head in its lines; a line that begins with a blank goes on where the one before ended.

    >>> parse_head([b"GET / HTTP/1.1", b"Host: a.example"])
    Head(first='GET / HTTP/1.1', headers=(('Host', 'a.example'),))
    """
    headers: list[tuple[str, str]] = []
    for line in lines[1:]:
        text = line.decode("latin-1")
        name, colon, value = text.partition(":")
        if text[:1] in " \t" and headers:
            headers[-1] = (headers[-1][0], f"{headers[-1][1]} {text.strip()}")
        elif not colon or not name or name != name.strip() or "\r" in text:
            raise HeadError(f"no header: {text[:80]!r}")
        else:
            headers.append((name, value.strip()))
    return Head(lines[0].decode("latin-1") if lines else "", tuple(headers))
