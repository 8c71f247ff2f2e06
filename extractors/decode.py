"""Bytes of an HTML page -> text, by the order of the HTML standard, then by trial.

A byte order mark wins, then the HTTP header, then `meta charset`; a declaration that the bytes contradict is passed
over. Without a valid one UTF-8 is tried, then charset-normalizer or Beautiful Soup guess, then windows-1252 reads
anything.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from bs4.dammit import EncodingDetector
from charset_normalizer import from_bytes

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# What browsers read under these labels (WHATWG Encoding Standard): mostly the superset that people mean.
_LABELS = {
    "ascii": "windows-1252", "us-ascii": "windows-1252", "iso-8859-1": "windows-1252", "iso8859-1": "windows-1252",
    "latin1": "windows-1252", "latin-1": "windows-1252", "l1": "windows-1252", "x-sjis": "cp932", "shift_jis": "cp932",
    "shift-jis": "cp932", "sjis": "cp932", "windows-31j": "cp932", "gb2312": "gb18030", "gbk": "gb18030",
    "gb_2312-80": "gb18030", "x-gbk": "gb18030", "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "big5": "big5hkscs",
    "iso-8859-9": "cp1254", "latin5": "cp1254", "tis-620": "cp874", "iso-8859-11": "cp874", "utf-16": "utf-8",
    "utf-16le": "utf-8", "utf-16be": "utf-8", "unicode-1-1-utf-8": "utf-8", "x-user-defined": "windows-1252",
}  # fmt: skip
_SINGLE_BYTE = ("windows-125", "cp125", "iso-8859", "iso8859", "koi8", "mac")  # read any bytes, so prove nothing
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\s;\"']+)", re.IGNORECASE)
_HIGH_BYTES = re.compile(rb"[\x80-\xff]+")
_WESTERN = ["cp1252", "cp1250", "cp1254", "cp1257"]
_SAMPLE = 200_000  # bytes from which a charset is guessed


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text, the encoding it was read by, and a note when that is not the declared one."""

    text: str
    encoding: str
    note: str | None = None


def decode(data: bytes, content_type: str | None = None) -> Decoded:
    """Decode a page; `content_type` is the HTTP header, if there was one.

    >>> decode("<meta charset=gbk>价格".encode("gbk")).text[-2:]
    '价格'
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return Decoded(data[len(bom) :].decode(encoding, errors="replace"), encoding)
    declared = list(declared_encodings(data, content_type))
    for encoding in declared:
        text = _strictly(data, encoding)
        if text is not None and not (encoding.startswith(_SINGLE_BYTE) and _is_utf8(data)):
            return Decoded(text, encoding)
    return _undeclared(data, declared[0] if declared else None)


def _undeclared(data: bytes, declared: str | None) -> Decoded:
    encoding, text = next(
        (encoding, text) for encoding in _guesses(data) if (text := _strictly(data, encoding)) is not None
    )
    note = f"the page declares {declared} but its bytes are not: read as {encoding}" if declared else None
    return Decoded(text, encoding, note)


def declared_encodings(data: bytes, content_type: str | None = None) -> Iterator[str]:
    """What the HTTP header and the page itself say, in that order, as Python codec names; unknown names are skipped."""
    header = _HEADER_CHARSET.search(content_type or "")
    in_page = EncodingDetector.find_declared_encoding(data[:4096], is_html=True, search_entire_document=False)
    for label in (header.group(1) if header else None, in_page):
        encoding = codec_of(label) if label else None
        if encoding is not None:
            yield encoding


def codec_of(label: str) -> str | None:
    """The Python codec that reads what browsers read under `label`; None if nobody knows the label.

    >>> codec_of("ISO-8859-1"), codec_of("gb2312"), codec_of("klingon")
    ('windows-1252', 'gb18030', None)
    """
    name = label.strip().lower()
    name = _LABELS.get(name, name)
    try:
        "x".encode(name)  # LookupError for an unknown codec and for one that does not make text (rot13, hex)
    except (LookupError, ValueError):
        return None
    return name


def _guesses(data: bytes) -> Iterator[str]:
    yield "utf-8"
    sample = data[:_SAMPLE]
    best = from_bytes(sample, cp_isolation=_WESTERN if _has_lone_letters(sample) else None).best()
    if best is not None and best.encoding not in ("ascii", "utf_8"):
        yield codec_of(best.encoding) or "windows-1252"
    yield "windows-1252"
    yield "latin-1"


def _has_lone_letters(data: bytes) -> bool:
    """Whether most bytes beyond ASCII stand alone, as accented letters do and two-byte characters cannot."""
    runs = _HIGH_BYTES.findall(data)
    return sum(len(run) == 1 for run in runs) * 2 > len(runs)


def _is_utf8(data: bytes) -> bool:
    """Whether the bytes are UTF-8 beyond ASCII: no text of another encoding is by chance."""
    return not data.isascii() and _strictly(data, "utf-8") is not None


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


_MOJIBAKE = re.compile("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u017e\u0192\u02c6\u02dc\u2013-\u2122]")
"""A UTF-8 character read byte by byte as windows-1252: "Ã" before "¤" and the like."""


def is_garbled(text: str, encoding: str) -> bool:
    """Whether decoded text shows the signs of a wrong charset: replacement characters, or UTF-8 read byte by byte.

    >>> is_garbled("KÃ¶ln", "windows-1252"), is_garbled("K\ufffdln", "UTF-8"), is_garbled("Köln", "UTF-8")
    (True, True, False)
    """
    return "\ufffd" in text or (encoding.lower().startswith(_SINGLE_BYTE) and _MOJIBAKE.search(text) is not None)


def undone(body: bytes, encoding: str) -> bytes:
    """The bytes as the server sent them, where Chromium hands out text it decoded by a single-byte `encoding`.

    >>> undone("KÃ¶ln".encode(), "windows-1252").decode()
    'Köln'
    """
    text = _strictly(body, "utf-8")
    if text is None or not is_garbled(text, encoding) or not encoding.lower().startswith(_SINGLE_BYTE):
        return body
    # Browsers map the five bytes that Python leaves undefined in windows-1252 to the C1 controls of the same number.
    return b"".join(_one(char, encoding) for char in text)


def _one(char: str, encoding: str) -> bytes:
    try:
        return char.encode(encoding)
    except UnicodeEncodeError:
        return char.encode("latin-1", "replace")
