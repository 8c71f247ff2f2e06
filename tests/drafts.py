"""What tests of the decoder share: drafts that are right as far as they are meant to be, and a model that can wish.

`Truth` drafts a text that was decoded before, so that accepted runs really cross the edge under test. `Wish` stands in
for the model where its taste matters: it wants to write what it is told, and the decoder is the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest
import tiny
import torch

from lookstruct.decoding import sources
from lookstruct.decoding.constraint import Constraint, Grammar, GrammarCompiler
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Decoder
from lookstruct.decoding.request import Completion, Options
from lookstruct.decoding.sampler import Choice
from lookstruct.decoding.sequence import Sequence as Decoded
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.decoding.tree import DraftTree, Rows
from lookstruct.decoding.vocabulary import Vocabulary


class Truth:
    """Drafts `tokens` from wherever the text stands; after `right` right tokens it goes on with `wrong`."""

    name = "truth"
    tokens: ClassVar[tuple[int, ...]] = ()
    right: ClassVar[int | None] = None
    wrong: ClassVar[tuple[int, ...]] = ()

    def __init__(self, request: DraftRequest) -> None:
        pass

    def propose(self, context: DraftContext) -> list[Draft]:
        rest = self.tokens[len(context.token_ids) :][: self.right] + self.wrong
        return [Draft(tokens=rest, p=0.99, q=0.999)] if rest else []

    def observe(self, context: DraftContext, n_new: int) -> None:
        pass


def drafted(
    monkeypatch: pytest.MonkeyPatch,
    engine: Decoder,
    prompt: Sequence[int],
    tokens: Sequence[int],
    *,
    right: int | None = None,
    wrong: tuple[int, ...] = (),
    grammar: Grammar | None = None,
    on_text: Callable[[str], None] | None = None,
    **options: Any,
) -> Completion:
    """What `engine` writes when the only drafts are those of `Truth`."""
    monkeypatch.setitem(sources.SOURCES, "truth", Truth)
    for name, value in (("tokens", tuple(tokens)), ("right", right), ("wrong", wrong)):
        monkeypatch.setattr(Truth, name, value)
    return engine.generate(prompt, grammar=grammar, options=Options(sources=("truth",), **options), on_text=on_text)


class Wish:
    """A judge that wants to write one text, or whatever `wanted` says for the text so far: token -> logit.

    Everything else has logit 0, so where the grammar forbids what is wanted the lowest allowed id is taken.
    """

    def __init__(self, wanted: Callable[[bytes], dict[int, float]]) -> None:
        self.wanted = wanted

    def prefill(self, sequence: Decoded, cancel: Callable[[], bool]) -> None:  # noqa: ARG002
        sequence.cache.token_ids = list(sequence.ids[:-1])

    def release(self, sequence: Decoded) -> None:
        pass

    def forget(self) -> None:
        pass

    def evaluate(self, sequence: Decoded, rows: Rows, tree: DraftTree) -> Wish:  # noqa: ARG002
        return self

    def commit(self, sequence: Decoded, token_ids: list[int], rows: list[int]) -> None:
        sequence.cache.commit(token_ids, rows)

    def choose(self, sequence: Decoded, node: int, path: list[int]) -> Choice:  # noqa: ARG002
        logits = torch.zeros(tiny.WIDTH, dtype=torch.float64)
        for token, value in self.wanted(bytes(sequence.text)).items():
            logits[token] = value
        return sequence.sampler.choose(logits, sequence.mask(), sequence.n_generated, sequence.ids)

    def extra_argmax(self, rows: range) -> tuple[list[int], int]:
        return [0 for _ in rows], 0

    @property
    def n_logit_rows(self) -> int:
        return 1


VOCABULARY = Vocabulary(tiny.tokenizer(), tiny.WIDTH, [2])


def wishing(wanted: Callable[[bytes], dict[int, float]]) -> Decoder:
    """A decoder whose model is a `Wish`."""
    return Decoder(VOCABULARY, Wish(wanted), CostModel.free(), 4096)


def copying(text: str) -> Decoder:
    """A decoder whose model wants to write exactly `text`, then end: the longer a fitting token, the better."""
    whole = text.encode()

    def wanted(done: bytes) -> dict[int, float]:
        rest = whole[len(done) :]
        fitting = {VOCABULARY.ids[rest[:n]]: 10.0 + n for n in range(1, 33) if rest[:n] in VOCABULARY.ids}
        return fitting if rest else {2: 10.0}

    return wishing(wanted)


def loving(pieces: Callable[[bytes], bool], value: float = 10.0) -> Decoder:
    """A decoder whose model wants any token whose bytes satisfy `pieces`, always."""
    liked = {token: value for piece, token in VOCABULARY.ids.items() if pieces(piece)}
    return wishing(lambda _: liked)


def after(grammar: Grammar, text: str) -> Constraint | None:
    """The grammar's state after `text` (the longest allowed token at every step); None if it refuses the text."""
    state, rest = GrammarCompiler(VOCABULARY).start(grammar), text.encode()
    while rest:
        sizes = (n for n in range(min(32, len(rest)), 0, -1) if state_allows(state, rest[:n]))
        size = next(sizes, None)
        if size is None:
            return None
        state.advance(VOCABULARY.ids[rest[:size]])
        rest = rest[size:]
    return state


def state_allows(state: Constraint, piece: bytes) -> bool:
    """Whether a token with exactly these bytes may come next."""
    token = VOCABULARY.ids.get(piece)
    return token is not None and state.allows(token)


def takes(grammar: Grammar, text: str) -> bool:
    """Whether `text` is a complete text of the grammar."""
    state = after(grammar, text)
    return state is not None and state.accepting
