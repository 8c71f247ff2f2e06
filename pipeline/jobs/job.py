"""One scheduled job as its owner writes it (`Job`): what to read, when, where to, and what to do when it fails."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from lookstruct.extractors.options import FetchOptions
from lookstruct.pipeline.jobs.durations import Length, spell
from lookstruct.pipeline.jobs.trigger import Every, Trigger, cron
from lookstruct.pipeline.sinks.sink import SinkOptions
from lookstruct.schemas.errors import UsageError

Event = Literal["failed", "paused", "changed", "warning", "recovered"]
SHORTEST = timedelta(seconds=1)
_NAME = re.compile(r"[\w][\w.-]{0,63}")


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Listed = BeforeValidator(_listed)


class Job(BaseModel):
    """A job. Exactly one of `every` and `cron` is given.

    `to` None keeps records in the job's own history alone. `key` names the fields that tell the records of one job
    apart; without it that is the page they came from. `pause_after` failed runs in a row pause the job, 0 never does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: str
    urls: Annotated[tuple[str, ...], Listed] = Field(min_length=1, alias="url")
    schema_spec: str = Field(alias="schema")
    every: Length | None = None
    cron: str | None = None
    timezone: str = "UTC"
    to: str | None = None
    on: Literal["change", "always"] = "change"
    key: Annotated[tuple[str, ...], Listed] = ()
    evidence: bool = False
    table: str | None = None
    nested: Literal["json", "tables"] = "json"
    jitter: Length = timedelta()
    timeout: Length = timedelta(minutes=10)
    retries: int = Field(default=2, ge=0, le=100)
    backoff: Length = timedelta(minutes=1)
    pause_after: int = Field(default=5, ge=0)
    notify: Annotated[tuple[str, ...], Listed] = ()
    notify_on: Annotated[tuple[Event, ...], Listed] = ("failed", "paused", "changed", "warning", "recovered")
    fetch: dict[str, Any] = Field(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _is_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("a job's name has letters, digits, '.', '_' and '-', at most 64 of them")
        return name

    @field_validator("timezone")
    @classmethod
    def _is_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
            raise ValueError(f"{name!r} is no time zone; write one like Europe/Berlin") from exc
        return name

    @field_validator("fetch")
    @classmethod
    def _fits_fetch(cls, fetch: dict[str, Any]) -> dict[str, Any]:
        FetchOptions(**fetch)
        return fetch

    @model_validator(mode="after")
    def _is_scheduled(self) -> Self:
        if (self.every is None) == (self.cron is None):
            raise ValueError("a job needs one of every and cron")
        if self.every is not None and self.every < SHORTEST:
            raise ValueError("every must be at least 1s")
        if self.timeout <= timedelta():
            raise ValueError("timeout must be longer than 0s")
        self.trigger(datetime(2000, 1, 1, tzinfo=UTC))
        return self

    def trigger(self, anchor: datetime) -> Trigger:
        """When it fires; `anchor` is what an interval is counted from."""
        if self.every is not None:
            return Every(self.every, anchor)
        return cron(self.cron or "", ZoneInfo(self.timezone))

    def fetch_options(self, base: FetchOptions) -> FetchOptions:
        """`base` with what this job wants otherwise."""
        return FetchOptions(**{**base.model_dump(), **self.fetch})

    @property
    def sink_options(self) -> SinkOptions:
        """How its sink keeps records."""
        return SinkOptions(self.key, self.evidence, self.table, self.nested)

    @property
    def schedule(self) -> str:
        """The schedule in a few words."""
        return f"every {spell(self.every)}" if self.every is not None else f"{self.cron} {self.timezone}"

    def to_json(self) -> dict[str, Any]:
        """What differs from the defaults, in the words of the job file."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def make_job(given: Mapping[str, Any], origin: str = "") -> Job:
    """A checked job; UsageError names the first fault, after `origin` (a file, or nothing)."""
    try:
        return Job.model_validate(dict(given))
    except UsageError as exc:
        raise UsageError(f"{origin}{exc}") from exc
    except ValidationError as exc:
        raise UsageError(f"{origin}{_fault(exc, given)}") from exc


def _fault(exc: ValidationError, given: Mapping[str, Any]) -> str:
    fault = exc.errors()[0]
    place = ".".join(str(step) for step in fault["loc"])
    reason = fault["msg"].removeprefix("Value error, ")
    called = f"The job {given['name']!r}" if isinstance(given.get("name"), str) else "A job"
    if fault["type"] == "extra_forbidden":
        return f"{called} has a setting {place!r} that jobs do not have."
    if fault["type"] == "missing":
        return f"{called} has no {place}."
    return f"{called}: {f'{place}: ' if place else ''}{reason[:1].lower()}{reason[1:]}."
