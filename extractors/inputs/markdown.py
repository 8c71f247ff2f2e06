"""Markdown -> HTML, as CommonMark with tables has it."""

from __future__ import annotations

from lookstruct.extractors.decode import decode
from lookstruct.extractors.inputs.kind import Converted, Kind


def read_markdown(data: bytes, name: str) -> Converted:
    """Bytes of Markdown as HTML.

    >>> read_markdown(b"# Tea", "a.md").html
    '<h1>Tea</h1>\\n'
    """
    del name
    from markdown_it import MarkdownIt

    decoded = decode(data)
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(decoded.text)
    return Converted(str(html), notes=(decoded.note,) if decoded.note else ())


MARKDOWN = Kind(
    "Markdown", frozenset({".md", ".markdown", ".mkd"}), frozenset({"text/markdown", "text/x-markdown"}), read_markdown
)
