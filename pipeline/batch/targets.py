"""A list of URLs and files, a sitemap or a feed -> the pages of a run (`Listed`), each once."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from lookstruct.extractors.listing import looks_like_listing, urls_of
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.target import resolve_target
from lookstruct.pipeline.storage.run import PageRow
from lookstruct.schemas.errors import TargetError

MOST_SHOWN = 5
Line = tuple[int | None, str]
"""A target and the line that names it; no line in a sitemap."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The pages of a list, and how many more times it named one of them."""

    pages: tuple[PageRow, ...]
    n_duplicates: int


def read_list(source: str, options: FetchOptions | None = None) -> Listed:
    """The pages that a file, standard input for "-", or a sitemap's URL lists; TargetError names lines that are none.

    A plain list has a URL or a file a line; empty lines and those that begin with # are skipped. A sitemap or a feed
    may name URLs only.
    """
    if source.lower().startswith(("http://", "https://")):
        return _of_sitemap(_download(source, options or FetchOptions()), source, source)
    data, name = _read(source)
    if looks_like_listing(data):
        return _of_sitemap(urls_of(data, name), name, f"file:{name}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise TargetError(f"{name} is no text in UTF-8 ({exc}); a list has a URL or a file a line.") from exc
    return listed(_lines(text), name)


def _of_sitemap(urls: Sequence[str], name: str, via: str) -> Listed:
    for url in urls:
        if not url.lower().startswith(("http://", "https://")):
            raise TargetError(f"{name} lists {url!r}, which is no web page; sitemaps and feeds may name URLs only.")
    found = listed([(None, url) for url in urls], name)
    return Listed(tuple(replace(page, via=via) for page in found.pages), found.n_duplicates)


def _download(url: str, options: FetchOptions) -> Sequence[str]:
    """What a sitemap on the web lists; from any thread, also one whose event loop runs."""
    from lookstruct.extractors.listing_download import listed_at

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(listed_at(url, options))).result()


def _read(source: str) -> tuple[bytes, str]:
    if source == "-":
        return sys.stdin.buffer.read(), "standard input"
    try:
        return Path(source).read_bytes(), source
    except OSError as exc:
        raise TargetError(f"The list {source} cannot be read ({exc.strerror}); name a file of URLs, or -.") from exc


def _lines(text: str) -> Iterator[Line]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.strip()


def listed(lines: Iterable[Line], name: str = "the list") -> Listed:
    """The pages that lines name.

    >>> [page.target for page in listed([(1, "https://A.example/x"), (2, "https://a.example/x")]).pages]
    ['https://a.example/x']
    """
    found: dict[str, int | None] = {}
    faults: list[str] = []
    n_lines = 0
    for number, text in lines:
        n_lines += 1
        try:
            found.setdefault(_target(text), number)
        except TargetError as exc:
            faults.append(f"line {number}: {exc}" if number else str(exc))
    if faults:
        raise TargetError(_all_faults(faults, name))
    if not found:
        raise TargetError(f"{name} names no page; a list has a URL or a file a line.")
    pages = tuple(PageRow(at, target, line) for at, (target, line) in enumerate(found.items()))
    return Listed(pages, n_lines - len(pages))


def _target(text: str) -> str:
    """The one form of a target: an absolute path, or a URL with its host in small letters."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise TargetError(f"{text!r} has control characters in it: write one URL or file a line")
    target = resolve_target(text)
    if target.kind == "stdin":
        raise TargetError("- stands for standard input, which is no page of a list: write URLs or files")
    if target.kind != "url":
        return target.value
    parts = urlsplit(target.value)
    return parts._replace(scheme=parts.scheme.lower(), netloc=_host(parts.netloc), path=parts.path or "/").geturl()


def _host(netloc: str) -> str:
    user, at, host = netloc.rpartition("@")
    return user + at + host.lower()


def _all_faults(faults: list[str], name: str) -> str:
    shown = "; ".join(faults[:MOST_SHOWN])
    more = f"; and {len(faults) - MOST_SHOWN} more" if len(faults) > MOST_SHOWN else ""
    return f"{name} has {len(faults)} lines that name no page: {shown}{more}."
