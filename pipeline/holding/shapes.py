"""A field's key + the page's lists and lines -> those that are meant (`meant`): what stands under a heading that names
the field, and where none does, what looks like it.

Only two kinds of list are told by their looks: ingredients are short lines with an amount, and steps are the sentences
after them. Both are taken in whole: a small model that may choose among lines leaves half of them out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from lookstruct.pipeline.holding.field_names import asks_for
from lookstruct.pipeline.holding.marks import uncounted
from lookstruct.pipeline.holding.page_lines import Run
from lookstruct.pipeline.holding.servings import servings
from lookstruct.pipeline.holding.stated import each_once, stated

_NUMBER = r"(?:\d+(?:[.,/]\d+)?|\d*\s?[\u00bc-\u00be\u2150-\u215e]|\d+\s\d/\d)"
_AMOUNT_FIRST = re.compile(
    rf"\W{{0,2}}{_NUMBER}(?:\s?[-–x]\s?{_NUMBER})?:?\s?[^\W\d_](?!\w*\s*$)|\W{{0,2}}{_NUMBER}\s\S.*"
)
_AMOUNT_LAST = re.compile(rf".*[^\W\d_].*?[\s:：](?:{_NUMBER}\s?[^\W\d]{{0,6}}\.?(?:\s?\(.*\))?)")
_TIME = re.compile(r"\d+\s?(?:h|hr|hrs|min|mins|minutes?|minuten|hours?|std|uur)\b.*", re.IGNORECASE)
_LEAST = 3
"""Lines with an amount from which on they are a list of ingredients."""
_FEW = 3
"""One in so many lines under a heading must look right; else the heading names something else."""
_MOST_CHARS = 120
"""Code points of a line that is an ingredient."""
_LEAST_CHARS, _LEAST_WORDS = 12, 4
"""Of a line that is a sentence."""
_LONG = 150
"""Code points of the one paragraph that holds all steps."""
_SENTENCE_END = (".", "!", "。", "！", "…", ".)", "।")
_MOST_BETWEEN = 4
"""Blocks between two parts of one list."""
_NEAR = 12
"""Blocks between the ingredients and the first step."""

Looks = Callable[[str], bool]


def meant(key: str, runs: Iterable[Run]) -> list[Run]:
    """The runs that `key` asks for, in page order; none where the page neither names them nor shows which they are.

    >>> amounts = Run((("200 g flour",), ("2 eggs",), ("salt",), ("1 tbsp sugar",)), first=1)
    >>> meant("recipe_ingredient", [amounts])[0].items == amounts.items, meant("feature", [amounts])
    (True, [])
    """
    looks = _looks_of(key)
    if looks is None:
        return stated(key, runs)
    in_order = sorted(each_once(runs), key=lambda run: run.first)
    items = [item for run in _found(key, looks, in_order) for item in run.items if not _is_title(item[0], looks)]
    return [Run(uncounted(items))] if items else []


def _looks_of(key: str) -> Looks | None:
    if asks_for(key, "ingredient"):
        return has_amount
    return is_text if asks_for(key, "instruction") else None


def _found(key: str, looks: Looks, runs: Sequence[Run]) -> Sequence[Run]:
    """What stands under a heading that names `key` if it looks so, else what looks so, else what stands there."""
    told = _stated_behind(key, runs) if looks is is_text else stated(key, runs)
    named = _lists_that_look_so(looks, told) if any(len(run.items) > 1 for run in told) else _lines_alike(looks, told)
    found = named if _FEW * _n_of(named, looks) >= _n_items(named) > 0 else _shaped(looks, runs) or told
    return _with_near(found, runs) if looks is has_amount else found


def _stated_behind(key: str, runs: Sequence[Run]) -> Sequence[Run]:
    """The named steps behind the ingredients, if there are any: before them a page tells in passing how it is done. Not
    if what is named there is no text, or little beside what is named in all: then it is about something else."""
    parts = _found("ingredient", has_amount, runs)
    everywhere = stated(key, runs)
    behind = stated(key, [run for run in runs if run.first >= _end(parts[0])]) if parts else []
    n_text = _n_of(behind, is_text)
    return (
        behind
        if n_text
        and behind[0].first - _end(parts[-1]) <= _NEAR
        and _FEW * n_text >= max(_n_items(behind), _n_of(everywhere, is_text))
        else everywhere
    )


def _lists_that_look_so(looks: Looks, told: Sequence[Run]) -> Sequence[Run]:
    """Of lists under headings those that look so in part, if one does for the most part."""
    is_sure = any(2 * _n_of([run], looks) >= len(run.items) for run in told)
    return [run for run in told if _FEW * _n_of([run], looks) >= len(run.items)] if is_sure else told


def _lines_alike(looks: Looks, told: Sequence[Run]) -> Sequence[Run]:
    """Of lines under a heading those that lie in the page as most of the right looks do."""
    fit = {place for place, lines in _by_place(told).items() if 2 * _n_of(lines, looks) >= len(lines)}
    kept = [run for run in told if run.place in fit and not servings(run.items[0][:1])]
    return kept if len(kept) > 1 else told


def _is_title(item: str, looks: Looks) -> bool:
    """Whether a line among ingredients only says what the next ones are for."""
    return looks is has_amount and item.endswith((":", "："))


def _with_near(found: Sequence[Run], runs: Sequence[Run]) -> Sequence[Run]:
    """Lists of amounts and those near behind them: the parts of one list may have headings of one size."""
    if not found or len(found[-1].items) < 2:
        return found
    alike = (run for run in runs if run.place == found[-1].place and run.first > found[-1].first)
    behind = [run for run in alike if _FEW * _n_of([run], has_amount) >= len(run.items)]
    return [*found, *next(_near_each_other([found[-1], *behind]))[1:]]


def _shaped(looks: Looks, runs: Sequence[Run]) -> Sequence[Run]:
    return _with_amounts(runs) if looks is has_amount else _steps(runs)


def _with_amounts(runs: Sequence[Run]) -> Sequence[Run]:
    """The stretch of the page with the most lines that have an amount."""
    best = max(_stretches(runs, has_amount), key=lambda stretch: _n_of(stretch, has_amount), default=())
    return best if _n_of(best, has_amount) >= _LEAST else ()


def _steps(runs: Sequence[Run]) -> Sequence[Run]:
    """The first stretch of sentences after the ingredients, or the paragraph right after them."""
    parts = _found("ingredient", has_amount, runs)
    if not parts:
        return ()
    end = _end(parts[-1])
    after = [run for run in runs if run.first >= end and run not in parts]
    for stretch in _stretches(after, is_text):
        if stretch[0].first - end > _NEAR:
            break
        if _n_of(stretch, is_text) > 1:
            return stretch
    first = next((run for run in after[:_MOST_BETWEEN] if is_text(run.items[0][0])), None)
    return [first] if first is not None and first.n_chars >= _LONG else ()


def _stretches(runs: Sequence[Run], looks: Looks) -> list[Sequence[Run]]:
    """The lists that look so, those near each other as one, and lines that look so, with what lies alike between."""
    lists = _near_each_other(_lists(runs, looks))
    return sorted([*lists, *_alike(runs, looks)], key=lambda stretch: stretch[0].first)


def _lists(runs: Iterable[Run], looks: Looks) -> list[Run]:
    listed = (run for run in runs if len(run.items) > 1 or _is_listed(run))
    return [run for run in listed if 2 * _n_of([run], looks) >= len(run.items)]


def _near_each_other(lists: Sequence[Run]) -> Iterator[Sequence[Run]]:
    stretch = list(lists[:1])
    for above, below in pairwise(lists):
        if below.first - _end(above) > _MOST_BETWEEN:
            yield stretch
            stretch = []
        stretch.append(below)
    if stretch:
        yield stretch


def _alike(runs: Sequence[Run], looks: Looks) -> Iterator[Sequence[Run]]:
    """Lines that lie in the page alike, from the first to the last that looks so, if half of them do; not beyond a
    heading, unless it only counts."""
    lines = [run for run in runs if len(run.items) == 1 and run.place and not _is_listed(run)]
    for placed in (part for alike in _by_place(lines).values() for part in _under_one_heading(alike)):
        fit = [number for number, run in enumerate(placed) if looks(run.items[0][0])]
        within = placed[fit[0] : fit[-1] + 1] if fit else []
        if 2 * len(fit) > len(within) > 1:
            yield within


def _under_one_heading(lines: Sequence[Run]) -> Iterator[Sequence[Run]]:
    begin = 0
    for number in range(1, len(lines) + 1):
        above, below = lines[number - 1].names[:1], lines[number].names[:1] if number < len(lines) else None
        if above != below and not (below and below[0][:1].isdigit()):
            yield lines[begin:number]
            begin = number


def _by_place(lines: Iterable[Run]) -> Mapping[tuple[str, ...], list[Run]]:
    found: dict[tuple[str, ...], list[Run]] = {}
    for run in lines:
        found.setdefault(run.place, []).append(run)
    return found


def _is_listed(run: Run) -> bool:
    return run.place[-1:] == ("li",)


def _end(run: Run) -> int:
    """About which block comes after a list."""
    return run.first + len(run.items)


def _n_items(runs: Iterable[Run]) -> int:
    return sum(len(run.items) for run in runs)


def _n_of(runs: Iterable[Run], looks: Looks) -> int:
    return sum(looks(spellings[0]) for run in runs for spellings in run.items)


def has_amount(line: str) -> bool:
    """Whether a line says how much of what.

    >>> [has_amount(text) for text in ("200 g flour", "½ cup sugar", "2 eggs", "Butter 100 g", "卵 2個")]
    [True, True, True, True, True]
    >>> [has_amount(text) for text in ("20 min", "Salt", "12", "4.8/5", "Bake at 200 degrees until done.")]
    [False, False, False, False, False]
    """
    if len(line) > _MOST_CHARS or line.endswith((".", "。")) or _TIME.fullmatch(line):
        return False
    return _AMOUNT_FIRST.match(line) is not None or _AMOUNT_LAST.fullmatch(line) is not None


def is_text(line: str) -> bool:
    """Whether a line is a sentence or more.

    >>> is_text("Stir in the water, then knead."), is_text("1 bag mini marshmallows"), is_text("Share Tweet Pin it")
    (True, False, False)
    """
    has_words = len(line.split()) >= _LEAST_WORDS or any(ord(one) > 0x3000 for one in line)
    return len(line) >= _LEAST_CHARS and has_words and line.rstrip().endswith(_SENTENCE_END)
