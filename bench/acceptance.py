"""Recorded outputs -> what every forward evaluated and what came of it, as numbers: enough to time any other model.

    python -m bench.replay record --half test --out traces/         # with the real model, once
    python -m bench.acceptance traces/ --out bench/acceptance.json  # replayed, exactly

Speed depends on how many rows a forward has and how many of them are accepted, not on what they say. So a model of
any size with random weights, on any device, can run the forwards that lookahead decoding would run (`bench.gpu`).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.questions import Case, cases, chosen
from bench.replay import Trace, vocabulary_of
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.replay import Replay
from lookstruct.decoding.request import Completion, Options

BUDGETS = (16, 32, 64, 128)
LOOKUP, NGRAM = 10, 2
"""What transformers' prompt lookup drafts by default: tokens a step, and the longest match it looks for."""
LIMIT = 2500


@dataclass(frozen=True, slots=True)
class Forward:
    """`pending` committed tokens and `nodes` drafted ones were evaluated; `accepted` tokens came out."""

    pending: int
    nodes: int
    accepted: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """One page: sizes, the forwards of each policy by name, and what a step takes the host itself, in CPU seconds."""

    page: str
    prompt_tokens: int
    new_tokens: int
    host_s: float
    policies: dict[str, list[Forward]]


def main(argv: Sequence[str] | None = None) -> None:
    """Parse, replay, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", type=Path)
    parser.add_argument("--pages", help="names, separated by commas; all that are recorded if left out")
    parser.add_argument("--model", default="bundled", help="the model that recorded them")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    save(args.out, list(replayed(args.traces, args.pages.split(",") if args.pages else None, args.model)))


def replayed(traces: Path, names: Sequence[str] | None, model: str) -> Iterator[Recorded]:
    """The pages under each budget.

    A prompt that has changed since its output was recorded makes no difference here: forwards are counted, not judged.
    """
    vocabulary = vocabulary_of(model)
    replay = Replay(vocabulary, CostModel.free())
    for case in cases(chosen(names), vocabulary.tokenizer):
        trace = Trace(**json.loads((traces / f"{case.page.name}.json").read_text(encoding="utf-8")))
        replay.recording.token_ids = tuple(trace.token_ids)
        try:
            yield _page(replay, case, trace)
        except AssertionError:
            sys.stderr.write(f"{case.page.name}: what was recorded is not allowed any more; record it again\n")


def _page(replay: Replay, case: Case, trace: Trace) -> Recorded:
    runs, host_s = dict[str, Completion](), list[float]()
    for n in BUDGETS:
        start = time.process_time()
        runs[f"lookahead, {n} nodes"] = run = replay.generate(
            case.question.prompt.ids,
            grammar=case.question.grammar,
            hints=case.question.hints,
            options=Options(max_new_tokens=LIMIT, nodes=n),
        )
        host_s.append((time.process_time() - start) / max(1, run.stats.forwards))
    return Recorded(
        case.page.name,
        len(trace.prompt_ids),
        len(trace.token_ids),
        round(statistics.median(host_s), 5),
        {name: forwards(run) for name, run in runs.items()}
        | {"prompt lookup": prompt_lookup(trace.prompt_ids, trace.token_ids)},
    )


def forwards(run: Completion) -> list[Forward]:
    """The steps of a run without a window: whatever is no node was pending."""
    return [Forward(step.rows - step.nodes, step.nodes, step.accepted) for step in run.steps]


def prompt_lookup(prompt: Sequence[int], output: Sequence[int]) -> list[Forward]:
    """What drafting the continuation of the last n-gram's first occurrence would have got accepted, step by step.

    >>> prompt_lookup([1, 2, 3, 4], [9, 1, 2, 3, 4])[-1]
    Forward(pending=1, nodes=5, accepted=3)
    """
    made, steps = 0, list[Forward]()
    while made < len(output):
        text = [*prompt, *output[:made]]
        draft = _continuation(text)
        right = next((i for i, t in enumerate(draft) if output[made + i : made + i + 1] != [t]), len(draft))
        accepted = min(right + 1, len(output) - made)
        steps.append(Forward(1, len(draft), accepted))
        made += accepted
    return steps


def _continuation(text: Sequence[int]) -> list[int]:
    for size in range(NGRAM, 0, -1):
        tail = list(text[-size:])
        for start in range(len(text) - size):
            if list(text[start : start + size]) == tail:
                return list(text[start + size : start + size + LOOKUP])
    return []


def save(path: Path, pages: Sequence[Recorded]) -> None:
    """One line a page."""
    lines = []
    for page in pages:
        plain = asdict(page)
        plain["policies"] = {name: [[f.pending, f.nodes, f.accepted] for f in fs] for name, fs in page.policies.items()}
        lines.append(json.dumps(plain))
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def load(path: Path) -> list[Recorded]:
    """What `save` wrote."""
    return [
        Recorded(**{**page, "policies": {name: [Forward(*f) for f in fs] for name, fs in page["policies"].items()}})
        for page in json.loads(path.read_text(encoding="utf-8"))
    ]


if __name__ == "__main__":
    main()
