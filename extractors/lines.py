"""Pieces of text and links -> `Line`s: what stands on one line of the page, with the links' offsets in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from bs4.element import Tag

from lookstruct.extractors.tags import SCRIPTED_POSITION
from lookstruct.extractors.whitespace import collapse, strip_invisible
from lookstruct.schemas.document import BlockKind


@dataclass(frozen=True, slots=True)
class Piece:
    """A range [start, end) of a line's text that carries a value: a link's `href` or a cell's column header."""

    start: int
    end: int
    value: str | None
    is_image: bool = False

    def shifted(self, by: int) -> Piece:
        """The same range, `by` code points further right."""
        return replace(self, start=self.start + by, end=self.end + by)


@dataclass(slots=True)
class Line:
    """One line of visible text before it gets its place in the document; `tag` is the element it stands in."""

    text: str
    tag: Tag
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    boilerplate: bool = False
    consent: bool = False
    links: list[Piece] = field(default_factory=list)
    cells: list[Piece] = field(default_factory=list)
    table: int | None = None
    role: str = ""


class Source(Enum):
    """What a run of text comes from."""

    TEXT = "text"
    IMAGE = "image"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Built:
    """The content of a finished line: its text, its links, and what they came from."""

    text: str
    links: list[Piece]
    sources: frozenset[Source]


@dataclass(slots=True)
class _OpenLink:
    href: str
    start: int | None = None  # None until its first character on this line is written
    used: bool = False


_NONE, _CLOSED, _ADJACENT, _SCRIPT = range(4)


class LineBuilder:
    """Collects the inline content of one line, white space collapsed as a browser does it.

    Neighbouring inline elements are joined as the page has them (a price split over spans stays one word), except
    where two separate words meet without a space: `<span>Total</span><span>12</span>` reads `Total 12`.
    """

    def __init__(self) -> None:
        self.n_stripped = 0
        self._open_links: list[_OpenLink] = []
        self._links: list[Piece] = []
        self._start_line()

    def _start_line(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._tail = ""  # the last two code points: enough to judge what may touch what
        self._space = False
        self._separator = ""
        self._boundary = _NONE
        self._sources: list[Source] = []
        self._labels_lead = True  # false once a tick box has shown that labels follow their controls

    def text(self, raw: str, *, pre: bool = False) -> None:
        """Append text; in `pre` white space stays as it is."""
        seen = strip_invisible(raw)
        self.n_stripped += len(raw) - len(seen)
        if pre:
            self._emit(seen.replace("\r\n", "\n"), Source.TEXT)
            return
        words = seen.split()
        if not words:
            self._space = self._space or bool(seen)
            return
        if seen[0].isspace() or self._words_meet(words[0][0]):
            self._space = True
        self._emit(" ".join(words), Source.TEXT)
        self._space = seen[-1].isspace()

    def image(self, alt: str, addresses: Iterable[str] = ()) -> None:
        """Append the text that stands for an image, set off by spaces, and note where the image is."""
        before = self._length
        if alt:
            self._set_off(alt, Source.IMAGE)
        start = self._length - len(collapse(strip_invisible(alt))) if self._length > before else before
        self._links += [Piece(start, self._length, address, is_image=True) for address in addresses]

    def value(self, value: str, *, labelled: bool) -> None:
        """Append the value of a form control, set off by a colon from its label if that stands before it."""
        self._labels_lead = self._labels_lead and labelled
        if self._labels_lead and self._sources[-1:] == [Source.TEXT] and self._tail[-1:].isalnum():
            self._separator = ": "
        self._set_off(value, Source.VALUE)

    def _set_off(self, text: str, source: Source) -> None:
        seen = collapse(strip_invisible(text))
        self.n_stripped += len(text) - len(strip_invisible(text))
        self._space = True
        self._emit(seen, source)
        self._space = True

    def space(self) -> None:
        """A gap: what follows does not touch what came before."""
        self._space = True

    def separate(self, separator: str) -> None:
        """Put `separator` between what came before and what follows, if there is something on both sides."""
        self._separator = glue(self._tail, separator)

    def opened(self, name: str) -> None:
        """An inline element begins."""
        if name in SCRIPTED_POSITION:
            self._boundary = _SCRIPT
        elif self._boundary in (_CLOSED, _ADJACENT):
            self._boundary = _ADJACENT

    def closed(self, name: str) -> None:
        """An inline element ended."""
        self._boundary = _NONE if name in SCRIPTED_POSITION else _CLOSED

    def open_link(self, href: str) -> None:
        """A link begins: the text from here on is its text."""
        self._open_links.append(_OpenLink(href))

    def close_link(self) -> None:
        """The innermost open link ended; one without any text keeps its place as an empty range."""
        link = self._open_links.pop()
        if link.start is not None or not link.used:
            start = self._length if link.start is None else link.start
            self._links.append(Piece(start, self._length, link.href))

    def take(self) -> Built | None:
        """The line so far, None if it has no text; a new line starts, on which open links go on."""
        if not self._length:
            self._start_line()
            return None  # links without text wait for the next line
        for link in self._open_links:
            if link.start is not None:
                self._links.append(Piece(link.start, self._length, link.href))
            link.start = None
        built = Built("".join(self._pieces), self._links, frozenset(self._sources))
        self._links = []
        self._start_line()
        return built

    def take_leftover_links(self) -> list[Piece]:
        """The links without text for which no line came any more."""
        leftover, self._links = self._links, []
        return leftover

    def _emit(self, text: str, source: Source) -> None:
        if not text:
            return
        between = self._separator or (" " if self._space and not self._tail.endswith("\n") else "")
        if self._length and between:
            self._pieces.append(between)
            self._length += len(between)
        for link in self._open_links:
            if link.start is None:
                link.start, link.used = self._length, True
        self._pieces.append(text)
        self._length += len(text)
        self._tail = text[-2:] if len(text) > 1 else self._tail[-1:] + text
        self._space, self._separator, self._boundary = False, "", _NONE
        self._sources.append(source)

    def _words_meet(self, first: str) -> bool:
        if self._boundary == _ADJACENT:
            return words_meet(self._tail, first)
        return self._boundary == _SCRIPT and self._tail[-1:].isdigit() and first.isdigit()


def words_meet(tail: str, first: str) -> bool:
    """Whether two inline elements that touch hold separate words, judged by the characters on both sides.

    >>> words_meet("al", "1"), words_meet("me", "A"), words_meet("l:", "1"), words_meet("5", "R")
    (True, True, True, True)
    >>> words_meet("1", "."), words_meet("H", "e"), words_meet("€", "1"), words_meet("1", "9"), words_meet("9:", "3")
    (False, False, False, False, False)
    """
    last = tail[-1:]
    if last.isalpha():
        return first.isdigit() or is_currency(first) or (last.islower() and first.isupper())
    if last.isdigit():
        return first.isupper()
    return last == ":" and not (tail[0].isdigit() and first.isdigit())


def is_currency(char: str) -> bool:
    """Whether `char` is a currency sign."""
    return unicodedata.category(char) == "Sc"


def glue(left: str, separator: str) -> str:
    """What goes between `left` and the text after it: `separator`, or a space where `left` ends open.

    >>> glue("Total:", " | "), glue("Total", " | ")
    (' ', ' | ')
    """
    return " " if left.endswith((":", ",", ";")) else separator


def joined(lines: Sequence[Line], separator: str = "; ") -> Line:
    """One line out of several, links and all; kind, level and place are the first line's.

    `lines` must not be empty. Line ends inside `pre` text become spaces.
    """
    first = lines[0]
    result = Line("", first.tag, first.kind, first.level, first.boilerplate)
    parts: list[str] = []
    length = 0
    for line in lines:
        if parts and line.text:
            parts.append(glue(parts[-1], separator))
            length += len(parts[-1])
        result.links += [link.shifted(length) for link in line.links]
        if line.text:
            parts.append(line.text.replace("\n", " "))
            length += len(parts[-1])
    result.text = "".join(parts)
    return result
