"""A grammar and a prefix -> which tokens may come next. The only file that knows the grammar engine.

>>> Grammar.regex("[0-9]{4}").kind
'regex'
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any, Literal

import llguidance
import llguidance.numpy
import numpy as np
from numpy.typing import NDArray

from lookstruct.decoding.vocabulary import Vocabulary
from lookstruct.schemas.errors import SchemaError

Bitmask = NDArray[np.int32]
"""Allowed token ids, 32 to a word, lowest bit first: shape [ceil(width / 32)], int32."""

LIMITS = llguidance.LLParserLimits(initial_lexer_fuel=10_000_000, step_lexer_fuel=5_000_000)
"""How much work the engine may do for one step. Its own limit (200,000) is met by names that stand between long rows of
letters, such as keys and checksums; on pages of those a step takes 0.05 s at most."""
JSON_OPTIONS: Mapping[str, Any] = {"item_separator": ", ", "key_separator": ": ", "whitespace_flexible": False}


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the output must look like, as plain data: compiled by the engine when it is used.

    `is_json` tells draft sources that the text can be read as JSON while it grows.
    """

    kind: Literal["json", "regex", "lark"]
    source: str
    is_json: bool = False

    @staticmethod
    def json_schema(schema: Mapping[str, Any]) -> Grammar:
        """JSON that fits `schema`, keys in its order, `", "` and `": "` between them and no other whitespace."""
        return Grammar("json", json.dumps(schema, ensure_ascii=False), is_json=True)

    @staticmethod
    def regex(pattern: str) -> Grammar:
        """Text that the regular expression matches whole."""
        return Grammar("regex", pattern)

    @staticmethod
    def lark(source: str, *, is_json: bool = False) -> Grammar:
        """Text of a context-free grammar in llguidance's dialect of Lark; `is_json` says that its texts are JSON."""
        return Grammar("lark", source, is_json)

    def compiled(self) -> str:
        """The engine's own form; SchemaError if the source is not even of its kind."""
        try:
            if self.kind == "json":
                return llguidance.LLMatcher.grammar_from_json_schema(self.source, JSON_OPTIONS)  # type: ignore[arg-type]
            if self.kind == "regex":
                return llguidance.LLMatcher.grammar_from_regex(self.source)
            return llguidance.LLMatcher.grammar_from_lark(self.source)
        except ValueError as exc:
            raise SchemaError(f"The {self.kind} grammar cannot be read: {exc}.") from exc


@dataclass(slots=True)
class Meter:
    """Seconds spent in the grammar engine by a state and all its forks."""

    seconds: float = 0.0


class Constraint:
    """The grammar's state after a prefix. `mask` and `forced` look, `advance` moves, `fork` copies.

    Tokens are accepted by the mask alone: within forced text the mask is narrower than what the engine's own
    `validate_tokens` would take (one canonical token), and a draft must not smuggle another in.
    """

    __slots__ = ("_forced", "_mask", "_matcher", "_n_allowed", "_words", "meter")

    def __init__(self, matcher: llguidance.LLMatcher, words: int, meter: Meter | None = None) -> None:
        self.meter = meter or Meter()
        self._matcher = matcher
        self._words = words
        self._mask: Bitmask | None = None
        self._forced: int | None = None
        self._n_allowed = 0

    @property
    def is_thinking(self) -> bool:
        """Whether what comes next is no part of the text yet (`thinking.py`)."""
        return False

    @property
    def way_out(self) -> int | None:
        """The token that is the shortest way to an end here, where the mask does not show it."""
        return None

    @property
    def finished(self) -> bool:
        """Whether nothing may follow but the end."""
        return bool(self._matcher.is_stopped())

    @property
    def accepting(self) -> bool:
        """Whether the text so far is complete."""
        return bool(self._matcher.is_accepting())

    def mask(self) -> Bitmask:
        """The allowed ids; computed once per state and not to be written to."""
        if self._mask is None:
            start = perf_counter()
            mask = np.zeros((1, self._words), np.int32)
            llguidance.numpy.fill_next_token_bitmask(self._matcher, mask, 0)
            if self._matcher.is_error():
                raise SchemaError(f"The grammar engine gave up: {self._matcher.get_error()}.")
            self._mask = mask[0]
            self._n_allowed = n_bits(self._mask)
            self._forced = single_bit(self._mask) if self._n_allowed == 1 else None
            self.meter.seconds += perf_counter() - start
        return self._mask

    def forced(self) -> int | None:
        """The one id the grammar leaves, or None where there is a choice."""
        self.mask()
        return self._forced

    @property
    def n_allowed(self) -> int:
        """How many ids may come next."""
        self.mask()
        return self._n_allowed

    def allows(self, token: int) -> bool:
        """Whether `token` may come next."""
        return has_bit(self.mask(), token)

    def advance(self, token: int) -> None:
        """Take `token`, which the mask must allow, into the prefix."""
        if not self._matcher.consume_token(token):
            raise SchemaError(
                f"The grammar engine gave up at token {token}, which must be one that it allows: "
                f"{first_line(self._matcher.get_error())}."
            )
        self._mask = self._forced = None

    def fork(self) -> Constraint:
        """An independent copy of this state."""
        return Constraint(self._matcher.deep_copy(), self._words, self.meter)

    def after(self, token: int) -> Constraint:
        """The state one token further; this one stays."""
        child = self.fork()
        child.advance(token)
        return child


class GrammarCompiler:
    """Compiles grammars for one vocabulary and keeps the last few, since a schema serves page after page."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._compile = lru_cache(maxsize=32)(self._compile_uncached)

    def start(self, grammar: Grammar) -> Constraint:
        """The state before the first token; SchemaError if the engine cannot enforce the grammar."""
        return Constraint(self._compile(grammar).deep_copy(), (self._vocabulary.width + 31) // 32)

    def _compile_uncached(self, grammar: Grammar) -> llguidance.LLMatcher:
        matcher = llguidance.LLMatcher(self._vocabulary.ll, grammar.compiled(), limits=LIMITS)
        if matcher.is_error():
            raise SchemaError(f"The {grammar.kind} grammar cannot be enforced: {first_line(matcher.get_error())}")
        return matcher


def has_bit(mask: Bitmask, token: int) -> bool:
    """Whether bit `token` is set.

    >>> has_bit(np.array([0, 2], np.int32), 33)
    True
    """
    return bool((int(mask[token >> 5]) >> (token & 31)) & 1)


def n_bits(mask: Bitmask) -> int:
    """How many bits are set.

    >>> n_bits(np.array([3, -1], np.int32))
    34
    """
    return int(np.bitwise_count(mask.view(np.uint32)).sum())


def single_bit(mask: Bitmask) -> int | None:
    """The index of the only set bit, or None if there are none or several.

    >>> single_bit(np.array([0, 4], np.int32)), single_bit(np.array([1, 4], np.int32))
    (34, None)
    """
    words = np.flatnonzero(mask)
    if len(words) != 1:
        return None
    word = int(mask[words[0]]) & 0xFFFFFFFF
    return int(words[0]) * 32 + word.bit_length() - 1 if word & (word - 1) == 0 else None


def allowed_ids(mask: Bitmask, width: int) -> NDArray[np.int64]:
    """The set bits in ascending order, as token ids below `width`."""
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little", count=width))


def first_line(message: str) -> str:
    """The first line of an engine's message, which says what; the rest says where in its own sources."""
    return message.strip().splitlines()[0] if message.strip() else "no reason given"
