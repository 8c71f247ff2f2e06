"""Recorded outputs -> what any drafting policy would have done: forwards, nodes and seconds in a moment, no model.

    python -m bench.replay record --half tune --out traces/     # once, with the model: one output a page
    python -m bench.replay sweep traces/ --half tune            # then any policy, exactly

A replay is exact because the output is: a draft is accepted if and only if the recording says the same.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench.questions import Case, cases, chosen
from lookstruct.decoding.cost import CostModel, Curve
from lookstruct.decoding.linear import SIZES
from lookstruct.decoding.replay import Replay
from lookstruct.decoding.request import Options
from lookstruct.decoding.sources import DEFAULT
from lookstruct.decoding.vocabulary import Vocabulary
from lookstruct.schemas.record import Stats

LIMIT = 2500


@dataclass(frozen=True, slots=True)
class Trace:
    """What the model wrote for one page, and for which prompt: a changed prompt makes a recording worthless."""

    page: str
    prompt_ids: list[int]
    token_ids: list[int]
    text: str


def main(argv: Sequence[str] | None = None) -> None:
    """Parse and go."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    sweeping = commands.add_parser("sweep")
    for command in (recording, sweeping):
        command.add_argument("--half", choices=("tune", "test"))
        command.add_argument("--pages", help="names, separated by commas")
        command.add_argument("--model", default="bundled")
    recording.add_argument("--out", type=Path, required=True)
    sweeping.add_argument("traces", type=Path)
    sweeping.add_argument("--verbose", action="store_true")
    args = parser.parse_args(argv)
    pages = chosen(args.pages.split(",") if args.pages else None, args.half)
    if args.command == "record":
        record(pages, args.model, args.out)
    else:
        sweep(pages, args.model, args.traces, verbose=args.verbose)


def record(pages: Sequence[Any], model: str, out: Path) -> None:
    """Decode every page once and keep prompt and output."""
    from lookstruct.decoding.engine import Engine
    from lookstruct.decoding.loading import load_model

    loaded = load_model(model)
    engine = Engine(loaded.model, loaded.tokenizer, eos_ids=loaded.eos_ids)
    out.mkdir(parents=True, exist_ok=True)
    for case in cases(pages, loaded.tokenizer):
        question = case.question
        made = engine.generate(
            question.prompt.ids, grammar=question.grammar, hints=question.hints, options=Options(max_new_tokens=LIMIT)
        )
        trace = Trace(case.page.name, list(question.prompt.ids), list(made.token_ids), made.text)
        (out / f"{case.page.name}.json").write_text(json.dumps(asdict(trace), ensure_ascii=False), encoding="utf-8")
        sys.stderr.write(f"{case.page.name}: {made.stats.new_tokens} tokens, {made.stats.forwards} forwards\n")


def vocabulary_of(model: str) -> Vocabulary:
    """The vocabulary of a model whose weights are not needed."""
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig

    from lookstruct.decoding.loading import prepare

    source = prepare(model, thorough=False)
    eos = GenerationConfig.from_pretrained(source).eos_token_id
    width = AutoConfig.from_pretrained(source).vocab_size
    return Vocabulary(AutoTokenizer.from_pretrained(source), width, eos if isinstance(eos, list) else [eos])


def recorded(pages: Sequence[Any], tokenizer: Any, folder: Path) -> Iterator[tuple[Case, Trace]]:
    """The pages whose recording is still for the prompt they would get now."""
    for case in cases(pages, tokenizer):
        path = folder / f"{case.page.name}.json"
        if not path.exists():
            continue
        trace = Trace(**json.loads(path.read_text(encoding="utf-8")))
        if trace.prompt_ids == list(case.question.prompt.ids):
            yield case, trace
        else:
            sys.stderr.write(f"{case.page.name}: its prompt has changed since it was recorded; record it again\n")


def replayed(case: Case, trace: Trace, vocabulary: Vocabulary, cost: CostModel, options: Options) -> Stats:
    """The stats that this policy would have had."""
    replay = Replay(vocabulary, cost)
    replay.recording.token_ids = tuple(trace.token_ids)
    question = case.question
    made = replay.generate(question.prompt.ids, grammar=question.grammar, hints=question.hints, options=options)
    assert list(made.token_ids) == trace.token_ids, f"{case.page.name}: a replay must say what was recorded"
    return made.stats


def sibling_guess(case: Case, pairs: Sequence[tuple[Case, Trace]]) -> tuple[Any, ...]:
    """The record of another page of the same template, as a past run would have left it."""
    return tuple(
        json.loads(trace.text)
        for other, trace in pairs
        if case.page.template is not None and other.page.template == case.page.template and other.page != case.page
    )


def with_guess(case: Case, guesses: tuple[Any, ...]) -> Case:
    """The case with past records to draft from."""
    return replace(case, question=replace(case.question, hints=replace(case.question.hints, guesses=guesses)))


def sweep(pages: Sequence[Any], model: str, folder: Path, *, verbose: bool) -> None:
    """Tokens a forward for a grid of policies."""
    vocabulary = vocabulary_of(model)
    pairs = list(recorded(pages, vocabulary.tokenizer, folder))
    plain = Options(max_new_tokens=LIMIT)
    policies = {
        "autoregressive": replace(plain, mode="autoregressive", skip_forced=False),
        "forced only": replace(plain, mode="autoregressive"),
        **{f"{name} alone": replace(plain, sources=(name,)) for name in DEFAULT},
        **{" + ".join(DEFAULT[:n]): replace(plain, sources=DEFAULT[:n]) for n in range(2, len(DEFAULT))},
        **{f"all, {n} nodes": replace(plain, nodes=n) for n in (8, 16, 32, 64, 128)},
        "all, automatic": plain,
    }
    for name, options in policies.items():
        report(name, [(c, replayed(c, t, vocabulary, CPU, options)) for c, t in pairs], verbose=verbose)
    rates = [len(t.token_ids) / prompt_lookup(t.prompt_ids, t.token_ids) for _, t in pairs]
    sys.stdout.write(f"prompt lookup, by its rule: tokens/forward median {statistics.median(rates):.2f}\n")
    twins = [(with_guess(c, g), t) for c, t in pairs if (g := sibling_guess(c, pairs))]
    for n in (None, 32, 128):
        options = replace(plain, nodes=n)
        name = f"second page of a template, {n or 'automatic'}"
        report(name, [(c, replayed(c, t, vocabulary, CPU, options)) for c, t in twins], verbose=verbose)


def prompt_lookup(prompt_ids: Sequence[int], token_ids: Sequence[int], length: int = 10, longest: int = 2) -> int:
    """The forwards that transformers' prompt lookup takes for a recorded output.

    Its rule: `length` tokens from behind the first place where the last two tokens, else the last one, stood before.

    >>> prompt_lookup([1, 2, 3, 4], [1, 2, 3, 4])
    2
    """
    ids, n_prompt, forwards = [*prompt_ids, *token_ids], len(prompt_ids), 0
    at = n_prompt
    while at < len(ids):
        draft = _looked_up(ids[:at], length, longest)
        same = next((i for i, (a, b) in enumerate(zip(draft, ids[at:], strict=False)) if a != b), len(draft))
        at, forwards = at + same + 1, forwards + 1
    return forwards


def _looked_up(ids: Sequence[int], length: int, longest: int) -> Sequence[int]:
    for size in range(longest, 0, -1):
        tail = ids[-size:]
        for start in range(len(ids) - size):
            if ids[start : start + size] == tail:
                return ids[start + size : start + size + length]
    return ()


def report(name: str, results: Sequence[tuple[Case, Stats]], *, verbose: bool) -> None:
    """One line for a policy: medians over pages."""
    if not results:
        return
    rates = [stats.tokens_per_forward for _, stats in results]
    nodes = [stats.nodes / max(1, stats.forwards) for _, stats in results]
    draft_ms = [1000 * stats.draft_s / max(1, stats.forwards) for _, stats in results]
    sys.stdout.write(
        f"{name:36} pages {len(rates):2}  tokens/forward median {statistics.median(rates):6.2f}  min {min(rates):6.2f}"
        f"  nodes/forward {statistics.median(nodes):6.1f}  drafting {statistics.median(draft_ms):5.1f} ms/step\n"
    )
    if verbose:
        for case, stats in results:
            sys.stdout.write(
                f"    {case.page.name:18} {stats.new_tokens:5} tokens {stats.forwards:4} forwards "
                f"{stats.tokens_per_forward:6.1f}  {stats.accepted}\n"
            )


CPU = CostModel(
    Curve((1, 2, 4, 8, 16, 24, 32, 64, 128), (0.062, 0.110, 0.110, 0.110, 0.116, 0.173, 0.185, 0.313, 0.568)),
    Curve((1, 2, 4, 8, 16, 24, 32, 64, 128), (0.011, 0.015, 0.021, 0.030, 0.033, 0.051, 0.054, 0.109, 0.205)),
    per_key=1.1e-6,
    sizes=SIZES,
)
"""What 2 cores with AVX-512 took for the 0.5B in float32, as `decoding.measuring` measured it."""

if __name__ == "__main__":
    main()
