"""Blocks -> the postal addresses that a page may show (`postal_addresses`): runs of lines that end at a postal code.

A small model that copies an address of several lines stops at the end of the first, or begins with its second. Here it
begins at the line with the house number (where none has one, the model says where), runs on to its postal code, and
at most one line beyond (the state, the country).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from lookstruct.schemas.document import Block, BlockKind, Document

MOST_LINES = 6
"""Lines of an address up to and with its postal code."""
_MOST_CHARS = 100
"""Code points of a line that may be part of an address; longer ones are running text."""
_WORD = r"[^\W\d_a-z][^\W\d_]+"
"""A word that does not begin with a small letter: the name of a town."""
_DIGITS = r"(?<![\w./-])(?<!\d,)\d{5,6}(?![\w/-]|[.,]\d)"
_CODES = (
    rf"{_DIGITS}[ ,]+{_WORD}",  # 55100 KUALA LUMPUR, 10115 Berlin
    rf"(?:^|, ?|(?<![^ ])[A-Z]{{1,2}}-)\d{{4}} {_WORD}",  # 8001 Zürich
    rf"{_WORD}[^\W\d_],? (?:[A-Z]{{2,3}},? )?{_DIGITS}(?:-\d{{4}})?",  # Springfield, IL 62704
    r"(?<=\w )\d{5}$",  # ..., Jalan 1A/4 47301
    rf"{_WORD},? [A-Z]{{2,3}},? \d{{4}}(?!\w)",  # Sydney NSW 2000
    r"(?<!\w)\d{5}-\d{3}(?!\w)|(?<!\w)\d{2}-\d{3}(?![\w-]| \d)",  # Brazil, Poland
    r"(?<!\w)\d{4} ?[A-Z]{2}(?!\w)",  # the Netherlands
    r"(?<!\w)[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}(?!\w)",  # the United Kingdom
    r"(?<!\w)[A-Z]\d[A-Z] ?\d[A-Z]\d(?!\w)",  # Canada
    r"〒 ?\d{3}-?\d{4}",
)
_CODE = re.compile("|".join(_CODES))
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_LABEL = re.compile(r"[^:：\d]{1,32}[:：]\s*")
_NUMBER = re.compile(r"\d{6}|\d[\d ()/-]{7,}\d")
"""A phone or registration number: no line of an address has one."""
_FIGURES = re.compile(r"\d+")
_BEYOND = re.compile(r"[^\W\d_][^\d:：@|]{2,40}")
"""What may follow the line of the code: words without figures."""
_HOUSE = re.compile(r"\d")
_APART = re.compile(
    r"(?<!\w)(?:s/b|sdn|bhd|ltd|limited|llc|inc|gmbh|plc|pte|pty|s\.?a\.?r?\.?l\.?)(?!\w)|^\(.*\)$", re.IGNORECASE
)
"""What shows that a line is the name of a company, or a remark."""
_OTHER = re.compile(
    r"invoice|receipt|rechnung|facture|www\.|\.com|@|(?<!\w)(?:tax|cash|bill|order|tel|fax)(?!\w)", re.IGNORECASE
)
"""What shows that the line below an address is none of it."""
_CELLS, _LINES = " | ", re.compile(r"\n|; ")


def postal_addresses(document: Document, blocks: Sequence[Block]) -> tuple[tuple[str, ...], ...]:
    """For each line with a postal code, every run of lines that may be the address, in one line each.

    >>> from lookstruct.schemas.document import Span
    >>> lines = ["Tan Sdn Bhd", "12 Jalan Besar", "55100 Kuala Lumpur", "Tel 03 1234"]
    >>> spans = [Span(sum(map(len, lines[:n])) + n, sum(map(len, lines[: n + 1])) + n) for n in range(4)]
    >>> made = tuple(Block(BlockKind.PARAGRAPH, span, "p") for span in spans)
    >>> postal_addresses(Document("", "\\n".join(lines), made), made)
    (('12 Jalan Besar, 55100 Kuala Lumpur',),)
    """
    lines = list(_lines(document, blocks))
    found = (tuple(_runs(lines, number)) for number, line in enumerate(lines) if has_code(line))
    return tuple(dict.fromkeys(found))


def has_code(line: str) -> bool:
    """Whether a line has what looks like a postal code beside the name of a place.

    >>> [has_code(text) for text in ("55100 Kuala Lumpur", "Springfield, IL 62704", "in May 2019", "Order 1234567")]
    [True, True, False, False]
    """
    if len(line) > _MOST_CHARS:
        return False
    return any(not _YEAR.search(match[0]) for match in _CODE.finditer(line))


def _lines(document: Document, blocks: Sequence[Block]) -> Iterator[str]:
    """The lines of print; "" where a run may not go on."""
    for block in blocks:
        if block.kind in (BlockKind.HEADING, BlockKind.TITLE):
            yield ""
        for cell in block.span.of(document.text).split(_CELLS) if block.cells else (block.span.of(document.text),):
            yield from (line.strip() for line in _LINES.split(cell))
            if block.cells:
                yield ""


def _runs(lines: Sequence[str], last: int) -> Iterator[str]:
    """The runs that end at line `last`, which has the code, each as it is and with the line below where that may
    belong to it; the longest first."""
    first = last
    while first > 0 and last - first + 1 < MOST_LINES and _may_belong(lines[first - 1]):
        first -= 1
    below = lines[last + 1] if last + 1 < len(lines) else ""
    street = _street(lines[first:last])
    is_end = first < last and len(_FIGURES.findall(lines[last])) == 1  # a town with its code, below the street
    starts = range(first, last if is_end else last + 1) if street is None else (first + street,)
    for start in starts:
        for begin in _beginnings(lines[start]):
            run = [begin, *lines[start + 1 : last + 1]]
            yield joined(run)
            if _BEYOND.fullmatch(below) and not _OTHER.search(below):
                yield joined([*run, below])


def _street(lines: Sequence[str]) -> int | None:
    """Which of the lines above the one with the code begins the address: the first with a house number, and what comes
    before it if its comma says that it goes on. Not a company's name, nor a number in brackets."""
    numbered = (n for n, line in enumerate(lines) if _HOUSE.search(line) and not _APART.search(line))
    first = next(numbered, None)
    while first and lines[first - 1].endswith(",") and not _APART.search(lines[first - 1]):
        first -= 1
    return first


def _may_belong(line: str) -> bool:
    """Whether a line may stand above the one with the code: short, without a phone number, and no mere label."""
    return 0 < len(line) <= _MOST_CHARS and not _NUMBER.search(line) and not line.endswith((":", "："))


def _beginnings(line: str) -> Iterator[str]:
    """A first line as it stands, and without the label before it."""
    yield line
    label = _LABEL.match(line)
    if label and line[label.end() :]:
        yield line[label.end() :]


def joined(lines: Iterable[str]) -> str:
    """Lines as one, with a comma between two unless there is one, none at the end.

    >>> joined(["12 High St,", "York", "YO1 7HH"])
    '12 High St, York, YO1 7HH'
    """
    text = ""
    for line in lines:
        text += ("" if not text else " " if text.endswith((",", ";")) else ", ") + line
    return text.rstrip(" ,;")
