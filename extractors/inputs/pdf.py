"""A PDF with a text layer -> HTML: its words where they stand, page by page, tables and lines kept apart.

<section data-page="1"><h2>Invoice</h2><table><tr><td>Tea</td><td>3.50</td></tr></table></section>
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lookstruct.extractors.inputs.kind import Converted, Kind
from lookstruct.extractors.inputs.layout import Word, page_html
from lookstruct.schemas.errors import ContentTypeError, EmptyPage

_MOST_PAGES = 1000
_LEAST_HEIGHT = 1.0  # points: smaller text is not there to be read
_PARTS_WORDS = 0.35  # of a character's height: wider gaps part words although no space is written


def read_pdf(data: bytes, name: str) -> Converted:
    """Bytes of a PDF as HTML. ContentTypeError if it cannot be opened, EmptyPage if it has no text, only pictures."""
    pages = list(_pages(data, name))
    if not any(pages):
        raise EmptyPage(f"{name} is a PDF without text, probably a scan: run it through OCR first")
    html = "".join(f'<section data-page="{n}">{page_html(words)}</section>' for n, words in enumerate(pages, 1))
    cut = len(pages) == _MOST_PAGES
    return Converted(html, notes=(f"only the first {_MOST_PAGES} pages of the PDF were read",) if cut else ())


def _pages(data: bytes, name: str) -> Iterator[list[Word]]:
    pdfium = _pdfium(name)
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as exc:
        why = "is protected by a password: unlock it first" if "password" in str(exc).lower() else "is damaged"
        raise ContentTypeError(f"{name} is a PDF that {why} ({exc})") from exc
    try:
        for number in range(min(len(document), _MOST_PAGES)):
            page = document[number]
            text = page.get_textpage()
            yield list(_words(text, page.get_height()))
            text.close()
            page.close()
    finally:
        document.close()


def _pdfium(name: str) -> Any:
    try:
        import pypdfium2
    except ImportError as exc:
        raise ContentTypeError(f"{name} is a PDF, which needs an extra: pip install 'lookstruct[pdf]'") from exc
    return pypdfium2


def _words(text: Any, height: float) -> Iterator[Word]:
    """Words with their boxes; y counts from the top of the page."""
    word: Word | None = None
    for char, box in _characters(text, height):
        if box is None or word is None or box.x0 - word.x1 > _PARTS_WORDS * box.height or _jumps(word, box):
            if word is not None:
                yield word
            word = box
        else:
            joined = Word(word.text + char, word.x0, box.x1, min(word.top, box.top), max(word.bottom, box.bottom))
            word = joined
    if word is not None:
        yield word


def _jumps(word: Word, box: Word) -> bool:
    """Whether a character stands elsewhere than behind the word: on another line, or to the left of it."""
    return min(word.bottom, box.bottom) - max(word.top, box.top) <= 0 or box.x1 < word.x0


def _characters(text: Any, height: float) -> Iterator[tuple[str, Word | None]]:
    """Each character with its box; None for white space."""
    for n, char in enumerate(_by_index(text)):
        if not char.strip() or char in "\ufffe\uffff\x02":
            yield char, None
            continue
        left, bottom, right, top = text.get_charbox(n, loose=True)
        if top - bottom >= _LEAST_HEIGHT:
            yield char, Word(char, left, right, height - top, height - bottom)


def _by_index(text: Any) -> Iterator[str]:
    """The characters by PDFium's own numbering, in which every one has a box of its own."""
    import pypdfium2.raw as raw

    for n in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, n)
        yield chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "


PDF = Kind("PDF", frozenset({".pdf"}), frozenset({"application/pdf"}), read_pdf, lambda head: head.startswith(b"%PDF-"))
