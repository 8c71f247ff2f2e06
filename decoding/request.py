"""What goes into the decoder and what comes out: `Request` -> `Completion`; plain data, no tensors, no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lookstruct.schemas.record import Stats

FinishReason = Literal["eos", "grammar", "stop", "length", "closed", "cancelled"]
"""Why decoding ended.

eos: an end-of-sequence token; grammar: nothing may follow; stop: a stop string; length: the limit was met;
closed: near the limit the grammar was driven to its shortest end; cancelled: the caller asked.
"""


@dataclass(frozen=True, slots=True)
class Window:
    """The paper's lookahead window: W columns, n-grams of length N, at most G candidates verified per step."""

    W: int = 8
    N: int = 4
    G: int = 8


@dataclass(frozen=True, slots=True)
class Options:
    """How to decode; nothing here changes what the model is asked.

    `temperature` 0 is greedy; above 0 the draw is Gumbel-max with noise hashed from (`seed`, position, token), so a
    seed gives one text whatever is drafted. `mode` "autoregressive" switches drafting off. `sources` None means all
    registered ones. `nodes` None lets the cost model choose, a number fixes the draft budget. `reserve` is how many
    of `max_new_tokens` are kept for closing the grammar. `skip_forced` False gives even a forced token its own forward,
    as other engines do: a yardstick for benchmarks.
    `think` lets the model think first, for at most so many tokens, before the grammar holds.
    """

    max_new_tokens: int = 2048
    mode: Literal["auto", "lookahead", "autoregressive"] = "auto"
    sources: tuple[str, ...] | None = None
    nodes: int | None = None
    window: Window | None = None
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    reserve: int = 64
    skip_forced: bool = True
    think: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing on the page that could be a value: `text` as the record would hold it.

    `kind` is one of "number", "date", "price", "email", "url", "phone", "duration", "line", "cell", "heading".
    `start` is its offset in `Hints.page`; `label` the text that names it there ("Total due"), or "".
    """

    text: str
    kind: str
    start: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True)
class Hints:
    """Everything a draft source may guess from; all of it optional, none of it ever changes the output.

    `page` is the text the prompt showed. `rows` are table rows and list items in reading order, each a tuple of cell
    texts. `guesses` are whole records as JSON objects (page metadata, past records), likeliest first. `past` are
    the tokens of texts that came out for earlier pages of the kind, the latest first. `schema` is the JSON Schema that
    the grammar was built from.
    """

    page: str = ""
    candidates: tuple[Candidate, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    guesses: tuple[Any, ...] = ()
    past: tuple[tuple[int, ...], ...] = ()
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One forward: it evaluated `rows`, `nodes` of them drafted, and `accepted` tokens came out of it.

    The first of these is generated token number `start`; the tokens between two steps were forced and cost no logits.
    """

    rows: int
    nodes: int
    accepted: int
    start: int


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote: `text` is the concatenation of all streamed pieces.

    `logprobs` holds one natural log-probability per token, in the masked distribution the token was chosen from
    (a forced token has 0.0); `sources` names per token who drafted it ("model" where nobody did, "forced"); `pieces`
    are the tokens' bytes (none for a control token), `steps` the forwards, `margins` how far the best allowed
    logit stood above the second (infinite for a forced token). `thought` is what the model thought first
    (`Options.think`): its tokens count, its text is no part of `text`.
    """

    text: str
    token_ids: Sequence[int]
    logprobs: Sequence[float]
    finish_reason: FinishReason
    stats: Stats
    sources: Sequence[str] = field(default_factory=tuple)
    pieces: Sequence[bytes] = field(default_factory=tuple)
    steps: Sequence[Step] = field(default_factory=tuple)
    margins: Sequence[float] = field(default_factory=tuple)
    thought: str = ""
