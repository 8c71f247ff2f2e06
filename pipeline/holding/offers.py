"""Document -> what each kind of held field may say (`PageOffers`), in the form in which JSON text has it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import Any

from lookstruct.pipeline.holding.addresses import postal_addresses
from lookstruct.pipeline.holding.bylines import bylines
from lookstruct.pipeline.holding.field_names import names_field
from lookstruct.pipeline.holding.organizations import organizations
from lookstruct.pipeline.holding.page_lines import CELLS, PageLines, spellings
from lookstruct.pipeline.holding.page_title import page_title, site_name
from lookstruct.pipeline.holding.servings import servings
from lookstruct.pipeline.holding.whole_lists import with_listed_headings
from lookstruct.pipeline.values.durations import Duration
from lookstruct.pipeline.values.found import Found
from lookstruct.pipeline.values.labels import Labels
from lookstruct.pipeline.values.numbers import plain_number
from lookstruct.schemas.document import Block, Document, Span

Node = Mapping[str, Any]

_UNSPACED = r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]"
_CHUNK = re.compile(rf"{_UNSPACED}|(?:(?!{_UNSPACED})\w)+|\s|[^\w\s]")
"""Where a span may begin or end: between words, around punctuation, between characters of scripts without spaces."""
_LABELLED = 40
"""Code points up to which a line is a label and its value, colon or not."""
_SHORT_LINE = 160
"""Code points up to which a line states one thing."""
_CODE = re.compile(r"\d{9,}")
"""A row of digits that nothing parts: amounts of this size have separators."""
SEPARATOR = "\u0000"
"""Stands between the readings of the page, so that no span runs from one into the next."""


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
            text.replace(CELLS, SEPARATOR) if block.cells else text
            for block, text in zip(self.blocks, self._texts(), strict=True)
        )
        if not text.strip():
            return []
        readings = [one.replace("\n", end) for one in spellings(text) for end in ("\n", ", ", " ")]
        readings += self.also.get("span", ())
        found = _CHUNK.findall(SEPARATOR.join(readings))
        spelt = {chunk: json.dumps(chunk, ensure_ascii=False)[1:-1] for chunk in set(found)}
        return [spelt[chunk] for chunk in found]

    def _texts(self) -> Iterator[str]:
        for block in self.blocks:
            yield block.span.of(self.document.text)

    @property
    def lines(self) -> tuple[str, ...]:
        """See `PageLines.lines`."""
        return self.page_lines.lines

    @cached_property
    def page_lines(self) -> PageLines:
        """The page in lines and lists."""
        return PageLines(self.document, with_listed_headings(self.blocks))

    def named_durations(self, key: str) -> tuple[str, ...]:
        """The lengths of time whose label names the field `key` (`Cook time: 30 min` for `cook_time`), as JSON text."""
        told = (one for one in self.found.durations if self._is_labelled(one.span))
        labels = ((one.value, self._labels.of(one.span)[:1]) for one in told)
        return tuple(_strings(value for value, label in labels if any(names_field(key, text) for text in label)))

    def servings(self) -> tuple[str, ...]:
        """For how many the page says that it is, as JSON text."""
        return tuple(_strings(servings(self.page_lines.lines)))

    def _is_labelled(self, span: Span) -> bool:
        """Whether a colon is before a place, or its line is no sentence."""
        block = self.document.block_at(span.start)
        before = self.document.text[: span.start].rstrip()
        return before.endswith((":", "：")) or (block is not None and len(block.span) <= _LABELLED)

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.document)

    @cached_property
    def addresses(self) -> tuple[tuple[str, ...], ...]:
        """The postal addresses, each in all the ways in which it may begin and end."""
        return postal_addresses(self.document, self.blocks)

    @cached_property
    def authors(self) -> tuple[str, ...]:
        """The names in the page's byline."""
        return bylines(self.document, self.blocks, self.found.moments)

    @cached_property
    def numbers(self) -> tuple[Decimal, ...]:
        """Every value that a number on the page can mean."""
        values = (value for number in self.found.numbers for value in (number.value, *number.alternatives))
        return tuple(dict.fromkeys(values))

    @cached_property
    def codes(self) -> frozenset[Decimal]:
        """Of the numbers those that are only written as a long row of digits, as barcodes and telephone numbers are."""
        written = [(n.value, n.span.of(self.document.text)) for n in self.found.numbers]
        rows = {value for value, text in written if _CODE.fullmatch(text)}
        return frozenset(rows - {value for value, text in written if not _CODE.fullmatch(text)})

    @cached_property
    def currencies(self) -> tuple[str, ...]:
        """ISO codes of the currencies that stand beside numbers."""
        return tuple(dict.fromkeys(n.currency for n in self.found.numbers if n.currency))


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


def _titles(offers: PageOffers, node: Node) -> Iterator[str]:
    title = page_title(offers.document, offers.blocks)
    fits = title is not None and len(title) <= node.get("maxLength", 2000)
    return _strings(spellings(title)) if title is not None and fits else _lines(offers, node)


def _addresses(offers: PageOffers, node: Node) -> Iterator[str]:
    most = node.get("maxLength", 300)
    found = (text for runs in offers.addresses for text in runs if len(text) <= most)
    return _strings(form for text in found for form in spellings(text))


def _organizations(offers: PageOffers, node: Node) -> Iterator[str]:
    most = node.get("maxLength", 300)
    return _strings(name for name in organizations(offers.lines) if len(name) <= most)


def _bylines(offers: PageOffers, node: Node) -> Iterator[str]:
    """Who wrote the page as it says; else the site."""
    names = offers.authors or filter(None, (site_name(offers.document, offers.blocks),))
    return _strings(form for name in names if len(name) <= node.get("maxLength", 300) for form in spellings(name))


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
    """As written (4908.00) and as short as it goes (4908), within the leaf's bounds; where the leaf asks for an amount,
    not the codes of a page that has amounts."""
    apart = () if node.get("type") == "integer" else offers.codes
    values = [value for value in offers.numbers if _within(value, node)]
    amounts = [value for value in values if value not in apart] or values
    return iter(dict.fromkeys(form for value in amounts for form in _forms(value, node)))


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
    "title": _titles,
    "item": _lines,
    "byline": _bylines,
    "link": _links,
    "date": _dates,
    "datetime": _datetimes,
    "duration": _durations,
    "number": _numbers,
    "currency": _currencies,
}
"""Where a value comes from -> the values of the page; where that is none, the field has none."""
_OFFERED = {**_LISTS, "address": _addresses, "organization": _organizations}
_COPIED = ("span", "address", "organization")
"""What can be copied from any place of the page where nothing better is offered."""
