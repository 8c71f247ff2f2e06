"""Blocks that are parts of one thing on the page, though each has a line of its own: an amount and what it is of, a
label and its value."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from lookstruct.pipeline.holding.whole_lists import list_path
from lookstruct.pipeline.values.currencies import SIGNS
from lookstruct.schemas.document import Block, BlockKind, Document

_AMOUNT = re.compile(r"[^\w\s]{0,2}[\d\u00bc-\u00be\u2150-\u215e].{0,24}", re.DOTALL)
"""What begins with a number and is short: `2 1/2 cups`, `½ tsp`, `1`."""
_PRICE = re.compile(rf"[{re.escape(SIGNS)}]|\b(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|kr|zł|Kč|Ft|RM|Rs)\b")
_BARE_NUMBER = re.compile(r"[\d\u00bc-\u00be\u2150-\u215e][\d\u00bc-\u00be\u2150-\u215e\s/.,-]{0,8}")
_MOST_PARTS = 4
_LEAST_PAIRS = 3
_MOST_CHARS = 200
_LABEL_CHARS = 32
_VALUE_CHARS = 80


def split_items(document: Document, blocks: Sequence[Block]) -> list[tuple[int, ...]]:
    """Runs of block numbers that are one item which begins with an amount: `2 1/2 cups` above `flour`.

    Such an item reads as one line. In a list it has two to four blocks, short altogether; outside lists two that share
    an element, and perhaps a remark in brackets, near another such item; or a number and a line in turn, three times at
    least.
    """
    runs = _runs(_owners(blocks))
    items = [run for run in runs if _is_one_item(document, [blocks[number] for number in run])]
    listed = _as_most_are(blocks, runs, [run for run in items if blocks[run[0]].kind is BlockKind.LIST_ITEM])
    boxed = [run for run in items if blocks[run[0]].kind is not BlockKind.LIST_ITEM]
    pairs = (pair for run in runs for pair in _in_turn(document, blocks, run))
    return sorted([*listed, *_near_another(boxed), *pairs])


def _as_most_are(
    blocks: Sequence[Block], runs: Sequence[tuple[int, ...]], joined: Sequence[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """Items of several lines in lists where most of such items are one line: `grated parmesan` above `to serve`."""
    counts = Counter(list_path(blocks[run[0]]) for run in joined)
    several = [
        run for run in runs if 2 <= len(run) <= _MOST_PARTS and sum(len(blocks[n].span) for n in run) <= _MOST_CHARS
    ]
    all_counts = Counter(list_path(blocks[run[0]]) for run in several)
    usual = {path for path, count in counts.items() if 2 * count >= all_counts[path]}
    return [run for run in several if run in joined or list_path(blocks[run[0]]) in usual]


def _near_another(runs: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Those, in page order, that begin a few blocks before or after another."""
    gaps = [math.inf, *(after[0] - before[0] for before, after in pairwise(runs)), math.inf]
    return (run for run, before, after in zip(runs, gaps, gaps[1:], strict=False) if min(before, after) <= _MOST_PARTS)


def _runs(owners: Sequence[str | None]) -> list[tuple[int, ...]]:
    """Numbers of neighbours that have the same owner, run by run."""
    runs: list[list[int]] = []
    for number, owner in enumerate(owners):
        if runs and owner is not None and owner == owners[number - 1]:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [tuple(run) for run in runs]


def _owners(blocks: Sequence[Block]) -> list[str | None]:
    """What each block is part of; a paragraph with another one in its element is that element's, as the other is."""
    owners = [list_item(block) for block in blocks]
    for number, (outer, inner) in enumerate(pairwise(blocks)):
        are_lines = outer.kind is inner.kind is BlockKind.PARAGRAPH
        if are_lines and inner.dom_path.startswith(f"{outer.dom_path} > "):
            owners[number] = owners[number + 1] = outer.dom_path
        elif are_lines and outer.dom_path.startswith(f"{inner.dom_path} > "):  # the element's own text comes last
            owners[number] = owners[number + 1] = inner.dom_path
    return owners


def list_item(block: Block) -> str | None:
    """The DOM path of the list item that a block is in, of the element around a paragraph; None for other blocks."""
    steps = block.dom_path.split(" > ")
    if block.kind is BlockKind.PARAGRAPH:
        return " > ".join(steps[:-1])
    if block.kind is not BlockKind.LIST_ITEM:
        return None
    last = max((at for at, step in enumerate(steps) if step == "li" or step.startswith("li:")), default=None)
    return None if last is None else " > ".join(steps[: last + 1])


def _is_one_item(document: Document, parts: Sequence[Block]) -> bool:
    if not 2 <= len(parts) <= _MOST_PARTS or sum(len(part.span) for part in parts) > _MOST_CHARS:
        return False
    first, second, *more = (part.span.of(document.text) for part in parts)
    is_listed = parts[0].kind is BlockKind.LIST_ITEM
    is_boxed = (
        not second[0].isdigit() and not _PRICE.search(first) and (not more or [text[0] for text in more] == ["("])
    )
    return _AMOUNT.fullmatch(first) is not None and (is_listed or is_boxed)


def _in_turn(document: Document, blocks: Sequence[Block], run: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of a bare number and the line after it, in a run of paragraphs that holds three such pairs at least."""
    texts = {number: blocks[number].span.of(document.text) for number in run}
    bare = {number for number, text in texts.items() if _BARE_NUMBER.fullmatch(text)}
    pairs = [
        (n, n + 1) for n in sorted(bare) if n + 1 in texts and n + 1 not in bare and len(texts[n + 1]) < _MOST_CHARS
    ]
    is_long = len(run) > _MOST_PARTS and blocks[run[0]].kind is BlockKind.PARAGRAPH
    return pairs if is_long and len(pairs) >= _LEAST_PAIRS else []


def labelled_values(document: Document, blocks: Sequence[Block]) -> frozenset[int]:
    """Numbers of blocks that are the value of the label in the block above: `Prep Time:` above `40 mins`.

    A label ends with a colon. One alone may be the heading of what follows, so two in a row are asked for.
    """
    pairs = [n for n in range(1, len(blocks)) if _is_pair(document, blocks[n - 1], blocks[n])]
    in_rows = {number for a, b in pairwise(pairs) if b - a == 2 for number in (a, b)}
    return frozenset(in_rows)


def _is_pair(document: Document, label: Block, value: Block) -> bool:
    if label.kind is not BlockKind.PARAGRAPH or value.kind is not BlockKind.PARAGRAPH:
        return False
    left, right = label.span.of(document.text), value.span.of(document.text)
    return left.endswith(":") and len(left) <= _LABEL_CHARS and len(right) <= _VALUE_CHARS and not right.endswith(":")
