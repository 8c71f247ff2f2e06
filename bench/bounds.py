"""What off-path answers and field Jacobi could save at most: two ideas bounded by replay, without the model.

    python -m bench.replay record --half tune --out traces/     # once, with the model: one output a page
    python -m bench.bounds traces/ --half tune

**Off-path answers**: after a wrong value the later nodes of that branch hold the model's answers for the next fields.
**Field Jacobi**: K columns stand at the next K fields' keys, each a row in every forward that learns a token from it.

Both get the best that they could get (`foresight.py`), and what was learnt corrects the drafts of all sources where
they pass by. A real version learns less, and some of it wrong.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bench.foresight import SURE, FieldJacobi, Learnt, OffPath, Truth
from bench.questions import Case, chosen
from bench.replay import CPU, LIMIT, Trace, recorded, vocabulary_of
from lookstruct.decoding.account import Forward
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.cursor import JsonReader
from lookstruct.decoding.drafting import Drafter
from lookstruct.decoding.engine import Job
from lookstruct.decoding.planner import Offer
from lookstruct.decoding.purchase import Budget
from lookstruct.decoding.replay import RecordedVerdicts, Recording, Replay
from lookstruct.decoding.request import Options
from lookstruct.decoding.runner import Rows
from lookstruct.decoding.sequence import Sequence as Decoded
from lookstruct.decoding.sources.base import Draft
from lookstruct.decoding.tree import DraftTree
from lookstruct.decoding.verify import Walked
from lookstruct.decoding.vocabulary import Vocabulary

RIGHT = 0.68
"""The share of values that a small trial got right with the fields before them hidden: 19 of 28."""
_JOINT = re.compile(rb'":|[,\[]')
"""Behind these bytes of a draft a value may begin, or a key."""


class Informed(Drafter):
    """A drafter whose drafts are corrected by what was learnt."""

    def __init__(self, drafter: Drafter, vocabulary: Vocabulary, learnt: Learnt) -> None:
        super().__init__(drafter.sources, vocabulary)
        self._learnt = learnt

    def propose(self, sequence: Decoded) -> list[Offer]:
        """See `Drafter.propose`; sources are judged by what they said themselves."""
        offers = super().propose(sequence)
        if sequence.reader is None or not self._learnt.belief:
            return offers
        text, reader = bytes(sequence.text), sequence.reader
        known = self._learnt.behind(text, reader.cursor)
        offers = conditioned(offers, known, self._learnt.belief)
        return [new for offer in offers for new in corrected(offer, text, reader, self._learnt)]


def conditioned(offers: Iterable[Offer], known: bytes, belief: float) -> list[Offer]:
    """Offers once it is believed that `known` comes next: those that say so share the belief, others what is left.

    One that ends before `known` does says nothing more. Where none says all of it, it is an offer itself.
    """
    if not known:
        return list(offers)
    saying = [offer for offer in offers if offer.draft.text.startswith(known)]
    others = [replace(offer, p=offer.p * (1 - belief)) for offer in offers if _differ(offer.draft.text, known)]
    if not saying:
        return [_learnt_offer(known, belief), *others]
    share = belief / sum(offer.p for offer in saying)
    return [*(replace(offer, p=offer.p * share) for offer in saying), *others]


def corrected(offer: Offer, text: bytes, reader: JsonReader, learnt: Learnt) -> list[Offer]:
    """An offer behind `text`, and where it passes a field of which something else is known, one that says that."""
    draft, at, reader = offer.draft.text, 0, reader.copy()
    for joint in _JOINT.finditer(draft):
        reader.feed(draft[at : joint.end()])
        at = joint.end()
        known = learnt.behind(text + draft[:at], reader.cursor)
        if draft.startswith(known, at):
            continue
        better = replace(offer, draft=replace(offer.draft, text=draft[:at] + known))
        if not _differ(draft[at:], known):
            return [better]
        belief = learnt.belief
        return [replace(better, p=offer.p * belief), replace(offer, p=offer.p * (1 - belief))]
    return [offer]


def _learnt_offer(known: bytes, belief: float) -> Offer:
    return Offer("learnt", Draft(known), belief, SURE)


def _differ(a: bytes, b: bytes) -> bool:
    """Whether neither goes on like the other."""
    return not a.startswith(b) and not b.startswith(a)


class _Watched(Recording):
    """A recording whose forwards are watched."""

    def __init__(self, learnt: Learnt) -> None:
        super().__init__(learnt.truth.token_ids)
        self._learnt = learnt

    def evaluate(self, sequence: Decoded, rows: Rows, tree: DraftTree) -> RecordedVerdicts:
        """See `Recording.evaluate`."""
        self._learnt.watch(sequence, tree)
        return super().evaluate(sequence, rows, tree)


class Bound(Replay):
    """A replay that is told what its rows beside the path would have answered at best, and pays for those rows."""

    def __init__(self, vocabulary: Vocabulary, cost: CostModel, learnt: Learnt) -> None:
        super().__init__(vocabulary, cost)
        self._judge = self.recording = _Watched(learnt)
        self._learnt = learnt

    def begin(self, *args: Any, **kwargs: Any) -> Job:
        """See `Decoder.begin`."""
        sequence, drafter = super().begin(*args, **kwargs)
        return sequence, Informed(drafter, self.vocabulary, self._learnt)

    def _budget(self, sequence: Decoded, n_pending: int) -> Budget:
        budget = super()._budget(sequence, n_pending)
        return replace(budget, pending=n_pending + self._learnt.columns(sequence))

    def _book(self, sequence: Decoded, forward: Forward, walked: Walked, seconds: float) -> None:
        super()._book(sequence, replace(forward, rows=forward.rows + self._learnt.n_columns), walked, seconds)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One page under one idea: counts, and seconds by the cost curve."""

    tokens: int
    forwards: int
    nodes: int
    rows: int
    seconds: float
    ends_told: int


Idea = Callable[[Truth], Learnt]


def ideas() -> dict[str, Idea]:
    """What is compared, by name: the first is how things are."""
    found: dict[str, Idea] = {"as it is": lambda truth: OffPath(truth, belief=0.0), "off-path answers": OffPath}
    for right in (1.0, RIGHT):
        for kept in (True, False):
            for K in (1, 2, 4):
                name = f"field Jacobi, K = {K}, {right:.0%} right, {'one row' if kept else 'all its rows'}"
                found[name] = partial(FieldJacobi, K=K, right=right, kept=kept)
    return found


def asked(model: str, vocabulary: Vocabulary) -> dict[str, Idea]:
    """The same ideas with the model's own answers; a column pays all its rows."""
    from bench.asked import AskedColumns, AskedNodes
    from lookstruct.decoding.loading import load_model
    from lookstruct.decoding.runner import Runner

    runner = Runner(load_model(model).model)
    columns = partial(AskedColumns, belief=RIGHT, runner=runner, vocabulary=vocabulary)
    return {
        "as it is": ideas()["as it is"],
        "off-path answers, asked": partial(AskedNodes, belief=RIGHT, runner=runner),
        **{f"field Jacobi, K = {K}, asked": partial(columns, K=K) for K in (1, 2)},
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Parse and go."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", type=Path)
    parser.add_argument("--half", choices=("tune", "test"))
    parser.add_argument("--pages", help="names, separated by commas")
    parser.add_argument("--model", default="bundled", help="the model that recorded them")
    parser.add_argument("--ask", action="store_true", help="take the model's own answers instead (slow)")
    args = parser.parse_args(argv)
    vocabulary = vocabulary_of(args.model)
    pages = chosen(args.pages.split(",") if args.pages else None, args.half)
    pairs = list(recorded(pages, vocabulary.tokenizer, args.traces))
    sys.stdout.write(f"{len(pairs)} pages, {sum(len(trace.token_ids) for _, trace in pairs)} tokens\n\n")
    for line in table(pairs, vocabulary, asked(args.model, vocabulary) if args.ask else ideas()):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def table(pairs: Sequence[tuple[Case, Trace]], vocabulary: Vocabulary, compared: Mapping[str, Idea]) -> Iterator[str]:
    """The lines of a Markdown table: each idea under each budget, against the same budget without it."""
    yield "| nodes | idea | forwards | tokens/forward, median | nodes/forward | rows | seconds | ends told before |"
    yield "|---|---|---|---|---|---|---|---|"
    known = [((case, trace), Truth(trace.token_ids, vocabulary, case.question.grammar)) for case, trace in pairs]
    for nodes in (None, 32, 128):
        plain: list[Outcome] = []
        for name, idea in compared.items():
            outcomes = [outcome(case, trace, vocabulary, idea(truth), nodes) for (case, trace), truth in known]
            plain = plain or outcomes
            yield f"| {nodes or 'automatic'} | {name} | {_line(outcomes, plain)} |"


def outcome(case: Case, trace: Trace, vocabulary: Vocabulary, learnt: Learnt, nodes: int | None) -> Outcome:
    """One page under one idea and budget."""
    question = case.question
    replay = Bound(vocabulary, CPU, learnt)
    options = Options(max_new_tokens=LIMIT, nodes=nodes)
    made = replay.generate(question.prompt.ids, grammar=question.grammar, hints=question.hints, options=options)
    assert list(made.token_ids) == trace.token_ids, f"{case.page.name}: a replay must say what was recorded"
    stats, told = made.stats, learnt.ends_told
    rows = stats.rows + learnt.n_rows
    return Outcome(stats.new_tokens, stats.forwards, stats.nodes, rows, stats.modelled_s, told)


def _line(outcomes: Sequence[Outcome], plain: Sequence[Outcome]) -> str:
    forwards, before = (sum(one.forwards for one in some) for some in (outcomes, plain))
    seconds, seconds_before = (sum(one.seconds for one in some) for some in (outcomes, plain))
    cells = (
        f"{forwards} ({forwards / before - 1:+.1%})",
        f"{statistics.median(one.tokens / one.forwards for one in outcomes):.2f}",
        f"{sum(one.nodes for one in outcomes) / forwards:.1f}",
        f"{sum(one.rows for one in outcomes)}",
        f"{seconds:.1f} ({seconds / seconds_before - 1:+.1%})",
        f"{sum(one.ends_told for one in outcomes)}",
    )
    return " | ".join(cells)


if __name__ == "__main__":
    main()
