"""Document -> what each kind of held field may say (`PageOffers`), in the form in which JSON text has it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import Any
from unicodedata import normalize

from lookstruct.pipeline.grounding.addresses import postal_addresses
from lookstruct.pipeline.grounding.bylines import bylines
from lookstruct.pipeline.grounding.durations import Duration
from lookstruct.pipeline.grounding.field_names import names_field, opens_section
from lookstruct.pipeline.grounding.found import Found
from lookstruct.pipeline.grounding.labels import Labels
from lookstruct.pipeline.grounding.numbers import plain_number
from lookstruct.pipeline.items import counters, split_items, unnumbered
from lookstruct.pipeline.whole_lists import headings_over, names_above, whole_lists
from lookstruct.schemas.document import Block, BlockKind, Cell, Document, Span

Node = Mapping[str, Any]

_MARKER = re.compile(r"^\[[ x]\] ")
"""A checkbox before a list item: a sign of ours, not text of the page's author."""
_CHUNK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]|\w+|\s|[^\w\s]")
"""Where a span may begin or end: between words, around punctuation, between characters of scripts without spaces."""
_VALUE = re.compile(r"\W{0,2}\d.{0,12}")
"""A line that is a figure and its unit."""
_TITLE_BREAK = re.compile(r"\s+[|·•–—-]\s+|:\s+")
"""Between the name of a page and that of its site."""
_LABELLED = 40
"""Code points up to which a line is a label and its value, colon or not."""
_SHORT_LINE = 160
"""Code points up to which a line states one thing."""
_CELLS, _CELL_LINES = " | ", "; "
"""What stands between the cells of a row, and between the lines of a cell, in a document's text."""
SEPARATOR = "\u0000"
"""Stands between the readings of the page, so that no span runs from one into the next."""


@dataclass(frozen=True, slots=True)
class Run:
    """A list of the page, or a line alone: each item in its spellings, and the texts above that may name it."""

    items: tuple[tuple[str, ...], ...]
    names: tuple[str, ...] = ()

    @property
    def n_chars(self) -> int:
        """Code points of the longest item."""
        return max(len(text) for spellings in self.items for text in spellings)


@dataclass(frozen=True)
class PageOffers:
    """The values that one page offers. `blocks` are those the model is shown.

    `also` are values by `x-source` that may be written although the page does not show them.
    """

    document: Document
    blocks: Sequence[Block]
    found: Found
    also: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def has(self, node: Node) -> bool:
        """Whether `node` is a held leaf for which the page offers something."""
        source = node.get("x-source")
        if source is None or "enum" in node:
            return False
        return bool(self.chunks) if source in _COPIED else next(iter(self.options(node)), None) is not None

    def lacks(self, node: Node) -> bool:
        """Whether `node` is to be taken from a closed list that is empty on this page."""
        listed = node.get("x-source") in _LISTS and "enum" not in node
        return listed and next(iter(self.options(node)), None) is None

    def options(self, node: Node) -> Iterable[str]:
        """The closed list for a leaf, as JSON text; empty for spans, and where the page has none."""
        source = node.get("x-source", "")
        make = _OFFERED.get(source)
        if make is None:
            return ()
        return chain(make(self, node), _written(self.also.get(source, ()), node))

    @cached_property
    def chunks(self) -> list[str]:
        """The page cut where spans may begin and end, as JSON text: once with line breaks as such, once as ", ".

        A value that runs over lines (an address) is written by models in either way. None runs over the cells of a row.
        """
        text = "\n".join(
            text.replace(_CELLS, SEPARATOR) if block.cells else text
            for block, text in zip(self.blocks, self._texts(), strict=True)
        )
        if not text.strip():
            return []
        readings = [one.replace("\n", end) for one in _spellings(text) for end in ("\n", ", ", " ")]
        readings += self.also.get("span", ())
        return [json.dumps(chunk, ensure_ascii=False)[1:-1] for chunk in _CHUNK.findall(SEPARATOR.join(readings))]

    def _texts(self) -> Iterator[str]:
        for block in self.blocks:
            yield block.span.of(self.document.text)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Whole lines, cells, and the values of "label: value" lines, in page order.

        A list item that lies over several lines is one; the number before a step is none of it.
        """
        return _spelt(text for number, whole in self._wholes.items() for text in self._lines_of(number, whole))

    def named_durations(self, key: str) -> tuple[str, ...]:
        """The lengths of time whose label names the field `key` (`Cook time: 30 min` for `cook_time`), as JSON text."""
        told = (one for one in self.found.durations if self._is_labelled(one.span))
        labels = ((one.value, self._labels.of(one.span)[:1]) for one in told)
        return tuple(_strings(value for value, label in labels if any(names_field(key, text) for text in label)))

    def _is_labelled(self, span: Span) -> bool:
        """Whether a colon is before a place, or its line is no sentence."""
        block = self.document.block_at(span.start)
        before = self.document.text[: span.start].rstrip()
        return before.endswith((":", "：")) or (block is not None and len(block.span) <= _LABELLED)

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.document)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The page in reading order, its lists whole; every other line and cell alone, without the headings."""
        items = [number for number in self._wholes if self.blocks[number].kind is BlockKind.LIST_ITEM]
        lists = {run[0]: run for run in whole_lists(self.document, self.blocks, items) if len(run) > 1}
        inside = {number for run in lists.values() for number in run}
        found: list[Run] = []
        above: set[int] = set()  # headings whose list has come
        for number in self._wholes:
            if number in lists:
                found.append(self._list(lists[number], above))
                above.update(self._headings[number])
            elif number not in inside:
                found += self._alone(number)
        return tuple(found)

    def _list(self, numbers: Sequence[int], above: Set[int]) -> Run:
        """A list, named by what is right above it, and by the headings that it is the first list under."""
        headings = (self._text(at) for at in self._headings[numbers[0]] if at not in above)
        names = (*names_above(self.document, self.blocks, numbers[0]), *headings)
        return Run(tuple(tuple(_spellings(self._wholes[number])) for number in numbers), names)

    def _alone(self, number: int) -> Iterator[Run]:
        whole = self._wholes[number]
        if self.blocks[number].kind not in (BlockKind.HEADING, BlockKind.TITLE) and not self._opens(number):
            for text in dict.fromkeys(filter(None, self._lines_of(number, whole))):
                yield Run((tuple(_spellings(text)),), tuple(map(self._text, self._headings[number])))

    def _text(self, number: int) -> str:
        return self.blocks[number].span.of(self.document.text)

    @cached_property
    def _headings(self) -> list[tuple[int, ...]]:
        return headings_over(self.blocks, self._opens)

    def _opens(self, number: int) -> bool:
        """Whether a line only says what follows, and what follows is not the mere value of a label."""
        text, *after = (block.span.of(self.document.text) for block in self.blocks[number : number + 2])
        return opens_section(text) and not any(map(_VALUE.fullmatch, after))

    @cached_property
    def _wholes(self) -> Mapping[int, str]:
        """Block number -> the line that begins there, without those that are part of the line above or only count."""
        texts = [_MARKER.sub("", text.strip(), count=1) for text in self._texts()]
        counting = counters(texts)
        parts = (tuple(n for n in run if n not in counting) for run in split_items(self.document, self.blocks))
        items = {run[0]: run for run in parts if run}
        left_out = counting | {number for run in items.values() for number in run[1:]}
        return {
            number: unnumbered(" ".join(texts[n] for n in items.get(number, (number,))))
            for number in range(len(self.blocks))
            if number not in left_out
        }

    def _lines_of(self, number: int, whole: str) -> Iterator[str]:
        """What may be taken as a line of one block: all of it, its cells, its value behind a label, its lines."""
        block = self.blocks[number]
        if block.kind is BlockKind.TITLE:
            yield from _TITLE_BREAK.split(whole)
            return
        if not block.cells or _CELLS not in whole:  # a whole row is no value
            yield whole
        yield from (part for cell in block.cells for part in self._cell_lines(cell))
        yield from (cell.span.of(self.document.text).strip() for cell in block.cells)
        if block.kind in (BlockKind.DEFINITION, BlockKind.TABLE_ROW) and ": " in whole:
            yield whole.partition(": ")[2]
        if "\n" in whole:
            yield from (line.strip() for line in whole.split("\n"))

    def _cell_lines(self, cell: Cell) -> list[str]:
        """The lines of a cell, which the page's text joins."""
        return [part.strip() for part in cell.span.of(self.document.text).split(_CELL_LINES)]

    @cached_property
    def addresses(self) -> tuple[tuple[str, ...], ...]:
        """The postal addresses, each in all the ways in which it may begin and end."""
        return postal_addresses(self.document, self.blocks)

    @cached_property
    def numbers(self) -> tuple[Decimal, ...]:
        """Every value that a number on the page can mean."""
        values = (value for number in self.found.numbers for value in (number.value, *number.alternatives))
        return tuple(dict.fromkeys(values))

    @cached_property
    def currencies(self) -> tuple[str, ...]:
        """ISO codes of the currencies that stand beside numbers."""
        return tuple(dict.fromkeys(n.currency for n in self.found.numbers if n.currency))


def _spellings(text: str) -> Iterable[str]:
    """A text as the page has it, and with accents as models write them: one character with its letter."""
    return dict.fromkeys((text, normalize("NFC", text)))


def _spelt(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, in each of its spellings; without empty ones."""
    return tuple(dict.fromkeys(form for text in dict.fromkeys(texts) if text for form in _spellings(text)))


def _written(values: Iterable[Any], node: Node) -> Iterator[str]:
    """Values as JSON text; numbers in each of their forms."""
    for value in values:
        if isinstance(value, int | float):
            yield from _forms(Decimal(str(value)), node)
        else:
            yield json.dumps(value, ensure_ascii=False)


def _strings(values: Iterable[str]) -> Iterator[str]:
    return (json.dumps(value, ensure_ascii=False) for value in dict.fromkeys(values))


def _lines(offers: PageOffers, node: Node) -> Iterator[str]:
    most = node.get("maxLength", 2000)
    return _strings(line for line in offers.lines if len(line) <= most)


def _addresses(offers: PageOffers, node: Node) -> Iterator[str]:
    most = node.get("maxLength", 300)
    found = (text for runs in offers.addresses for text in runs if len(text) <= most)
    return _strings(form for text in found for form in _spellings(text))


def _bylines(offers: PageOffers, node: Node) -> Iterator[str]:
    names = bylines(offers.document, offers.blocks, offers.found.moments)
    return _strings(form for name in names if len(name) <= node.get("maxLength", 300) for form in _spellings(name))


def _links(offers: PageOffers, _: Node) -> Iterator[str]:
    """Places to go before images."""
    found = sorted(offers.document.links, key=lambda link: link.is_image)
    return _strings(link.href for link in found if link.href.startswith(("http://", "https://")))


def _dates(offers: PageOffers, _: Node) -> Iterator[str]:
    whole = (m for m in offers.found.moments if m.kind in ("date", "datetime"))
    return _strings(value[:10] for m in whole for value in (m.value, *m.alternatives))


def _datetimes(offers: PageOffers, _: Node) -> Iterator[str]:
    timed = [v for m in offers.found.moments if m.kind == "datetime" for v in (m.value, *m.alternatives)]
    days = [v for m in offers.found.moments if m.kind == "date" for v in (m.value, *m.alternatives)]
    return _strings([*timed, *(f"{day}T00:00:00" for day in days if not any(t.startswith(day) for t in timed))])


def _durations(offers: PageOffers, _: Node) -> Iterator[str]:
    return _strings(duration.value for duration in telling_durations(offers.document, offers.found.durations))


def telling_durations(document: Document, durations: Sequence[Duration]) -> tuple[Duration, ...]:
    """Those on short lines, where a page states its times; all of them where no line is short.

    In running text ("simmer for 5 minutes") stand the times of single steps, and there are many.
    """
    told = tuple(found for found in durations if _is_on_short_line(document, found.span))
    return told or tuple(durations)


def _is_on_short_line(document: Document, span: Span) -> bool:
    block = document.block_at(span.start)
    return block is not None and len(block.span) <= _SHORT_LINE


def _currencies(offers: PageOffers, _: Node) -> Iterator[str]:
    return _strings(offers.currencies)


def _numbers(offers: PageOffers, node: Node) -> Iterator[str]:
    """As written (4908.00) and as short as it goes (4908), within the leaf's bounds."""
    forms = (form for value in offers.numbers if _within(value, node) for form in _forms(value, node))
    return iter(dict.fromkeys(forms))


def _within(value: Decimal, node: Node) -> bool:
    return Decimal(str(node.get("minimum", "-Infinity"))) <= value <= Decimal(str(node.get("maximum", "Infinity")))


def _forms(value: Decimal, node: Node) -> Iterator[str]:
    whole = value == value.to_integral_value()
    if node.get("type") == "integer":
        return iter((format(value.to_integral_value(), "f"),) if whole else ())
    written, short = plain_number(value), plain_number(value.normalize())
    return iter((written,) if written == short else (written, short))


_LISTS: Mapping[str, Callable[[PageOffers, Node], Iterator[str]]] = {
    "line": _lines,
    "item": _lines,
    "link": _links,
    "date": _dates,
    "datetime": _datetimes,
    "duration": _durations,
    "number": _numbers,
    "currency": _currencies,
}
"""Where a value comes from -> the values of the page; where that is none, the field has none."""
_OFFERED = {**_LISTS, "address": _addresses, "byline": _bylines}
_COPIED = ("span", "address", "byline")
"""What can be copied from any place of the page where nothing better is offered."""
