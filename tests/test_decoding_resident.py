"""What lookahead keeps in memory beyond plain decoding, counted: under half a percent of the smallest model's bytes."""

from __future__ import annotations

import tracemalloc

import tiny

from lookstruct.decoding.planner import MAX_NODES
from lookstruct.decoding.request import Hints, Options, Window
from lookstruct.decoding.sources import DEFAULT, build_sources
from lookstruct.decoding.sources.base import DraftContext, DraftRequest
from lookstruct.decoding.vocabulary import Vocabulary

SHARE = 0.005
BYTES = 4
"""float32."""
PARAMETERS = 630e6
KV_VALUES = 24 * 2 * 2 * 64
"""Of one slot of the bundled 0.5B: layers, keys and values, heads, their size."""
WINDOW = Window()
ROWS = MAX_NODES + (WINDOW.N - 1) * WINDOW.W
PAGE = "\n".join(
    f"# Item {i}\nBrass hook number {i}, wall fitting | {i}.50 EUR | 2025-03-{1 + i % 28:02d}" for i in range(120)
)
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}}


def test_buffers_pool_and_sources_are_small_beside_the_model() -> None:
    vocabulary = Vocabulary(tiny.tokenizer(), tiny.WIDTH, [2])
    prompt = tuple(range(3, 259)) * 12
    request = DraftRequest(
        vocabulary, Hints(page=PAGE, schema=SCHEMA), Options(sources=(*DEFAULT, "window"), window=WINDOW), prompt
    )
    tracemalloc.start()
    try:
        sources = build_sources(request)
        context = DraftContext(b"", prompt[:64], None)
        for source in sources:
            list(source.propose(context))
            source.observe(context, 8)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    slots = ROWS * KV_VALUES * BYTES
    assert held + slots < SHARE * PARAMETERS * BYTES
