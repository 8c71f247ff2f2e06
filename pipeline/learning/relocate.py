"""Where values stood on an earlier page + another page -> the record that would stand there, as a guess.

A value outside lists is looked for in the same element, and between the same words; where the element's text begins
otherwise, wherever those words stand. The items of a list are looked for in all rows that look like its rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.learning.places import Forms, Place, field_of, line_of
from lookstruct.pipeline.leaves import escape
from lookstruct.schemas.document import Block, Document, Span

if TYPE_CHECKING:
    from lookstruct.decoding.request import Candidate

_STEP = re.compile(r"^(.*?)(?::nth-of-type\((\d+)\))?$")
_ITEM = re.compile(r"^(?P<list>(?:/(?!\d+(?:/|$))[^/]+)*)/(?P<number>\d+)(?P<field>(?:/.*)?)$")
_MOST_ITEMS = 200
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Relocated:
    """A guess of the whole record; `n_found` of the `n_sought` places were found on the page."""

    data: Any
    n_found: int
    n_sought: int


def relocate(data: Any, places: Sequence[Place], document: Document, candidates: Iterable[Candidate]) -> Relocated:
    """`data` with each value replaced by what stands in its place now; values that stood nowhere are kept."""
    page = _Page(document, Forms(candidates))
    single = {place.pointer: place for place in places if _ITEM.match(place.pointer) is None}
    found = {pointer: value for pointer, place in single.items() if (value := page.value(place)) is not _ABSENT}
    lists = {name: page.items(of_list) for name, of_list in _by_list(places).items()}
    guess = _filled(data, "", found, single, lists)
    n_lists = sum(1 for items in lists.values() if items)
    return Relocated(guess, len(found) + n_lists, len(single) + len(lists))


def _by_list(places: Sequence[Place]) -> dict[str, dict[int, dict[str, Place]]]:
    """List -> item number -> the field's pointer inside the item -> its place."""
    lists: dict[str, dict[int, dict[str, Place]]] = {}
    for place in places:
        if (match := _ITEM.match(place.pointer)) is not None:
            item = lists.setdefault(match["list"], {}).setdefault(int(match["number"]), {})
            item[match["field"]] = place
    return lists


def _filled(
    value: Any,
    pointer: str,
    found: Mapping[str, Any],
    sought: Mapping[str, Place],
    lists: Mapping[str, list[dict[str, Any]]],
) -> Any:
    """The guess at one pointer; `_ABSENT` for what was sought in vain, so that nothing is guessed there."""
    if isinstance(value, dict):
        inner = {k: _filled(v, f"{pointer}/{escape(str(k))}", found, sought, lists) for k, v in value.items()}
        return {key: one for key, one in inner.items() if one is not _ABSENT}
    if isinstance(value, list):
        if pointer in lists:
            return [_item(_usual(value), fields) for fields in lists[pointer]] or _ABSENT
        return value
    if pointer in found:
        return found[pointer]
    return _ABSENT if pointer in sought else value


def _item(usual: Any, fields: Mapping[str, Any]) -> Any:
    """One item: what stands on the page, and for the other fields what all earlier items had."""
    if not isinstance(usual, dict):
        return fields.get("", "")
    names = {key: f"/{escape(str(key))}" for key in usual}
    item = {key: fields.get(names[key], one) for key, one in usual.items()}
    return {key: one for key, one in item.items() if one is not _ABSENT}


def _usual(items: Sequence[Any]) -> Any:
    """An item with each field that all items agree on, `_ABSENT` for the others; of plain values the first."""
    if not all(isinstance(item, dict) for item in items):
        return items[0]
    keys = dict.fromkeys(key for item in items for key in item)
    agreed = {key for key in keys if all(item.get(key) == items[0].get(key) for item in items)}
    return {key: items[0].get(key) if key in agreed else _ABSENT for key in keys}


def _typed(text: Any, like: Any) -> Any:
    """A relocated text as the JSON type that the value had."""
    if isinstance(like, int | float) and not isinstance(like, bool) and isinstance(text, str):
        try:
            number = float(text)
        except ValueError:
            return text
        return int(number) if number.is_integer() and isinstance(like, int) else number
    return text


class _Page:
    """One page, asked for places."""

    def __init__(self, document: Document, forms: Forms) -> None:
        self._text = document.text
        self._forms = forms
        self._blocks = document.blocks
        self._by_path: dict[str, list[Block]] = {}
        self._by_names: dict[tuple[str, ...], list[Block]] = {}
        for block in document.blocks:
            self._by_path.setdefault(block.dom_path, []).append(block)
            self._by_names.setdefault(_names(block.dom_path), []).append(block)

    def value(self, place: Place) -> Any:
        """What stands in `place` on this page; `_ABSENT` if nothing does."""
        every = self._by_path.get(place.path, [])
        here = [*every[place.line : place.line + 1], *every[: place.line], *every[place.line + 1 :]]
        marked = bool(place.anchor.strip() or place.before.strip())
        elsewhere = self._by_names.get(_names(place.path), []) if marked else []
        for block in [*here, *elsewhere]:
            if (value := self._in_block(place, block, strict=marked)) is not _ABSENT:
                return value
        return self._in_block(place, here[0], strict=False) if place.line < len(every) else _ABSENT

    def items(self, items: Mapping[int, Mapping[str, Place]]) -> list[dict[str, Any]]:
        """The items that stand on this page where rows look like those of the earlier one."""
        common = set.intersection(*(set(fields) for fields in items.values()))
        moving = _moving([[fields[name].path for _, fields in sorted(items.items())] for name in sorted(common)])
        first = items[min(items)]
        if moving is None:
            alone = {name: value for name in common if (value := self.value(first[name])) is not _ABSENT}
            return [alone] if len(items) == 1 and alone else []
        start = min(_at(first[name].path, moving) for name in common)
        rows: dict[tuple[int, ...], dict[str, Any]] = {}
        for field, place in sorted(first.items()):
            for block in self._by_names.get(_names(place.path), []):
                key = _at(block.dom_path, moving)
                alike = _still(block.dom_path, moving) == _still(place.path, moving)
                if key >= start and alike and line_of(block, self._blocks) == place.line:
                    self._note(rows.setdefault(key, {}), field, place, block)
        return [row for _, row in sorted(rows.items()) if common <= set(row)][:_MOST_ITEMS]

    def _note(self, row: dict[str, Any], field: str, place: Place, block: Block) -> None:
        value = self._in_block(place, block, strict=False) if len(block.cells) == place.n_cells else _ABSENT
        if value is not _ABSENT and field not in row:
            row[field] = value

    def _in_block(self, place: Place, block: Block, *, strict: bool) -> Any:
        """What stands in the place's part of a block; `strict` wants the same words before it."""
        if place.cell is not None:
            if place.cell >= len(block.cells):
                return _ABSENT
            field = block.cells[place.cell].span
            if strict and place.anchor and block.cells[0].span.of(self._text).strip() != place.anchor.strip():
                return _ABSENT
        else:
            field = field_of(block, block.span.start)[1] if not block.cells else block.span
        span = self._between(place, field, strict=strict and bool(place.before.strip()))
        return _ABSENT if span is None else self._read(place, span)

    def _between(self, place: Place, field: Span, *, strict: bool) -> Span | None:
        """The part of `field` between the words that stood around the value."""
        text = field.of(self._text)
        start = _after(text, place.before, strict=strict)
        if start is None and not place.kind:
            return None
        start = start or 0
        ends = (text.find(words, start) for words in (place.after, _separator(place.after)) if words)
        end = next((at for at in ends if at > start), len(text))
        return Span(field.start + start, field.start + end) if end > start else None

    def _read(self, place: Place, span: Span) -> Any:
        """The text of a span as the kind of value that stood there."""
        text = span.of(self._text).strip()
        if not place.kind:
            if place.text == place.value:
                return text or _ABSENT
            return place.value if text.startswith(place.text) else _ABSENT
        value = self._forms.value(span, place.kind)
        return _ABSENT if value is None else _typed(value, place.value)


def _after(text: str, before: str, *, strict: bool) -> int | None:
    """Where the text begins that follows the words `before`, or, unless `strict`, other words set off alike.

    >>> _after("10:30, Main Hall", "9:00, ", strict=False), _after("10:30, Main Hall", "9:00, ", strict=True)
    (7, None)
    """
    if (at := text.find(before)) >= 0:
        return at + len(before)
    mark = _separator(before[::-1])[::-1]
    if strict or not mark.strip():
        return None
    at = text.find(mark)
    return at + len(mark) if at >= 0 else None


def _separator(words: str) -> str:
    """What words begin with before their first letter or digit: the comma after a value, not what follows it.

    >>> _separator(", 45.50 EUR"), _separator("EUR")
    (', ', '')
    """
    return words[: next((at for at, one in enumerate(words) if one.isalnum()), len(words))]


def _names(path: str) -> tuple[str, ...]:
    """The steps of a DOM path without their numbers."""
    return tuple(_split(step)[0] for step in path.split(" > "))


def _numbers(path: str) -> tuple[int, ...]:
    """The numbers of a DOM path's steps; 1 for an element that is alone."""
    return tuple(_split(step)[1] for step in path.split(" > "))


def _split(step: str) -> tuple[str, int]:
    match = _STEP.match(step)
    assert match is not None
    return match[1], int(match[2] or 1)


def _moving(fields: Sequence[Sequence[str]]) -> int | None:
    """Which step of the paths tells items apart, given each field's paths item by item: the first that differs. Of a
    single item the last row or list item; None where items stand in one element."""
    for paths in fields:
        if len({_names(path) for path in paths}) == 1 and len(set(paths)) == len(paths) > 1:
            steps = enumerate(zip(*map(_numbers, paths), strict=True))
            return next(step for step, numbers in steps if len(set(numbers)) > 1)
    if not fields or len(fields[0]) > 1:
        return None
    names = _names(fields[0][0])
    rows = [step for step, name in enumerate(names) if name in ("tr", "li", "article", "dt")]
    return rows[-1] if rows else None


def _at(path: str, step: int) -> tuple[int, ...]:
    """Which item a path is in."""
    numbers = _numbers(path)
    return numbers[step : step + 1]


def _still(path: str, step: int) -> tuple[int, ...]:
    """The numbers of all other steps."""
    numbers = _numbers(path)
    return (*numbers[:step], *numbers[step + 1 :])
