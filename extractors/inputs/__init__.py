"""What is no HTML but can be read as a page: each kind is one file here and one entry in `KINDS`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from lookstruct.extractors.inputs.kind import Converted, Kind
from lookstruct.extractors.inputs.mail import MAIL
from lookstruct.extractors.inputs.markdown import MARKDOWN
from lookstruct.extractors.inputs.mhtml import MHTML
from lookstruct.extractors.inputs.pdf import PDF
from lookstruct.extractors.inputs.plain import PLAIN

KINDS: tuple[Kind, ...] = (PDF, MHTML, MAIL, MARKDOWN, PLAIN)

__all__ = ["KINDS", "Converted", "Kind", "convert", "kind_of"]


def kind_of(name: str, data: bytes, content_type: str | None = None) -> Kind | None:
    """The kind of input, by its first bytes, the type a server gave, and the ending of its name, in this order.

    None means HTML, or nothing that is known.

    >>> kind_of("scan", b"%PDF-1.7").title, kind_of("a/notes.md", b"# x").title, kind_of("index.html", b"<p>")
    ('PDF', 'Markdown', None)
    """
    given = (content_type or "").split(";")[0].strip().lower()
    suffix = PurePosixPath(urlsplit(name).path if "://" in name else name.replace("\\", "/")).suffix.lower()
    head = data[:1024].lstrip(b"\xef\xbb\xbf\r\n\t ")
    for kind in KINDS:
        if kind.begins is not None and kind.begins(head):
            return kind
    if given and given not in ("application/octet-stream", "text/plain"):
        return next((kind for kind in KINDS if given in kind.types), None)
    return next((kind for kind in KINDS if suffix in kind.suffixes or (given in kind.types and given)), None)


def convert(kind: Kind, data: bytes, name: str) -> Converted:
    """The input as HTML, attachments behind it; raises one of the `FetchError`s if it cannot be read."""
    whole = kind.read(data, name)
    rest = "".join(_attached(whole))
    return Converted(whole.html + rest, whole.base_url, whole.notes, whole.needs_browser) if rest else whole


def _attached(whole: Converted) -> Iterator[str]:
    """The readable attachments, each in a section of its own; those of attachments are left alone."""
    for attachment in whole.attachments:
        kind = kind_of(attachment.name, attachment.data, attachment.content_type)
        if kind is not None:
            yield f"<section>{kind.read(attachment.data, attachment.name).html}</section>"
