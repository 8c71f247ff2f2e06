"""What a ledger says of a run: `Run`, its pages (`PageRow`, `Failure`, `Counts`) and what they cost (`Costs`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.engine import make_url

from lookstruct.pipeline.storage.database import shown_url


@dataclass(frozen=True, slots=True)
class Spec:
    """What a run does, fixed when it begins.

    `schema` is the text that names it, `name` and `json_schema` what that meant. `flags` are the options given on the
    command line, by group and name: a resumed run gets them again.
    """

    schema: str
    name: str
    json_schema: Mapping[str, Any]
    sink: str
    flags: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `state` is running (or was killed), stopped, or done; `position` where its sink has got to."""

    id: str
    spec: Spec
    state: str
    started_at: str
    finished_at: str | None
    position: str
    owner: str | None

    @property
    def shown_sink(self) -> str:
        """The sink without a password."""
        return shown_url(make_url(self.spec.sink)) if "://" in self.spec.sink else self.spec.sink


@dataclass(frozen=True, slots=True)
class PageRow:
    """One page of a run: its number from 0, its target, and the line of the list that named it.

    `via` is the sitemap or feed that led to it, None where a person named it: what a page leads to must be public.
    """

    number: int
    target: str
    line: int | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A page that failed: `kind` is the error's class, `reason` its message."""

    page: PageRow
    kind: str
    reason: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Counts:
    """How many pages are in which state; `reading` ones count as waiting."""

    waiting: int = 0
    done: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """All pages of the run."""
        return self.waiting + self.done + self.failed


@dataclass(frozen=True, slots=True)
class Costs:
    """What reading took: tokens, forwards, and seconds of fetching and of the model. Sums, where several pages."""

    prompt_tokens: int = 0
    new_tokens: int = 0
    forwards: int = 0
    fetch_s: float = 0.0
    read_s: float = 0.0
