"""Every way to decode, on the same pages with the same model in one run: tokens, forwards, seconds.

    python -m bench.decoding --pages invoice,product,recipe,article        # all arms, interleaved
    python -m bench.decoding --pages invoice --arms "autoregressive;all (automatic)" --repeats 3
    python -m bench.decoding --pages invoice --model bundled:1.5b --draft-model bundled

Arms take turns page by page, so that a machine whose speed drifts drifts for all of them. Ratios are against our own
autoregressive arm on the same page in the same round; the median over pages is what to quote.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import torch

from bench.arms import CLASSICAL, CLASSICAL_OPTIONS, Arm, Run, our_arms, ours, outlines_arm, prompt_lookup_arm
from bench.llama_cpp import NAME as LLAMA_CPP
from bench.llama_cpp import llama_cpp_arm
from bench.memory import peak_bytes, reset_peak
from bench.plots import draw
from bench.questions import Case, cases, chosen
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.loading import load_model
from lookstruct.decoding.request import Options

BASE = "autoregressive"


def main(argv: Sequence[str] | None = None) -> None:
    """Parse, run, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", help="names, separated by commas; all if left out")
    parser.add_argument("--half", choices=("tune", "test"))
    parser.add_argument("--arms", help="names, separated by semicolons; all if left out")
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--draft-model", help="a smaller one with the same vocabulary, for classical speculation")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write every run there")
    parser.add_argument("--plots", type=Path, help="draw the runs into this folder")
    args = parser.parse_args(argv)
    pages = chosen(args.pages.split(",") if args.pages else None, args.half)
    names = args.arms.split(";") if args.arms else None
    runs = compare(pages, args.model, args.dtype, names, args.repeats, args.draft_model)
    sys.stdout.write(f"{hardware()}; model {args.model}, dtype {args.dtype}\n\n{table(runs)}\n")
    sys.stdout.writelines(f"{line}\n" for line in divergences(runs))
    if args.json:
        args.json.write_text(json.dumps([asdict(run) for run in runs]), encoding="utf-8")
    if args.plots:
        draw(runs, args.plots)


def compare(
    pages: Sequence[object],
    model: str,
    dtype: str,
    names: Sequence[str] | None,
    repeats: int,
    draft_model: str | None = None,
) -> list[Run]:
    """All runs, arms interleaved on every page."""
    loaded = load_model(model, dtype=dtype)
    engine = Engine(loaded.model, loaded.tokenizer, eos_ids=loaded.eos_ids)
    if draft_model is not None:
        small = load_model(draft_model, dtype=dtype)
        engine.assist(small.model, small.tokenizer)
    engine.cost  # noqa: B018  measured before the clock runs
    arms = _arms(engine, loaded, names)
    runs: list[Run] = []
    questions = list(cases(pages, loaded.tokenizer))  # type: ignore[arg-type]
    _warm_up(engine, questions[0])
    for case in questions:
        for _ in range(repeats):
            for name, arm in arms.items():
                reset_peak()
                run = replace(arm(case), peak_bytes=peak_bytes())
                runs.append(run)
                sys.stderr.write(
                    f"{run.page:18} {name:30} {len(run.token_ids):5} tokens {run.forwards:5} forwards "
                    f"prefill {run.prefill_s:6.2f} s decode {run.decode_s:7.2f} s\n"
                )
    return runs


def _warm_up(engine: Engine, case: Case) -> None:
    """Kernels are compiled and memory is touched before the first arm is timed."""
    for mode in ("auto", "autoregressive"):
        options = Options(mode=mode, max_new_tokens=24)  # type: ignore[arg-type]
        engine.generate(case.question.prompt.ids, grammar=case.question.grammar, options=options)


def _arms(engine: Engine, loaded: object, names: Sequence[str] | None) -> Mapping[str, Arm]:
    arms: dict[str, Arm] = {name: ours(name, engine, options) for name, options in our_arms().items()}
    if engine.assistant is not None:
        arms[CLASSICAL] = ours(CLASSICAL, engine, CLASSICAL_OPTIONS)
    arms["outlines + transformers"] = outlines_arm(loaded)  # type: ignore[arg-type]
    arms["transformers prompt lookup"] = prompt_lookup_arm(loaded, engine)  # type: ignore[arg-type]
    if names is not None and LLAMA_CPP in names:
        arms[LLAMA_CPP] = llama_cpp_arm(loaded.name)  # type: ignore[attr-defined]
    unknown = set(names or ()) - set(arms)
    if unknown:
        raise SystemExit(f"no such arms: {', '.join(sorted(unknown))}; there are {', '.join(arms)}")
    return {name: arm for name, arm in arms.items() if names is None or name in names}


def table(runs: Sequence[Run]) -> str:
    """Medians over pages, one row an arm, in Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    base = _by_page([run for run in runs if run.arm == BASE])
    for arm in dict.fromkeys(run.arm for run in runs):
        mine = _by_page([run for run in runs if run.arm == arm])
        lines.append(f"| {arm} | {' | '.join(_cells(mine, base))} |")
    return "\n".join(lines)


COLUMNS = (
    "arm",
    "pages",
    "identical",
    "tokens",
    "forwards",
    "tokens/forward",
    "nodes/forward",
    "prefill s",
    "decode s",
    "page s",
    "decode speed-up, median",
    "least",
    "overhead",
    "peak memory",
)


def _cells(mine: Mapping[str, Run], base: Mapping[str, Run]) -> Iterator[str]:
    """The cells of one arm, the arm's name aside."""
    runs = list(mine.values())
    shared = [page for page in mine if page in base]
    yield f"{len(runs)}"
    yield f"{sum(mine[page].token_ids == base[page].token_ids for page in shared)}/{len(shared)}"
    yield f"{sum(len(run.token_ids) for run in runs)}"
    yield f"{sum(run.forwards for run in runs)}"
    yield f"{_median(run.tokens_per_forward for run in runs):.2f}"
    yield f"{_median(run.nodes / max(1, run.forwards) for run in runs):.1f}"
    yield f"{_median(run.prefill_s for run in runs):.2f}"
    yield f"{_median(run.decode_s for run in runs):.2f}"
    yield f"{_median(run.prefill_s + run.decode_s for run in runs):.2f}"
    ratios = [base[page].decode_s / mine[page].decode_s for page in shared]
    yield f"{_median(ratios):.2f}x" if ratios else "-"
    yield f"{min(ratios):.2f}x" if ratios else "-"
    yield f"{_median(100 * run.overhead_s / run.decode_s for run in runs):.1f}%"
    yield f"{max(run.peak_bytes for run in runs) / 1e6:.0f} MB"


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)


def divergences(runs: Sequence[Run]) -> Iterator[str]:
    """Where an arm of ours left the base's tokens, a line each: page, token, the base's masked top-2 margin there."""
    base = _by_page([run for run in runs if run.arm == BASE])
    for run in runs:
        if not run.margins or run.page not in base or run.token_ids == base[run.page].token_ids:
            continue
        pairs = zip(run.token_ids, base[run.page].token_ids, strict=False)
        at = next((i for i, (one, other) in enumerate(pairs) if one != other), 0)
        yield f"{run.page}, {run.arm}: first difference at token {at}, margin {base[run.page].margins[at]:.2e}"


def _by_page(runs: Sequence[Run]) -> dict[str, Run]:
    """The run with the median decode time of each page."""
    pages: dict[str, list[Run]] = {}
    for run in runs:
        pages.setdefault(run.page, []).append(run)
    return {page: sorted(some, key=lambda r: r.decode_s)[len(some) // 2] for page, some in pages.items()}


def hardware() -> str:
    """What the figures were taken on."""
    model = next(
        (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.processor()
    )
    device = (
        torch.cuda.get_device_name() if torch.cuda.is_available() else f"{model}, {torch.get_num_threads()} threads"
    )
    return f"{device}; torch {torch.__version__}, Python {platform.python_version()}"


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


if __name__ == "__main__":
    main()
