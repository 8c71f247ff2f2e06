"""A field's key + the page's lists and lines -> those that the page itself says to be the field's (`stated`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from lookstruct.pipeline.holding.field_names import is_named
from lookstruct.pipeline.holding.page_lines import Run

_SENTENCE = 60
"""Code points from which a line is text and no label or value."""
_MOST_BETWEEN = 2
"""Other lines for each line of text: where there are more, the text only comes after them."""


def stated(key: str, runs: Iterable[Run]) -> list[Run]:
    """The lists under what names `key`, in page order, without what repeats one above; or the lines there.

    Lines where there are no lists, or where two at least come first that are sentences or more text than the lists. A
    single line is no list.
    """
    in_order = sorted(runs, key=lambda run: run.first)
    named = each_once(run for run in in_order if is_named(key, run.names))
    lists = _without_repeats(run for run in named if len(run.items) > 1)
    title = lists[0].names[:1] if lists else ()
    lines = [run for run in takewhile(lambda run: len(run.items) == 1, named) if run.items[0][0] not in title]
    n_sentences = sum(run.n_chars > _SENTENCE for run in lines)
    if lists and n_sentences < 2 and (len(lines) < 2 or _n_chars(lines) <= _n_chars(lists)):
        return lists
    told = _of_one_kind(lines)
    return list(told) if len(told) > 1 else []


def each_once(runs: Iterable[Run]) -> list[Run]:
    """Runs in their order, without those that say what an earlier one said."""
    found: dict[tuple[tuple[str, ...], ...], Run] = {}
    for run in runs:
        found.setdefault(run.items, run)
    return list(found.values())


def _without_repeats(lists: Iterable[Run]) -> list[Run]:
    """Lists most of whose items have not come yet: a page for print and a page by steps show them again."""
    kept: list[Run] = []
    seen: set[str] = set()
    for run in lists:
        items = {_plain(spellings[0]) for spellings in run.items}
        if 2 * len(items & seen) <= len(items):
            kept.append(run)
            seen |= items
    return kept


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _n_chars(runs: Iterable[Run]) -> int:
    return sum(len(spellings[0]) for run in runs for spellings in run.items)


def _of_one_kind(lines: Sequence[Run]) -> Sequence[Run]:
    """Of text with labels, times and captions between it the text; of short lines with a text behind them the lines."""
    places: dict[tuple[str, ...], list[Run]] = {}
    for run in lines:
        places.setdefault(run.place, []).append(run)
    text = max(places.values(), key=_n_chars, default=[])
    others = [run for run in lines if run not in text]
    if len(text) < 2 or _n_chars(text) <= _SENTENCE * len(text):
        return lines
    return text if len(others) <= _MOST_BETWEEN * len(text) else others
