"""How right records are, on public pages with known values, beside what people use today: the same pages, one model.

    python -m bench.quality --dataset recipe-scrapers --root CHECKOUT --half tune --limit 8 --answers answers.jsonl

Pages are read from a checkout that the user names and never copied. Which pages: halves by a hash of the site (or
document), then in an order drawn by --seed, sites in turn, those that --exclude lists left out unseen, and of the rest
those with at most --max-chars characters of visible text on which at least half of the known values stand. Embedded
metadata is taken out of them first unless --keep-metadata says otherwise.

Arms: ours; metadata (what the page says about itself, the one arm that sees it); bare (a plain prompt, no grammar);
outlines (the same prompt through Outlines and transformers). With --answers FILE every answer is kept and a run that
was cut short, by --minutes or otherwise, goes on from there; --again ours forgets that arm's. Scores are over the
pages that all arms of the run have answered.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bench.answers import Answers
from bench.choosing import choose, excluded_hashes
from bench.datasets import DATASETS
from bench.datasets.sample import Dataset, Kind, Sample
from bench.quality_arms import Arm, Case, bare_arm, metadata_arm, ours_arm, outlines_arm
from bench.quality_report import Judged, judge, report, table
from bench.strip import without_metadata
from lookstruct.decoding.loading import LoadedModel, load_model
from lookstruct.extractors.clean import clean
from lookstruct.pipeline.grounding.align import ground
from lookstruct.schemas.document import Document, Page
from lookstruct.schemas.loader import load_schema
from lookstruct.schemas.record import EvidenceStatus

_NUMBER = re.compile(r"\d+")
_ON_PAGE = (EvidenceStatus.EXACT, EvidenceStatus.NORMALISED)
_MAKERS: Mapping[str, Callable[[LoadedModel], Arm]] = {"ours": ours_arm, "bare": bare_arm, "outlines": outlines_arm}
ARMS = ("metadata", *_MAKERS)


@dataclass(frozen=True, slots=True)
class Asked:
    """A page of a dataset, ready to be asked, and the part of its known values that stands on it."""

    dataset: Dataset
    case: Case
    visible: Mapping[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Parse, run, print, keep."""
    args = parser(__doc__).parse_args(argv)
    asked = list(chosen_pages(args))
    answers = Answers(args.answers)
    arms = args.arms.split(",")
    run(asked, arms, answers, args)
    judged = {arm: [j for page in asked if (j := _judged(arm, page, answers))] for arm in arms}
    shared = set.intersection(*({j.answer.page for j in some} for some in judged.values()))
    judged = {arm: [j for j in some if j.answer.page in shared] for arm, some in judged.items()}
    made = report(judged)
    sys.stdout.write(f"{len(shared)} of {len(asked)} pages answered by all arms\n\n{table(made)}\n")
    if args.json:
        settings = {key: str(value) for key, value in vars(args).items()}
        args.json.write_text(json.dumps({"settings": settings, **made}, indent=1, ensure_ascii=False), encoding="utf-8")


def parser(text: str | None) -> argparse.ArgumentParser:
    """The options that choose pages, and those of a run; `text` is what --help says first."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", action="append", choices=DATASETS, required=True, help="may be given many times")
    parser.add_argument("--root", action="append", type=Path, required=True, help="a checkout for each --dataset")
    parser.add_argument("--half", choices=("tune", "test"), required=True)
    parser.add_argument("--limit", action="append", type=int, help="pages: one number, or one for each --dataset")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--exclude", type=Path, help="a file of sha256 sums of owner/name:path")
    parser.add_argument("--max-chars", type=int, default=8000)
    parser.add_argument("--keep-metadata", action="store_true")
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--answers", type=Path, help="keep answers there, and take them from there")
    parser.add_argument("--again", default="", help="arms whose kept answers are made anew")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no page after it; 0 only scores")
    parser.add_argument("--json", type=Path, help="write the scores there")
    return parser


def chosen_pages(args: argparse.Namespace) -> Iterator[Asked]:
    """The pages that the options name, the first of each dataset, then the second: what is cut short is balanced."""
    limits = args.limit or [5]
    limits = limits * len(args.dataset) if len(limits) == 1 else limits
    hashes = excluded_hashes(args.exclude) if args.exclude else frozenset()
    columns: list[list[Asked]] = []
    for name, root, limit in zip(args.dataset, args.root, limits, strict=True):
        made: dict[str, Asked] = {}

        def fits(sample: Sample, name: str = name, made: dict[str, Asked] = made) -> bool:
            asked = prepare(DATASETS[name], sample, keep_metadata=args.keep_metadata)
            made[sample.path] = asked
            return len(asked.case.document.text) <= args.max_chars and is_readable(asked)

        samples = choose(DATASETS[name], root, args.half, limit=limit, seed=args.seed, hashes=hashes, fits=fits)
        columns.append([made[sample.path] for sample in samples])
    yield from (asked for row in zip_longest(*columns) for asked in row if asked is not None)


def prepare(dataset: Dataset, sample: Sample, *, keep_metadata: bool = False) -> Asked:
    """A page cleaned twice: with its metadata, for the arm that reads it, and without."""
    schema = load_schema(dataset.schema)
    html = sample.html()
    document = _cleaned(sample, html)
    shown = document if keep_metadata else _cleaned(sample, without_metadata(html))
    evidence = ground(shown, sample.gold, schema.json_schema)
    seen = {pointer for pointer, one in evidence.items() if one.status in _ON_PAGE}
    counts = {f"/{name}" for name in sample.gold if dataset.kinds.get(name) is Kind.COUNT}
    seen |= {pointer for pointer in counts if numbers_stand(str(sample.gold[pointer[1:]]), shown.text)}
    return Asked(dataset, Case(sample, shown, document, schema), visible_part(sample.gold, seen))


def numbers_stand(value: str, text: str) -> bool:
    """Whether every number of `value` is a number of `text`: "8 servings" stands where "Serves 8" does.

    >>> numbers_stand("8 servings", "Serves 8"), numbers_stand("8 servings", "in 18 minutes")
    (True, False)
    """
    return set(_NUMBER.findall(value)) <= set(_NUMBER.findall(text))


def _cleaned(sample: Sample, html: str) -> Document:
    return clean(Page(url=sample.url, final_url=sample.url, html=html))


def visible_part(gold: Mapping[str, Any], seen: set[str]) -> dict[str, Any]:
    """The known values whose JSON pointer is among `seen`.

    >>> visible_part({"a": "x", "b": ["y", "z"], "c": 1}, {"/b/1", "/c"})
    {'a': None, 'b': ['z'], 'c': 1}
    """
    return {
        name: [one for number, one in enumerate(value) if f"/{name}/{number}" in seen]
        if isinstance(value, list)
        else value
        if f"/{name}" in seen
        else None
        for name, value in gold.items()
    }


def is_readable(asked: Asked) -> bool:
    """Whether at least half of the known fields stand on the page: many pages fill themselves in by script."""
    return 2 * sum(bool(value) or value == 0 for value in asked.visible.values()) >= len(asked.visible) > 0


def run(asked: Sequence[Asked], arms: Sequence[str], answers: Answers, args: argparse.Namespace) -> None:
    """Lets every arm answer every page it has not answered yet, page by page, while there is time."""
    again = set(args.again.split(","))
    wanted = [(page, arm) for page in asked for arm in arms if arm in again or _answer(arm, page, answers) is None]
    if not wanted or args.minutes <= 0:
        return
    ready: dict[str, Arm] = {"metadata": metadata_arm()}
    if any(arm in _MAKERS for _, arm in wanted):
        loaded = load_model(args.model, dtype=args.dtype)
        ready |= {arm: make(loaded) for arm, make in _MAKERS.items() if arm in arms}
    until = time.monotonic() + 60 * args.minutes
    for page, arm in wanted:
        if time.monotonic() < until:
            answers.add(answer := ready[arm](page.case))
            sys.stderr.write(
                f"{arm:9} {answer.seconds:6.1f} s {answer.prompt_tokens:5} + {answer.new_tokens:4} tokens "
            )
            sys.stderr.write(f"{'valid  ' if answer.is_valid else 'invalid'} {answer.page}\n")


def _answer(arm: str, page: Asked, answers: Answers) -> Any:
    return answers.get(arm, page.case.sample.path)


def _judged(arm: str, page: Asked, answers: Answers) -> Judged | None:
    answer = _answer(arm, page, answers)
    return judge(answer, page.case.sample.gold, page.visible, page.dataset) if answer is not None else None


if __name__ == "__main__":
    main()
