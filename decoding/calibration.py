"""What sources claim against what came true: corrects a draft's probabilities by (source, kind)."""

from __future__ import annotations

from dataclasses import dataclass, field

PRIOR_DRAFTS = 6.0
"""How many drafts' worth of trust a source's own probability gets before measurements take over."""
PRIOR_TOKENS = 12.0
"""The same for its per-token continuation probability."""


@dataclass(slots=True)
class Tally:
    """Counts for one (source, kind)."""

    drafts: int = 0
    expected: float = 0.0
    hits: int = 0
    continued: int = 0
    broken: int = 0


@dataclass(slots=True)
class Calibration:
    """Learns as it goes; one instance per request, so no request depends on another."""

    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)

    def first(self, source: str, kind: str, p: float) -> float:
        """Probability that the draft's first token is right, given the source's own `p`."""
        tally = self.tallies.get((source, kind))
        if tally is not None:
            p *= (tally.hits + PRIOR_DRAFTS * 0.5) / (tally.expected + PRIOR_DRAFTS * 0.5)
        return min(0.98, max(0.005, p))

    def further(self, source: str, kind: str, q: float) -> float:
        """Probability that its next token is right, given that all before were."""
        tally = self.tallies.get((source, kind))
        if tally is None:
            return q
        n = tally.continued + tally.broken
        return (tally.continued + q * PRIOR_TOKENS) / (n + PRIOR_TOKENS)

    def observe(self, source: str, kind: str, p: float, matched: int, broke: bool) -> None:
        """A draft claimed `p`; `matched` of its tokens came true, and then it `broke` or the step ended."""
        tally = self.tallies.setdefault((source, kind), Tally())
        tally.drafts += 1
        tally.expected += p
        tally.hits += matched > 0
        tally.continued += max(0, matched - 1)
        tally.broken += broke and matched > 0
