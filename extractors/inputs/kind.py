"""What a kind of input says about itself: how to know it, and how to turn it into HTML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside an input."""

    name: str
    data: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class Converted:
    """An input as HTML. `base_url` is where it came from, if it says so; `needs_browser` means that only a browser can
    tell what of it can be seen."""

    html: str
    base_url: str | None = None
    notes: tuple[str, ...] = ()
    needs_browser: bool = False
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of input: `suffixes` with their dots, MIME `types`, and what its first bytes look like (`begins`).

    `read` gets the bytes and the name that messages call them.
    """

    title: str
    suffixes: frozenset[str]
    types: frozenset[str]
    read: Callable[[bytes, str], Converted]
    begins: Callable[[bytes], bool] | None = None
