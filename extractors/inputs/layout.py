"""Words with places -> HTML: lines, paragraphs, headings, and tables told by how words stand under each other.

A line is cut into cells where a gap is wider than between words. Lines in a row whose cells stand under each other are
a table; two long columns of text are read one after the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from statistics import median

_GAP = 0.9  # of the line's height: wider than this is no space between words
_HEADING = 1.25  # times the usual height
_NEAR = 0.8  # of the line's height: closer lines belong together
_FULL = 0.88  # of the text's width: a line that long goes on in the next
_PART = 1.6  # times the usual height: a wider gap parts what stands above it from what stands below
_COLUMN_LINES = 6
_COLUMN_CHARS = 24


@dataclass(frozen=True, slots=True)
class Word:
    """A word, or a piece of a line, and its box; y grows downwards."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top


Row = list[Word]
"""The cells of one line, from left to right."""


def page_html(words: Iterable[Word]) -> str:
    """One page as HTML.

    >>> page_html([Word("Tea", 0, 30, 0, 10), Word("3.50", 200, 240, 0, 10)])
    '<table><tr><td>Tea</td><td>3.50</td></tr></table>'
    """
    rows = rows_of(words)
    usual = median(cell.height for row in rows for cell in row) if rows else 0.0
    return "".join(_blocks(rows, usual))


def rows_of(words: Iterable[Word]) -> list[Row]:
    """Words -> lines of cells, from top to bottom."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: ((word.top + word.bottom) / 2, word.x0)):
        if lines and _overlap(lines[-1], word) > 0.5 * min(word.height, lines[-1][0].height):
            lines[-1].append(word)
        else:
            lines.append([word])
    return [_cells(sorted(line, key=lambda word: word.x0)) for line in lines]


def _overlap(line: Sequence[Word], word: Word) -> float:
    return min(line[0].bottom, word.bottom) - max(line[0].top, word.top)


def _cells(line: Sequence[Word]) -> Row:
    cells: Row = [line[0]]
    for word in line[1:]:
        last = cells[-1]
        if word.x0 - last.x1 <= _GAP * max(word.height, last.height):
            cells[-1] = _together(last, word, " ")
        else:
            cells.append(word)
    return cells


def _together(first: Word, second: Word, between: str) -> Word:
    return Word(
        f"{first.text}{between}{second.text}",
        min(first.x0, second.x0),
        max(first.x1, second.x1),
        min(first.top, second.top),
        max(first.bottom, second.bottom),
    )


def _blocks(rows: Sequence[Row], usual: float) -> Iterator[str]:
    for is_table, run in (pair for part in _parts(rows, usual) for pair in _runs(part)):
        if not is_table:
            yield from _paragraphs([row[0] for row in run], usual)
        elif _are_text_columns(run):
            for n in (0, 1):
                yield from _paragraphs([row[n] for row in run if len(row) > n], usual)
        else:
            yield from _tables(run)


def _parts(rows: Sequence[Row], usual: float) -> Iterator[list[Row]]:
    """Rows between gaps of more than a line."""
    part: list[Row] = []
    for row in rows:
        if part and row[0].top - part[-1][0].bottom > _PART * usual:
            yield part
            part = []
        part.append(row)
    if part:
        yield part


def _runs(part: Sequence[Row]) -> Iterator[tuple[bool, list[Row]]]:
    """Rows of several cells, and rows of one, in turn."""
    for is_table, group in groupby(part, key=lambda row: len(row) > 1):
        yield is_table, list(group)


def _are_text_columns(run: Sequence[Row]) -> bool:
    """Whether rows are two columns of running text: long, and many of them."""
    texts = [cell.text for row in run for cell in row]
    return (
        len(run) >= _COLUMN_LINES
        and all(len(row) == 2 for row in run)
        and sum(map(len, texts)) / len(texts) >= _COLUMN_CHARS
    )


# -- paragraphs ------------------------------------------------------------------------------------------------------


def _paragraphs(lines: Sequence[Word], usual: float) -> Iterator[str]:
    right = max((line.x1 for line in lines), default=0.0)
    whole: list[Word] = []
    for line in lines:
        if whole and _goes_on(whole[-1], line, right, usual):
            whole[-1] = replace(_together(whole[-1], line, " "), x1=line.x1, top=line.top, bottom=line.bottom)
        else:
            whole.append(line)
    for line in whole:
        tag = "h2" if usual and line.height >= _HEADING * usual else "p"
        yield f"<{tag}>{escape(line.text, quote=False)}</{tag}>"


def _goes_on(above: Word, line: Word, right: float, usual: float) -> bool:
    """Whether a line continues the one above it: that is full, close, and of the same size."""
    is_full = above.x1 >= _FULL * right and len(above.text) > 40
    is_close = line.top - above.bottom <= _NEAR * usual
    return is_full and is_close and abs(line.height - above.height) <= 0.1 * above.height


# -- tables ----------------------------------------------------------------------------------------------------------


def _tables(run: Sequence[Row]) -> Iterator[str]:
    """Rows whose cells stand under each other as one table each; a row that fits none is one by itself."""
    start = 0
    while start < len(run):
        end = start + _n_fitting(run[start:])
        found = columns(run[start:end]) or [(cell.x0, cell.x1) for cell in run[start]]
        yield f"<table>{''.join(_row(row, found) for row in run[start:end])}</table>"
        start = end


def _n_fitting(rows: Sequence[Row]) -> int:
    """How many rows from the first on stand under each other: more rows never fit better than fewer."""
    n = 1
    while n < len(rows) and columns(rows[: 2 * n]) is not None:
        n *= 2
    most = min(2 * n, len(rows))
    return n + bisect_left(range(n + 1, most + 1), True, key=lambda end: columns(rows[:end]) is None)


def columns(rows: Sequence[Row]) -> list[tuple[float, float]] | None:
    """Where the columns of rows lie, None if their cells do not stand under each other.

    >>> tea = [Word("Tea", 0, 30, 0, 9), Word("3", 55, 60, 0, 9)]
    >>> columns([tea, [Word("Milk", 0, 35, 9, 18), Word("22", 50, 60, 9, 18)]])
    [(0, 35), (50, 60)]
    """
    found: list[tuple[float, float]] = []
    for x0, x1 in sorted((cell.x0, cell.x1) for row in rows for cell in row):
        if found and x0 <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], x1))
        else:
            found.append((x0, x1))
    fits = all(len({_column(cell, found) for cell in row}) == len(row) for row in rows)
    return found if fits and len(found) > 1 and len(found) <= 2 * max(map(len, rows)) else None


def _column(cell: Word, found: Sequence[tuple[float, float]]) -> int:
    return next(n for n, (x0, x1) in enumerate(found) if x0 <= cell.x0 <= x1)


def _row(row: Row, found: Sequence[tuple[float, float]]) -> str:
    texts = {_column(cell, found): cell.text for cell in row}
    cells = (f"<td>{escape(texts.get(n, ''), quote=False)}</td>" for n in range(len(found)))
    return f"<tr>{''.join(cells)}</tr>"
