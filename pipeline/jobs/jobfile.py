"""A TOML or YAML file of jobs, kept under version control, -> the jobs in the database (`read_jobs`, `sync`).

[[job]]                      jobs:
name = "prices"                - name: prices
url = "https://..."              url: https://...
schema = "Product"               schema: Product
every = "6h"                     every: 6h
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lookstruct.pipeline.jobs.job import Job, make_job
from lookstruct.pipeline.jobs.store import JobStore
from lookstruct.schemas.errors import UsageError


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file changes: names of jobs that are new, changed, and no longer in it."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def read_jobs(path: Path) -> list[Job]:
    """The jobs in a file; UsageError names the file and the fault."""
    content = _content(path)
    listed = content.get("job", content.get("jobs")) if isinstance(content, Mapping) else None
    if not isinstance(listed, Sequence) or isinstance(listed, str) or len(content) != 1:
        raise UsageError(f"{path} holds no list of jobs; write [[job]] tables in TOML, or jobs: and a list in YAML.")
    if bad := [entry for entry in listed if not isinstance(entry, Mapping)]:
        raise UsageError(f"{path}: {bad[0]!r} is no job; each has a name, a url, a schema, and every or cron.")
    jobs = [make_job(entry, f"{path}: ") for entry in listed]
    names = [job.name for job in jobs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{path}: there are two jobs {twice!r}; give each its own name.")
    return jobs


def _content(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else _yaml(text, path)
    except tomllib.TOMLDecodeError as exc:
        raise UsageError(f"{path} is no valid TOML: {exc}.") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(f"The job file {path} cannot be read ({exc}); check its path.") from exc


def _yaml(text: str, path: Path) -> Any:
    if path.suffix not in (".yaml", ".yml"):
        raise UsageError(f"The job file {path} is none of .toml, .yaml and .yml; rename it to what it is.")
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as exc:
        raise UsageError(f"{path} is no valid YAML: {' '.join(str(exc).split())}.") from exc


def plan(jobs: Sequence[Job], store: JobStore, origin: str) -> Plan:
    """What `sync` would do. UsageError if a job of the same name was added by hand or by another file."""
    known = {row.job.name: row for row in store.all()}
    for job in jobs:
        row = known.get(job.name)
        if row is not None and row.origin != origin:
            raise UsageError(
                f"The job {job.name!r} was added by {row.origin or 'hand'}; rename it in {origin}, or remove it first."
            )
    ours = {name: row for name, row in known.items() if row.origin == origin}
    names = {job.name for job in jobs}
    return Plan(
        tuple(job.name for job in jobs if job.name not in ours),
        tuple(job.name for job in jobs if job.name in ours and ours[job.name].job != job),
        tuple(name for name in ours if name not in names),
    )


def sync(jobs: Sequence[Job], store: JobStore, origin: str, now: datetime) -> Plan:
    """Makes the database's jobs of this file what the file says; others are left alone, history is kept."""
    wanted = plan(jobs, store, origin)
    by_name = {job.name: job for job in jobs}
    for name in wanted.added:
        store.add(by_name[name], now, origin)
    for name in wanted.changed:
        store.replace(by_name[name], now, origin)
    for name in wanted.removed:
        store.remove(name)
    return wanted
