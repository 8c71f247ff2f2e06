"""The lookahead window on its own, the paper's method: free text and JSON, with and without a grammar.

    python -m bench.window --pages town_notes,product --tokens 128

Every other source is off. Cost is what the rows of the window take: seconds a forward, beside one row's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.decoding import hardware
from bench.questions import Case, cases, chosen
from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.loading import load_model
from lookstruct.decoding.request import Completion, Options, Window

SENTENCES = Grammar.regex(r"[A-Z][^\n]{20,}")
"""One paragraph, whatever it says."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something to write about a page."""

    name: str
    prompt_ids: Sequence[int]
    grammar: Grammar | None


def main(argv: Sequence[str] | None = None) -> None:
    """Decode each task in both ways, in turn; print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", default="town_notes,product")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--window", default="5,4,5", help="W,N,G")
    parser.add_argument("--model", default="bundled")
    args = parser.parse_args(argv)
    loaded = load_model(args.model)
    engine = Engine(loaded.model, loaded.tokenizer, eos_ids=loaded.eos_ids)
    plain = Options(max_new_tokens=args.tokens, mode="autoregressive", skip_forced=False)
    window = Window(*map(int, args.window.split(",")))
    alone = replace(plain, mode="lookahead", sources=("window",), window=window)
    sys.stdout.write(f"{hardware()}; model {args.model}, W,N,G = {args.window}\n\n{HEAD}\n")
    for case in cases(chosen(args.pages.split(",")), loaded.tokenizer):
        for task in tasks(case, loaded.tokenizer):
            runs = [made(engine, task, options) for options in (plain, alone)]
            sys.stdout.write(f"| {case.page.name}: {task.name} | {' | '.join(row(*runs))} |\n")
            sys.stdout.flush()


HEAD = """| | identical | tokens | forwards | tokens/forward | ms/forward: plain | with the window | decode time |
|---|---|---|---|---|---|---|---|"""


def tasks(case: Case, tokenizer: Any) -> Iterator[Task]:
    """A summary in free text, and the record, each with and without a grammar."""
    text = f"Summarise this page in a few sentences.\n\n{case.document.text}"
    turns = [{"role": "user", "content": text}]
    ids = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    free = tokenizer(ids, add_special_tokens=False)["input_ids"]
    yield Task("free text", free, None)
    yield Task("free text, one paragraph", free, SENTENCES)
    yield Task("JSON without a grammar", case.question.prompt.ids, None)
    yield Task("JSON, held to the page", case.question.prompt.ids, case.question.grammar)


def made(engine: Engine, task: Task, options: Options) -> Completion:
    """One task decoded; the prompt is read anew each time."""
    engine.forget_prefixes()
    return engine.generate(task.prompt_ids, grammar=task.grammar, options=options)


def row(plain: Completion, window: Completion) -> Iterator[str]:
    """The cells of a task."""
    yield "yes" if plain.token_ids == window.token_ids else "no"
    yield str(len(window.token_ids))
    yield str(window.stats.forwards)
    yield f"{len(window.token_ids) / max(1, window.stats.forwards):.2f}"
    for one in (plain, window):
        yield f"{one.stats.decode_s / max(1, one.stats.forwards) * 1e3:.0f}"
    yield f"{window.stats.decode_s / plain.stats.decode_s:.2f}x"


if __name__ == "__main__":
    main()
