"""Whether every known value that stands on its page can be written: shown to the model, let through by the grammar.

    python -m bench.reach --dataset recipe-scrapers --root CHECKOUT --half tune --limit 60 --exclude FILE

No model runs. Pages and halves are those of `bench.quality`. `shown` is the share of visible known values whose place
is among the blocks that the model is shown, `reachable` the share that the held grammar can spell (in the page's own
words, since a known value may differ in case or punctuation; of a list or time that the page names or shows only what
it leaves), `kept` the median share of the page's characters shown.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from bench.datasets.sample import Kind
from bench.quality import Asked, chosen_pages, parser
from bench.scoring import normal
from lookstruct.pipeline.grounding.align import ground
from lookstruct.pipeline.holding.offers import PageOffers
from lookstruct.pipeline.holding.shapes import meant
from lookstruct.pipeline.values.found import find_all
from lookstruct.pipeline.view import worth_showing
from lookstruct.schemas.document import Document
from lookstruct.schemas.record import EvidenceStatus

_KINDS = {"duration": Kind.DURATION, "number": Kind.NUMBER, "date": Kind.DATE}


@dataclass(frozen=True, slots=True)
class Reach:
    """One known value that stands on its page."""

    field: str
    page: str
    value: Any
    is_shown: bool
    is_reachable: bool


def main(argv: Sequence[str] | None = None) -> None:
    """Parse, look, print."""
    args = parser(__doc__).parse_args(argv)
    found: list[Reach] = []
    kept: list[float] = []
    for asked in chosen_pages(args):
        found += reaches(asked)
        kept.append(shown_share(asked.case.document))
    sys.stdout.write(f"{len(kept)} pages, {statistics.median(kept):.3f} of the characters shown in the median\n")
    for one in found:
        if not (one.is_shown and one.is_reachable):
            place = "reachable" if one.is_reachable else "shown" if one.is_shown else "neither"
            sys.stdout.write(f"  {place:9} {one.page} {one.field} {json.dumps(one.value, ensure_ascii=False)[:150]}\n")
    for field, share in _table(found):
        sys.stdout.write(f"{field:40} {share}\n")


def _table(found: Sequence[Reach]) -> Iterator[tuple[str, str]]:
    counts = Counter(one.field for one in found)
    shown = Counter(one.field for one in found if one.is_shown)
    reachable = Counter(one.field for one in found if one.is_reachable)
    for field, n in [*counts.items(), ("all", len(found))]:
        n_shown, n_reached = (c.total() if field == "all" else c[field] for c in (shown, reachable))
        yield field, f"{n:5} visible, shown {n_shown / n:.4f}, reachable {n_reached / n:.4f}"


def reaches(asked: Asked) -> Iterator[Reach]:
    """Every known value that stands on the page."""
    document, schema = asked.case.document, asked.case.schema
    blocks = worth_showing(document)
    offers = PageOffers(document, blocks, find_all(document))
    leaves = _leaf_schemas(schema.grammar_schema)
    gold = asked.case.sample.gold
    for pointer, one in ground(document, gold, schema.json_schema).items():
        if one.status in (EvidenceStatus.EXACT, EvidenceStatus.NORMALISED) and one.span is not None:
            name, _, number = pointer[1:].partition("/")
            value = gold[name][int(number)] if number else gold[name]
            is_shown = any(block.span.overlaps(one.span) for block in blocks)
            reachable = can_write(offers, name, leaves[name], value, one.text or "")
            yield Reach(f"{asked.dataset.name}.{name}", asked.case.sample.path, value, is_shown, reachable)


def can_write(offers: PageOffers, name: str, leaf: Mapping[str, Any], value: Any, on_page: str) -> bool:
    """Whether the held grammar lets a value of the field `name` through, in the form that the page has: `on_page`."""
    source, options = leaf.get("x-source"), _options(offers, name, leaf)
    if source == "span" or (source in ("address", "organization") and not options):  # then any text of the page
        return spells(offers.chunks, json.dumps(" ".join(on_page.split()), ensure_ascii=False)[1:-1])
    if source is None:
        return True
    kind = _KINDS.get(source, Kind.TEXT)
    return normal(value, kind) in {normal(json.loads(option), kind) for option in options}


def _options(offers: PageOffers, name: str, leaf: Mapping[str, Any]) -> list[str]:
    """What the page leaves to choose from: the list or time that it names, else all of its kind."""
    told: Sequence[str] = ()
    if leaf.get("x-source") == "item":
        page = offers.page_lines
        runs = meant(name, (*page.runs, *page.tables))
        told = [json.dumps(text) for run in runs for spelt in run.items for text in spelt]
    elif leaf.get("x-source") == "duration":
        told = offers.named_durations(name)
    return list(told or offers.options(leaf))


def spells(chunks: Sequence[str], text: str) -> bool:
    """Whether `text` is made of whole neighbouring chunks.

    >>> spells(["12", " ", "Main", " ", "St"], "12 Main"), spells(["12", " ", "Mainz"], "12 Main")
    (True, False)
    """
    joined, edges = "".join(chunks), {0, *accumulate(map(len, chunks))}
    at = joined.find(text)
    while at >= 0:
        if at in edges and at + len(text) in edges:
            return True
        at = joined.find(text, at + 1)
    return False


def shown_share(document: Document) -> float:
    """The share of a page's characters that the model is shown."""
    return sum(len(block.span) for block in worth_showing(document)) / max(1, len(document.text))


def _leaf_schemas(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Field -> the schema of its value, behind null and lists."""
    return {name: _core(node) for name, node in schema["properties"].items()}


def _core(node: Mapping[str, Any]) -> Mapping[str, Any]:
    for branch in node.get("anyOf", ()):
        if branch.get("type") != "null":
            return _core(branch)
    return _core(node["items"]) if node.get("type") == "array" else node


if __name__ == "__main__":
    main()
