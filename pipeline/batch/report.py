"""What became of a run, from its ledger: `Report`, and its JSON form for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.storage.run import Costs, Counts, Failure, Run

if TYPE_CHECKING:
    from lookstruct.pipeline.storage.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Report:
    """A run, how far it has come, what it cost, and what failed."""

    run: Run
    counts: Counts
    costs: Costs
    failures: Sequence[Failure]

    @property
    def tokens_per_forward(self) -> float:
        """New tokens divided by forwards; 0.0 when there was none."""
        return self.costs.new_tokens / self.costs.forwards if self.costs.forwards else 0.0

    @property
    def seconds(self) -> float | None:
        """From the run's beginning to its latest end, pauses included; None while it has none."""
        if self.run.finished_at is None:
            return None
        begun, ended = (datetime.fromisoformat(at) for at in (self.run.started_at, self.run.finished_at))
        return (ended - begun).total_seconds()

    def to_json(self) -> Mapping[str, Any]:
        """The form that --report writes."""
        return {
            "run": self.run.id,
            "state": self.run.state,
            "schema": self.run.spec.schema,
            "sink": self.run.shown_sink,
            "started_at": self.run.started_at,
            "finished_at": self.run.finished_at,
            "seconds": self.seconds,
            "pages": {"total": self.counts.total, **asdict(self.counts)},
            "costs": {**asdict(self.costs), "tokens_per_forward": round(self.tokens_per_forward, 3)},
            "failures": [
                {
                    "page": failure.page.number,
                    "line": failure.page.line,
                    "target": failure.page.target,
                    "kind": failure.kind,
                    "reason": failure.reason,
                }
                for failure in self.failures
            ],
        }


def report_of(ledger: Ledger, run: str) -> Report:
    """The report of a run as it stands."""
    return Report(ledger.find(run), ledger.counts(run), ledger.costs(run), ledger.failures(run))
