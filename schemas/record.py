"""What comes out: a validated `Record` whose every leaf value carries its `Evidence`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

from lookstruct.schemas.document import Span

T = TypeVar("T")


class EvidenceStatus(Enum):
    """How a value relates to the page's text."""

    EXACT = "exact"  # stands there character for character (up to whitespace)
    NORMALISED = "normalised"  # stands there in another form: 28/11/2022 for 2022-11-28
    DERIVED = "derived"  # computed or chosen: an enum member, a boolean, a sum
    NONE = "none"  # stands nowhere on the page


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where one value stands: `span` and `dom_path` are None unless the status is exact or normalised.

    `confidence` is a probability in [0, 1], None when it was not computed. `flags` are short remarks such as
    "ambiguous-date".
    """

    status: EvidenceStatus
    span: Span | None = None
    text: str | None = None
    dom_path: str | None = None
    confidence: float | None = None
    flags: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The JSON form printed by `--evidence`."""
        return {
            "status": self.status.value,
            "start": self.span.start if self.span else None,
            "end": self.span.end if self.span else None,
            "text": self.text,
            "dom_path": self.dom_path,
            "confidence": self.confidence,
            **({"flags": list(self.flags)} if self.flags else {}),
        }


@dataclass(slots=True)
class Stats:
    """Counts and times of the decoding of one record; times in seconds of wall clock.

    `forwards` counts decode forwards, the prefill not included. `forced_tokens` are those for which the grammar
    left one choice. `drafted` and `accepted_by_depth` count tree nodes of each source by depth. `modelled_s` is what
    the forwards cost by the machine's cost curve and `modelled_plain_s` what decoding without drafts would have cost;
    both are 0 where no curve was needed. `measuring_s` is what it took to measure that curve, once for a model on a
    machine, or to read it from disk; it is part of neither prefill nor decoding.
    """

    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    new_tokens: int = 0
    forced_tokens: int = 0
    forwards: int = 0
    rows: int = 0
    nodes: int = 0
    logit_rows: int = 0
    prefill_s: float = 0.0
    measuring_s: float = 0.0
    decode_s: float = 0.0
    model_s: float = 0.0
    grammar_s: float = 0.0
    draft_s: float = 0.0
    cache_s: float = 0.0
    offered: dict[str, int] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)
    drafted: dict[str, list[int]] = field(default_factory=dict)
    accepted_by_depth: dict[str, list[int]] = field(default_factory=dict)
    modelled_s: float = 0.0
    modelled_plain_s: float = 0.0
    finish_reason: str = ""
    token_ids: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def tokens_per_forward(self) -> float:
        """New tokens divided by decode forwards; 0.0 when there was none."""
        return self.new_tokens / self.forwards if self.forwards else 0.0

    @property
    def speed_up(self) -> float | None:
        """How many times faster than without drafts, by the cost curve; None where there is none."""
        return self.modelled_plain_s / self.modelled_s if self.modelled_s else None

    def to_json(self) -> dict[str, Any]:
        """The JSON form written by `--stats`."""
        return {**asdict(self), "tokens_per_forward": round(self.tokens_per_forward, 3), "speed_up": self.speed_up}


@dataclass(frozen=True, slots=True)
class Record(Generic[T]):
    """A record made from one page.

    `value` is the validated object of the user's own type (a dict for JSON Schema), `data` its plain JSON form,
    `evidence` maps JSON pointers (RFC 6901: `/lines/0/price`) of leaf values to where they stand. `raw` is the
    model's text.
    """

    value: T
    data: Any
    evidence: Mapping[str, Evidence]
    raw: str
    stats: Stats
    url: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
