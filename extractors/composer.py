"""Runs of text and the elements around them -> `Line`s in the right places.

A *context* says what the innermost block element makes of its lines (a heading, a list item). A *sink* receives the
lines: the page's own, or that of a table cell or a description whose lines are joined when it ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bs4.element import Tag

from lookstruct.extractors.lines import Built, Line, LineBuilder, Source
from lookstruct.schemas.document import BlockKind


@dataclass(frozen=True, slots=True)
class Context:
    """What the innermost block element says about the lines in it; `list_depth` counts the lists around it."""

    tag: Tag
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    boilerplate: bool = False
    pre: bool = False
    list_depth: int = 0


class Composer:
    """Holds the line being written, the contexts around it, and the sinks that wait for it."""

    def __init__(self, root: Tag) -> None:
        self.builder = LineBuilder()
        self._contexts = [Context(root)]
        self._sinks: list[list[Line]] = [[]]

    @property
    def context(self) -> Context:
        """The innermost context."""
        return self._contexts[-1]

    def begin(self, context: Context) -> None:
        """A block element begins: the line before it ends."""
        self.end_line()
        self._contexts.append(context)

    def end(self) -> None:
        """The innermost block element ends, and its line with it."""
        self.end_line()
        self._contexts.pop()

    def open_sink(self) -> None:
        """From here on lines are collected apart."""
        self.end_line()
        self._sinks.append([])

    def close_sink(self) -> list[Line]:
        """The lines collected since `open_sink`."""
        self.end_line()
        return self._sinks.pop()

    def add(self, lines: list[Line]) -> None:
        """Put finished lines into the current sink."""
        self._sinks[-1] += lines

    def text(self, text: str) -> None:
        """Append text as the context has it."""
        self.builder.text(text, pre=self.context.pre)

    def end_line(self) -> None:
        """The line ends; without text there was none."""
        built = self.builder.take()
        if built is not None:
            tag = self.context.tag
            line = _preformatted(built, tag) if self.context.pre else Line(built.text, tag, links=built.links)
            if line.text:
                self._sinks[-1].append(_described(line, self.context, built.sources))

    def finish(self) -> list[Line]:
        """All lines of the page; links that found no text of their own stand at the end of the last line."""
        self.end_line()
        (lines,) = self._sinks
        if lines:
            end = len(lines[-1].text)
            lines[-1].links += [replace(link, start=end, end=end) for link in self.builder.take_leftover_links()]
        return lines


def _preformatted(built: Built, tag: Tag) -> Line:
    """The line without the empty lines around it; its links move along."""
    text = built.text.rstrip()
    n_cut = len(text) - len(text.lstrip("\n"))
    links = [
        replace(link, start=max(link.start - n_cut, 0), end=min(link.end - n_cut, len(text) - n_cut))
        for link in built.links
    ]
    return Line(text[n_cut:], tag, links=[link for link in links if link.start <= link.end])


def _described(line: Line, context: Context, sources: frozenset[Source]) -> Line:
    line.kind, line.level, line.boilerplate = context.kind, context.level, context.boilerplate
    if "\n" in line.text:  # a heading or an item inside a `pre`
        line.kind, line.level = BlockKind.PRE, 0
    elif context.kind is BlockKind.PARAGRAPH:
        if Source.VALUE in sources:
            line.kind = BlockKind.FORM
        elif sources == {Source.IMAGE}:
            line.kind = BlockKind.IMAGE
    return line
