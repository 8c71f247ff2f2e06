"""Key + builder -> a folder in the user's cache that is built once: whole or not at all, whoever asks.

The builder writes into a temporary folder beside the final one, under a lock between processes; a manifest is added
and the folder renamed. So a killed build leaves nothing that looks like a model, and what it left is swept away by the
next one.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
import platformdirs

from lookstruct.schemas.errors import ModelError

Notify = Callable[[str], None]
"""Takes one line that tells a person what is going on."""

MANIFEST = "manifest.json"
_FORMAT = 1
_SAMPLE_BYTES = 65_536
_N_SAMPLES = 64


def to_stderr(line: str) -> None:
    """The default `Notify`: standard output belongs to the record."""
    sys.stderr.write(line + "\n")


def cache_root() -> Path:
    """Where everything is kept that can be made again: `$LOOKSTRUCT_CACHE`, or a folder in the user's cache folder."""
    root = os.environ.get("LOOKSTRUCT_CACHE") or platformdirs.user_cache_dir("lookstruct", appauthor=False)
    return Path(root).expanduser()


def models_folder() -> Path:
    """Where converted models live."""
    return cache_root() / "models"


def cached(key: str) -> Path | None:
    """The folder of `key` if it is there and sound, else None."""
    folder = models_folder() / key
    return folder if fault(folder) is None else None


def build_once(
    key: str,
    build: Callable[[Path], None],
    *,
    thorough: bool = False,
    notify: Notify = to_stderr,
) -> Path:
    """The folder of `key`, filled by `build` if it is missing or damaged.

    `build` gets an empty folder in the same file system; what it raises is raised. `thorough` reads every byte of what
    is there, instead of sizes and samples. Raises ModelError when the cache folder cannot be written.
    """
    folder = models_folder() / key
    if fault(folder, thorough=thorough) is None:
        return folder
    with _locked(folder, notify):
        why = fault(folder, thorough=thorough)  # another process may have built it while this one waited
        if why is None:
            return folder
        if folder.exists():
            notify(f"The cached model in {folder} is damaged ({why}): building it again.")
        _sweep(folder)
        _build(folder, build)
    return folder


def fault(folder: Path, *, thorough: bool = False) -> str | None:
    """What is wrong with a built folder, in a few words; None when its files are those that were built."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        listed = manifest["files"] if manifest["format"] == _FORMAT else {}
    except FileNotFoundError:
        return "no manifest"
    except (OSError, ValueError, KeyError, TypeError):
        return "unreadable manifest"
    if not listed:
        return "another version's format"
    for name, expected in listed.items():
        if (why := _file_fault(folder / name, expected, thorough)) is not None:
            return f"{name}: {why}"
    return None


def _file_fault(path: Path, expected: dict[str, object], thorough: bool) -> str | None:
    if not path.is_file():
        return "missing"
    if (n_bytes := path.stat().st_size) != expected["bytes"]:
        return f"{n_bytes} bytes instead of {expected['bytes']}"
    if _sample_hash(path) != expected["sample_sha256"] or (thorough and file_sha256(path) != expected["sha256"]):
        return "changed since it was written"
    return None


def file_sha256(path: Path) -> str:
    """The sha256 of a whole file, in hex; about a second a gigabyte."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sample_hash(path: Path) -> str:
    """sha256 of 64 evenly spread pieces, the first and last bytes among them: finds cuts and holes in milliseconds."""
    n_bytes = path.stat().st_size
    last = max(0, n_bytes - _SAMPLE_BYTES)
    starts = sorted({last * i // (_N_SAMPLES - 1) for i in range(_N_SAMPLES)})
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for start in starts:
            file.seek(start)
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()


@contextmanager
def _locked(folder: Path, notify: Notify) -> Iterator[None]:
    """Holds the lock of `folder` between processes; it is freed by the system when its holder is killed."""
    lock = filelock.FileLock(folder.parent / f".{folder.name}.lock")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(blocking=False)
        except filelock.Timeout:
            notify(f"Another process is preparing {folder.name}: waiting for it.")
            lock.acquire()
    except OSError as exc:
        raise ModelError(
            f"The cache folder {folder.parent} cannot be written ({exc.strerror or exc}): "
            "make it writable, or set LOOKSTRUCT_CACHE to a folder that is."
        ) from exc
    try:
        yield
    finally:
        lock.release()


def _sweep(folder: Path) -> None:
    """Removes what killed builds of this key left behind; only the lock's holder may call it."""
    for stale in folder.parent.glob(f".{folder.name}.*.tmp"):
        shutil.rmtree(stale, ignore_errors=True)


def require_disk(folder: Path, needed_bytes: int) -> None:
    """Raises ModelError when the file system of `folder` has less than `needed_bytes` left."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise ModelError(
            f"Preparing the model needs {needed_bytes / 1e9:.1f} GB of disk in {models_folder()}, and "
            f"{free / 1e9:.1f} GB are free: free some, or set LOOKSTRUCT_CACHE to a folder on a larger disk."
        )


def _build(folder: Path, build: Callable[[Path], None]) -> None:
    fresh, old = (folder.parent / f".{folder.name}.{os.getpid()}{mark}.tmp" for mark in ("", "-old"))
    fresh.mkdir()
    try:
        build(fresh)
        _write_manifest(fresh)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _write_manifest(folder: Path) -> None:
    """Lists every file, after its bytes have reached the disk: a crash must not leave holes under a right size."""
    files = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        _sync(path)
        files[path.relative_to(folder).as_posix()] = {
            "bytes": path.stat().st_size,
            "sha256": file_sha256(path),
            "sample_sha256": _sample_hash(path),
        }
    (folder / MANIFEST).write_text(json.dumps({"format": _FORMAT, "files": files}, indent=1), "utf-8")
    _sync(folder / MANIFEST)


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
