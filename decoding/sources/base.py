"""The protocol of a draft source: text so far in, guesses of what comes next out.

A source guesses; it never decides. Whatever it proposes is checked against grammar and model in one forward, so a
bad source costs time and never a token. One instance serves one request: state cannot leak between requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from lookstruct.decoding.cursor import Cursor
from lookstruct.decoding.request import Hints, Options
from lookstruct.decoding.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Draft:
    """A guess of the continuation: `text` (UTF-8 bytes that follow what was generated) or `tokens`, not both.

    `p` is the source's belief, in (0, 1), that the first token is right; `q` that each further one is, given the
    ones before. The planner corrects both by what it measures for (source name, `kind`).
    """

    text: bytes = b""
    tokens: tuple[int, ...] = ()
    p: float = 0.5
    q: float = 0.95
    kind: str = ""


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """What a source is built from: fixed for one request.

    `assistant` is the small model of the source `draft_model`, if there is one. `shared` holds what several sources of
    this request want to work out once (by type); it dies with the request.
    """

    vocabulary: Vocabulary
    hints: Hints
    options: Options
    prompt_ids: tuple[int, ...] = ()
    assistant: Any = None
    shared: dict[type, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class DraftContext:
    """Where the text stands: `text` and `token_ids` are all that was generated, pending tokens included.

    `cursor` is the place in the JSON text, None when the grammar is not JSON.
    """

    text: bytes
    token_ids: tuple[int, ...]
    cursor: Cursor | None


@runtime_checkable
class DraftSource(Protocol):
    """One idea of where the next tokens may come from."""

    name: ClassVar[str]

    def __init__(self, request: DraftRequest) -> None: ...

    def propose(self, context: DraftContext) -> Iterable[Draft]:
        """Guesses for what follows `context.text`, any number, in any order; must not raise on odd text."""
        ...

    def observe(self, context: DraftContext, n_new: int) -> None:
        """Called after each step with the text as it now stands; its last `n_new` tokens are new."""
        ...
