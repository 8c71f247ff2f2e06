"""A record's leaf values -> where each stands on the page, by exact text match."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lookstruct.pipeline.leaves import leaves
from lookstruct.schemas.document import Document, Span
from lookstruct.schemas.record import Evidence, EvidenceStatus

NOWHERE = Evidence(EvidenceStatus.NONE)
DERIVED = Evidence(EvidenceStatus.DERIVED)

BEFORE = r"(?<!\w)(?<!\d[.,])"
AFTER = r"(?!\w)(?![.,]\d)"
"""What may not touch a match: a letter or digit, or the rest of a number (12 is not in 12.50)."""


def ground(data: Any, document: Document) -> Mapping[str, Evidence]:
    """JSON pointer of each leaf -> its evidence."""
    return {pointer: _evidence(value, document) for pointer, value in leaves(data)}


def _evidence(value: Any, document: Document) -> Evidence:
    if value is None or value == "":
        return NOWHERE
    if isinstance(value, bool):
        return DERIVED
    text = value if isinstance(value, str) else _number_text(value)
    span = find(text, document.text)
    if span is None:
        return NOWHERE
    block = document.block_at(span.start)
    return Evidence(EvidenceStatus.EXACT, span, span.of(document.text), block.dom_path if block else None)


def find(text: str, page: str) -> Span | None:
    """The first place where `text` stands on `page` as whole words, any whitespace for any; None if nowhere.

    >>> find("1 kg", "11 kg, 1  kg"), find("kg", "100kgs")
    (Span(start=7, end=12), None)
    """
    words = [re.escape(word) for word in text.split()]
    if not words:
        return None
    left = BEFORE if _is_latin(text.strip()[0]) else ""
    right = AFTER if _is_latin(text.strip()[-1]) else ""
    found = re.search(left + r"\s+".join(words) + right, page)
    return Span(*found.span()) if found else None


def _is_latin(char: str) -> bool:
    """Whether words of this script stand apart by spaces: no boundary can be asked of Chinese or Japanese."""
    return char.isalnum() and ord(char) < 0x2E80


def _number_text(value: float) -> str:
    """A number as a page would write it: no exponent, no trailing `.0`."""
    return f"{value:.12f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
