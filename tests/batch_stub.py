"""A batch with a made-up browser and a made-up model, as a command line of its own: what tests kill.

    python batch_stub.py batch list.txt --schema 'name, price: float' --to out.jsonl

A page is the file that its target names, its record what the file's two lines say. A file may say otherwise: "broken"
makes no JSON, "missing" is answered with an error.

`LOOKSTRUCT_STUB_S` is how long the model thinks about a page, `LOOKSTRUCT_STUB_BEATS` a file that grows by a byte for
each page that it begins, `LOOKSTRUCT_STUB_TORN` makes every write to a file slow, a few bytes at a time.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from lookstruct import cli
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.target import Target
from lookstruct.pipeline import extractor
from lookstruct.pipeline.sinks import appending
from lookstruct.schemas.document import Document, Page
from lookstruct.schemas.errors import FetchTimeout, InvalidRecord
from lookstruct.schemas.loader import Schema
from lookstruct.schemas.record import Evidence, EvidenceStatus, Record, Stats

SCHEMA = "name: str, price: float"


def write_pages(folder: Path, n_pages: int) -> list[str]:
    """So many pages; their paths."""
    paths = [folder / f"page{number:04}.html" for number in range(n_pages)]
    for number, path in enumerate(paths):
        path.write_text(f"<h1>Lamp {number}</h1><p>{number + 0.5}</p>")
    return [str(path) for path in paths]


def record_of(number: int) -> dict[str, Any]:
    """What page `number` says."""
    return {"name": f"Lamp {number}", "price": number + 0.5}


class Source:
    """Reads files as they are; remembers which. `after` is called when so many have been read."""

    def __init__(self) -> None:
        self.fetched: list[str] = []
        self.after: dict[int, Callable[[], None]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def fetch(self, target: Target | str, options: FetchOptions | None = None) -> Page:
        """The file's text."""
        del options
        url = target if isinstance(target, str) else target.value
        self.fetched.append(url)
        self.after.get(len(self.fetched), lambda: None)()
        html = Path(url).read_text(encoding="utf-8")
        if "missing" in html:
            raise FetchTimeout("The page did not answer.")
        return Page(f"file://{url}", f"file://{url}", html)


class Reader:
    """Knows what a page says without a model."""

    def __init__(self, thinks_s: float = 0.0, beats: Path | None = None) -> None:
        self.thinks_s = thinks_s
        self.before: Callable[[], None] = lambda: None
        self.n_read = 0
        self._beats = beats

    def read(
        self, document: Document, schema: Schema, *, cancel: Callable[[], bool] = lambda: False, **_: Any
    ) -> Record[Any]:
        """The record."""
        self.before()
        self.n_read += 1
        if self._beats is not None:
            with self._beats.open("ab") as file:
                file.write(b".")
        if "broken" in document.text:
            raise InvalidRecord("The model's text is no JSON.", "{")
        end = time.monotonic() + self.thinks_s
        while time.monotonic() < end and not cancel():
            time.sleep(0.005)
        name, price = document.text.splitlines()
        data = {"name": name, "price": json.loads(price)}
        evidence = {"/name": Evidence(EvidenceStatus.EXACT, confidence=0.9)}
        stats = Stats(prompt_tokens=20, new_tokens=12, forwards=3)
        return Record(schema.validate(data), data, evidence, "", stats, document.url, {"notes": []})


def write_slowly(descriptor: int, data: bytes) -> None:
    """Seven bytes at a time."""
    for start in range(0, len(data), 7):
        os.write(descriptor, data[start : start + 7])
        time.sleep(0.001)


def main() -> None:
    """The command line, with the made-up browser and model in their places."""
    beats = os.environ.get("LOOKSTRUCT_STUB_BEATS")
    reader = Reader(float(os.environ.get("LOOKSTRUCT_STUB_S", "0")), Path(beats) if beats else None)
    extractor._open_browser = lambda _: Source()  # type: ignore[assignment,return-value]
    extractor._load_reader = lambda _: reader  # type: ignore[assignment,return-value]
    if "LOOKSTRUCT_STUB_TORN" in os.environ:
        appending._write_all = write_slowly
    cli.main()


if __name__ == "__main__":
    main()
