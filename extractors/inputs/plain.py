"""Plain text -> HTML: a line is a line, and what stands under each other in columns is a table."""

from __future__ import annotations

import re

from lookstruct.extractors.decode import decode
from lookstruct.extractors.inputs.kind import Converted, Kind
from lookstruct.extractors.inputs.layout import Word, page_html

_LINE_HEIGHT = 2.0  # in columns, so that two spaces are a gap and one is not
_PIECE = re.compile(r"\S+")


def read_plain(data: bytes, name: str) -> Converted:
    """Bytes of any encoding as HTML."""
    del name
    decoded = decode(data)
    return Converted(text_html(decoded.text), notes=(decoded.note,) if decoded.note else ())


def text_html(text: str) -> str:
    """Text as HTML; blank lines part, gaps of two spaces or a tab make cells.

    >>> text_html("Tea    3.50\\nMilk   0.90\\n\\nThank you")
    '<table><tr><td>Tea</td><td>3.50</td></tr><tr><td>Milk</td><td>0.90</td></tr></table><p>Thank you</p>'
    """
    parts = re.split(r"\n[^\S\n]*\n", text.replace("\r\n", "\n").replace("\f", "\n\n"))
    return "".join(page_html(_words(part)) for part in parts)


def _words(text: str) -> list[Word]:
    return [
        Word(piece.group(), piece.start(), piece.end(), number * _LINE_HEIGHT, (number + 1) * _LINE_HEIGHT)
        for number, line in enumerate(text.split("\n"))
        for piece in _PIECE.finditer(line.expandtabs(8))
    ]


PLAIN = Kind("plain text", frozenset({".txt", ".text", ".log"}), frozenset({"text/plain"}), read_plain)
