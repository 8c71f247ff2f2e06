"""Decode tokens a second on a device, for models of real size with random weights: no download, no tokenizer.

    python -m bench.gpu --shape 7b                                         # on a GPU, in bfloat16
    python -m bench.gpu --shape tiny --device cpu --dtype float32          # the same code anywhere

How many drafts were accepted is replayed from pages that a real model decoded (`bench.acceptance`); the forwards, the
answers, the cache and the waits are run for real. Drafting itself is not run: the host's CPU seconds a step, as
they were where the pages were replayed, are shown and added in the last column, as if none ran beside the forward.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from bench.acceptance import Forward, Recorded, load
from lookstruct.decoding.cache import KVCache
from lookstruct.decoding.cost import POINTS
from lookstruct.decoding.runner import Rows, Runner
from lookstruct.decoding.static.runner import StaticRunner

SHAPES: Mapping[str, Mapping[str, int]] = {
    "tiny": {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
             "num_key_value_heads": 2, "vocab_size": 1000},
    "0.5b": {"hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24, "num_attention_heads": 14,
             "num_key_value_heads": 2, "vocab_size": 151936},
    "1.5b": {"hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28, "num_attention_heads": 12,
             "num_key_value_heads": 2, "vocab_size": 151936},
    "7b": {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
           "num_key_value_heads": 4, "vocab_size": 152064},
}  # fmt: skip
"""Those of Qwen2.5, and a tiny one."""
RECORDED = Path(__file__).with_name("acceptance.json")
CONTEXT = 1024
REPEATS = 5


@dataclass(frozen=True, slots=True)
class Speed:
    """One arm on all pages: tokens, forwards, wall-clock decode seconds, and seconds of the host's own work."""

    arm: str
    tokens: int
    forwards: int
    seconds: float
    host_s: float = 0.0


def main(argv: Sequence[str] | None = None) -> None:
    """Parse, build, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="0.5b")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--recorded", type=Path, default=RECORDED)
    parser.add_argument("--tokens", type=int, default=400, help="at most so many tokens a page")
    args = parser.parse_args(argv)
    if args.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("There is no GPU here; --device cpu --shape tiny runs the same code without one.")
    model = build(args.shape, args.device, getattr(torch, args.dtype))
    pages = [shortened(page, args.tokens) for page in load(args.recorded)]
    sys.stdout.write(report(model, pages, f"{args.shape}, {args.dtype}"))


def build(shape: str, device: str, dtype: torch.dtype) -> Any:
    """A Qwen2 of this shape with random weights."""
    config = transformers.Qwen2Config(**SHAPES[shape], max_position_embeddings=32768)
    with torch.device(device):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype)
    return model.eval()


def shortened(page: Recorded, tokens: int) -> Recorded:
    """The page up to about this many tokens."""
    return Recorded(
        page.page,
        page.prompt_tokens,
        min(tokens, page.new_tokens),
        page.host_s,
        {name: _until(forwards, tokens) for name, forwards in page.policies.items()},
    )


def _until(forwards: Sequence[Forward], tokens: int) -> list[Forward]:
    kept, made = list[Forward](), 0
    for forward in forwards:
        if made >= tokens:
            break
        kept.append(forward)
        made += forward.accepted + forward.pending - 1
    return kept


def report(model: Any, pages: Sequence[Recorded], what: str) -> str:
    """The tables, in Markdown."""
    dynamic, static = Runner(model), StaticRunner(model)
    name = torch.cuda.get_device_name() if dynamic.device.type == "cuda" else "CPU"
    lines = [f"{name}; {what}; torch {torch.__version__}, transformers {transformers.__version__}", ""]
    if static.refused is not None:
        lines += [static.refused, ""]
    speeds = [arm(pages) for arm in arms(model, dynamic, static, list(pages[0].policies))]
    lines += table(speeds)
    lines += [
        "",
        f"| t(n) in ms behind {CONTEXT} tokens | {' | '.join(map(str, POINTS))} |",
        "|---" * (len(POINTS) + 1) + "|",
    ]
    for kind, runner in (("launched one by one", dynamic), ("fixed shapes", static)):
        lines.append(f"| {kind} | {' | '.join(f'{1000 * forward_s(runner, n):.2f}' for n in POINTS)} |")
    return "\n".join(lines) + "\n"


def arms(
    model: Any, dynamic: Runner, static: StaticRunner, policies: Sequence[str]
) -> list[Callable[[Sequence[Recorded]], Speed]]:
    """What is compared, the yardstick first."""

    def replayed(name: str, runner: Runner, policy: str | None) -> Callable[[Sequence[Recorded]], Speed]:
        return lambda pages: _sum(name, [replay(runner, page, policy) for page in pages])

    return [
        replayed("autoregressive", dynamic, None),
        replayed("autoregressive, fixed shapes", static, None),
        *(replayed(f"{policy}, fixed shapes", static, policy) for policy in policies if policy != "prompt lookup"),
        lambda pages: _sum("transformers generate", [generated(model, page) for page in pages]),
        replayed("prompt lookup (its acceptance replayed)", dynamic, "prompt lookup"),
    ]


def replay(runner: Runner, page: Recorded, policy: str | None) -> Speed:
    """Run the forwards of one page under a policy (None: a token a forward): once for the captures, once timed."""
    forwards = page.policies[policy] if policy else [Forward(1, 0, 1)] * page.new_tokens
    cache = runner.new_cache()
    _run(runner, cache, page, forwards)
    seconds = _run(runner, cache, page, forwards)
    tokens = sum(forward.accepted + forward.pending - 1 for forward in forwards)  # all but one pending were forced
    host = page.host_s * len(forwards) if policy and policy.startswith("lookahead") else 0.0
    return Speed("", tokens, len(forwards), seconds, host)


def _run(runner: Runner, cache: KVCache, page: Recorded, forwards: Sequence[Forward]) -> float:
    cache.truncate(0)
    runner.prefill(cache, [1 + i % 900 for i in range(page.prompt_tokens)])
    settle(runner.device)
    start = time.perf_counter()
    for forward in forwards:
        step(runner, cache, forward, n_words(runner))
    settle(runner.device)
    return time.perf_counter() - start


def n_words(runner: Runner) -> int:
    """Words of a bit mask over the vocabulary."""
    return (runner.width + 31) // 32


def step(runner: Runner, cache: KVCache, forward: Forward, words: int) -> None:
    """One forward: its rows evaluated, every row's allowed argmax brought to the host, the accepted rows kept."""
    path = on_path(forward)
    rows = lay_out(forward, path, cache.length)
    inputs = runner.inputs(cache, rows) if isinstance(runner, StaticRunner) else None
    hidden = runner.hidden(cache, rows)
    if inputs is not None and isinstance(runner, StaticRunner):
        runner.answers(inputs).ask([np.full(words, 0x55555555, np.int32) for _ in rows.token_ids])
    else:
        runner.logits(hidden[forward.pending - 1 :]).argmax(-1).tolist()
    kept = [*range(forward.pending), *path]
    cache.commit([1] * len(kept), kept)


def on_path(forward: Forward) -> list[int]:
    """The rows of the nodes that are accepted, spread among those that are not, as in a tree grown best first."""
    n = min(forward.nodes, forward.accepted - 1)
    return [forward.pending + int(i) for i in np.linspace(0, forward.nodes - 1, n).round()] if n else []


def lay_out(forward: Forward, path: Sequence[int], start: int) -> Rows:
    """Pending tokens in a chain, the path in a chain behind them, every other node a branch of its own."""
    n, pending = forward.pending + forward.nodes, forward.pending
    visible = np.eye(n, dtype=np.bool_)
    visible[:, :pending] = np.tri(n, pending, dtype=np.bool_)
    visible[np.ix_(path, path)] = np.tri(len(path), dtype=np.bool_)
    depth = visible.sum(1) - 1
    return Rows([1 + i % 900 for i in range(n)], start + depth.astype(np.int64), visible)


def generated(model: Any, page: Recorded) -> Speed:
    """`generate` of transformers, greedy, for as many tokens."""
    ids = torch.tensor([[1 + i % 900 for i in range(page.prompt_tokens)]], device=model.device)
    times = []
    for n in (1, page.new_tokens):
        for _ in range(2):
            settle(model.device)
            start = time.perf_counter()
            model.generate(
                ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=n, min_new_tokens=n,
                pad_token_id=0,
            )  # fmt: skip
            settle(model.device)
            seconds = time.perf_counter() - start
        times.append(seconds)
    return Speed("", page.new_tokens - 1, page.new_tokens - 1, max(1e-9, times[1] - times[0]))


@torch.no_grad()
def forward_s(runner: Runner, n: int) -> float:
    """Seconds of a forward of `n` rows and its answers behind a full page, the fastest of a few."""
    cache, best = runner.new_cache(), float("inf")
    runner.prefill(cache, [1 + i % 900 for i in range(CONTEXT)])
    for _ in range(REPEATS):
        settle(runner.device)
        start = time.perf_counter()
        step(runner, cache, Forward(1, n - 1, 1), n_words(runner))
        settle(runner.device)
        best = min(best, time.perf_counter() - start)
        cache.truncate(CONTEXT)
    return best


def settle(device: torch.device) -> None:
    """Wait for the device, so that the clock sees the work and not its launch."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _sum(arm: str, parts: Sequence[Speed]) -> Speed:
    return Speed(
        arm,
        sum(p.tokens for p in parts),
        sum(p.forwards for p in parts),
        sum(p.seconds for p in parts),
        sum(p.host_s for p in parts),
    )


def table(speeds: Sequence[Speed]) -> list[str]:
    """One row an arm; ratios are against the first."""
    base = speeds[0].tokens / speeds[0].seconds
    lines = [
        "| arm | tokens a forward | ms a forward | tokens a second | ratio | host ms a step | ratio with the host |",
        "|---" * 7 + "|",
    ]
    for s in speeds:
        rate, whole = s.tokens / s.seconds, s.tokens / (s.seconds + s.host_s)
        lines.append(
            f"| {s.arm} | {s.tokens / s.forwards:.2f} | {1000 * s.seconds / s.forwards:.2f} | {rate:.0f} "
            f"| {rate / base:.2f}x | {1000 * s.host_s / s.forwards:.2f} | {whole / base:.2f}x |"
        )
    return lines


if __name__ == "__main__":
    main()
