"""Pages kept on disk, to be read again without the network: Page <-> files in a folder.

    shop.example-lamps-3f2a9c1d.html         the flat page, with what the browser computed about visibility
    shop.example-lamps-3f2a9c1d.page.json    its address, status, headers and notes
    shop.example-lamps-3f2a9c1d.png          the screenshot, if one was taken

Reading the HTML file gives the same `Document` as the page did. A page of the same address replaces the one before.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from lookstruct.extractors.htmltree import marked_paths
from lookstruct.extractors.tags import MARK_HIDDEN
from lookstruct.schemas.document import Page
from lookstruct.schemas.errors import SinkError, TargetError

_FORMAT = "lookstruct page 1"
_SIDE = ".page.json"
_LONGEST_NAME = 80


def save(page: Page, folder: Path) -> Path:
    """Keep `page` in `folder`, which is made if need be; returns the HTML file. SinkError if it cannot be written."""
    path = folder / f"{file_name(page.url)}.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(path, page.html.encode("utf-8", "surrogatepass"))
        _write(path.with_suffix(_SIDE), json.dumps(_facts(page), indent=1, ensure_ascii=False).encode())
        if page.screenshot is not None:
            _write(path.with_suffix(".png"), page.screenshot)
    except OSError as exc:
        raise SinkError(f"the snapshot cannot be kept in {folder} ({exc.strerror}): name another folder") from exc
    return path


def load(path: Path) -> Page | None:
    """The page kept in this HTML file; None if it is no file of ours. TargetError if it is one, but damaged."""
    side = path.with_suffix(_SIDE)
    if path.suffix != ".html" or not side.is_file():
        return None
    try:
        facts = json.loads(side.read_text(encoding="utf-8"))
        if facts.get("format") != _FORMAT:
            return None
        return _page(path.read_text(encoding="utf-8", errors="surrogatepass"), facts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise TargetError(f"{path} is a snapshot whose description {side.name} cannot be read ({exc})") from exc


def file_name(url: str) -> str:
    """A name that says which page it is, and is another one for another page.

    >>> file_name("https://shop.example/lamps?page=2")
    'shop.example-lamps-page-2-f1950aad'
    """
    parts = urlsplit(url)
    said = re.sub(r"[^A-Za-z0-9.]+", "-", f"{parts.netloc}{parts.path}-{parts.query}").strip("-.")
    return f"{said[:_LONGEST_NAME].strip('-.') or 'page'}-{hashlib.sha256(url.encode()).hexdigest()[:8]}"


def _facts(page: Page) -> dict[str, object]:
    return {
        "format": _FORMAT,
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "url": page.url,
        "final_url": page.final_url,
        "status": page.status,
        "headers": dict(page.headers),
        "rendered": page.hidden_paths is not None,
        "notes": list(page.notes),
    }


def _page(html: str, facts: dict[str, object]) -> Page:
    headers, notes, status = facts["headers"], facts["notes"], facts["status"]
    if not isinstance(headers, dict) or not isinstance(notes, list) or not isinstance(status, int):
        raise ValueError("a field has another type than it was written with")
    return Page(
        url=str(facts["url"]),
        final_url=str(facts["final_url"]),
        html=html,
        status=status,
        headers=headers,
        hidden_paths=marked_paths(html, MARK_HIDDEN) if facts["rendered"] else None,
        notes=(*map(str, notes), f"read from the snapshot of {facts['saved']}"),
    )


def _write(path: Path, data: bytes) -> None:
    """Write whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
