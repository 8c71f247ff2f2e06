"""Is it a page at all? Content types and first bytes -> silence, or `ContentTypeError` that says what came instead."""

from __future__ import annotations

from lookstruct.schemas.errors import ContentTypeError

_READABLE = frozenset({"application/xhtml+xml", "application/xml", "application/json", "application/javascript", ""})
_NAMES = {
    "application/pdf": "a PDF",
    "application/zip": "a ZIP archive",
    "application/gzip": "a gzip archive",
    "application/octet-stream": "a binary file",
    "application/msword": "a Word document",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "a Word document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "an Excel workbook",
    "application/vnd.ms-excel": "an Excel workbook",
}
_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)


def check_content_type(target: str, header: str | None) -> None:
    """Raise unless the type in the HTTP header is one whose text a browser shows; a missing header passes.

    >>> check_content_type("https://a.example/x", "text/html; charset=utf-8")
    """
    kind = (header or "").split(";")[0].strip().lower()
    if (
        not (kind.startswith("text/") or kind in _READABLE or kind.endswith(("+xml", "+json")))
        or kind == "image/svg+xml"
    ):
        raise not_a_page(target, kind)


def check_bytes(target: str, data: bytes) -> None:
    """Raise if the first bytes are those of a PDF, an image, an archive, or another binary file."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            raise not_a_page(target, kind)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        raise not_a_page(target, "image/webp")
    if b"\x00" in data[:1024] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise not_a_page(target, "application/octet-stream")


def not_a_page(target: str, kind: str) -> ContentTypeError:
    """The error for a `target` of the content type `kind`."""
    family = {"image": "an image", "video": "a video", "audio": "a sound file", "font": "a font"}
    name = _NAMES.get(kind) or family.get(kind.split("/")[0], "not a page")
    return ContentTypeError(f"{target} is {name} ({kind}): expected an HTML page; give the page that links to it")
