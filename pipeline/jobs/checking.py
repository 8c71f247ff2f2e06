"""A job -> the same job ready for a worker in any folder, or an error: before it is kept, not when it first runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lookstruct.pipeline.jobs.job import Job
from lookstruct.pipeline.sinks import Sink, kind_of, open_sink
from lookstruct.schemas.errors import UsageError
from lookstruct.schemas.loader import load_schema

FETCH_PATHS = ("storage_state", "snapshot", "cache_folder")
"""Settings of the group `[fetch]` that are files or folders."""


def checked(job: Job, *, base: Path | None = None, lenient: bool = False) -> Job:
    """`job` with absolute paths; UsageError, TargetError, SchemaError or SinkError for what could never run.

    Relative paths are relative to `base`, the present folder unless given.
    """
    base = base or Path.cwd()
    changed: dict[str, Any] = {
        "urls": tuple(_target(url, base) for url in job.urls),
        "schema_spec": schema_path(job.schema_spec, base),
        "to": _sink_path(job.to, base) if job.to is not None else None,
        "fetch": {name: _fetch_setting(name, value, base) for name, value in job.fetch.items()},
    }
    ready = job.model_copy(update=changed)
    load_schema(ready.schema_spec, lenient=lenient)
    sink = job_sink(ready, lenient=lenient)
    if sink is not None:
        try:
            sink.prepare()
        finally:
            sink.close()
    return ready


def job_sink(job: Job, *, lenient: bool = False) -> Sink | None:
    """The sink of a job, untouched so far; None for one that keeps its records to itself."""
    if job.to is None:
        return None
    return open_sink(job.to, load_schema(job.schema_spec, lenient=lenient), job.sink_options)


def _target(text: str, base: Path) -> str:
    """A web address, or a file's absolute path."""
    from lookstruct.extractors.target import resolve_target

    if (path := _existing(text, base)) is not None:
        text = str(path)
    target = resolve_target(text)
    if target.kind == "stdin":
        raise UsageError("A job cannot read standard input; give a URL or a file.")
    return target.value


def schema_path(spec: str, base: Path) -> str:
    """The schema with an absolute path, where it names a file."""
    if (path := _existing(spec, base)) is not None:
        return str(path)
    file, colon, member = spec.rpartition(":")
    path = _existing(file, base) if file.endswith(".py") else None
    return f"{path}{colon}{member}" if path is not None else spec


def _sink_path(to: str, base: Path) -> str:
    if kind_of(to).startswith("."):
        return str(base / Path(to).expanduser())
    prefix = "sqlite:///"
    is_relative = to.startswith(prefix) and to[len(prefix) :][:1] not in ("", "/", ":")
    return f"{prefix}{base / to[len(prefix) :]}" if is_relative else to


def _fetch_setting(name: str, value: Any, base: Path) -> Any:
    return str(base / Path(value).expanduser()) if name in FETCH_PATHS else value


def _existing(text: str, base: Path) -> Path | None:
    try:
        path = base / Path(text).expanduser()
        return path.resolve() if path.is_file() else None
    except (OSError, ValueError, RuntimeError):  # too long, a null byte, no home folder: not a path
        return None
