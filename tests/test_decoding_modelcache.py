"""decoding/modelcache.py: built once, whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lookstruct.decoding.modelcache import MANIFEST, build_once, cached, fault, models_folder, require_disk
from lookstruct.schemas.errors import ModelError

BIG = bytes(range(256)) * 40_000  # ten megabytes: more than the samples cover


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOOKSTRUCT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


class Builder:
    """Writes a small and a big file, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, folder: Path) -> None:
        self.calls += 1
        (folder / "config.json").write_text("{}")
        (folder / "weights").write_bytes(BIG)


def quiet(_line: str) -> None:
    pass


def left_behind(cache: Path) -> list[str]:
    return [path.name for path in cache.iterdir() if path.name.endswith(".tmp")]


def test_a_second_call_builds_nothing(cache: Path) -> None:
    builder = Builder()
    first = build_once("m", builder)
    assert build_once("m", builder) == first == cache / "m"
    assert builder.calls == 1
    assert cached("m") == first


def test_what_was_never_built_is_not_cached() -> None:
    assert cached("m") is None


def test_the_cache_is_the_users_own_where_the_environment_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOKSTRUCT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/elsewhere")
    assert models_folder().parts[-2:] == ("lookstruct", "models")


def cut(folder: Path) -> None:
    os.truncate(folder / "weights", len(BIG) - 1)


def blank_the_head(folder: Path) -> None:
    with (folder / "weights").open("rb+") as file:
        file.write(bytes(8))


def punch_a_hole(folder: Path) -> None:
    with (folder / "weights").open("rb+") as file:
        file.seek(len(BIG) // 2)
        file.write(bytes(len(BIG) // 16))


def edit_a_small_file(folder: Path) -> None:
    (folder / "config.json").write_text("[]")


def remove_a_file(folder: Path) -> None:
    (folder / "weights").unlink()


def remove_the_manifest(folder: Path) -> None:
    (folder / MANIFEST).unlink()


def garble_the_manifest(folder: Path) -> None:
    (folder / MANIFEST).write_text('{"files"')


def age_the_format(folder: Path) -> None:
    text = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(text.replace('"format": 1', '"format": 0'))


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        blank_the_head,
        punch_a_hole,
        edit_a_small_file,
        remove_a_file,
        remove_the_manifest,
        garble_the_manifest,
        age_the_format,
    ],
)
def test_a_damaged_folder_is_built_again_and_said_so(damage: object) -> None:
    builder, said = Builder(), []
    folder = build_once("m", builder)
    damage(folder)  # type: ignore[operator]
    assert cached("m") is None
    build_once("m", builder, notify=said.append)
    assert builder.calls == 2
    assert fault(folder, thorough=True) is None
    assert (folder / "weights").read_bytes() == BIG
    assert len(said) == 1
    assert "damaged" in said[0]


def test_one_flipped_byte_between_the_samples_is_found_when_thorough() -> None:
    builder = Builder()
    folder = build_once("m", builder)
    with (folder / "weights").open("rb+") as file:
        file.seek(65_536 + 10)
        file.write(b"\xff")
    assert fault(folder) is None
    build_once("m", builder, thorough=True, notify=quiet)
    assert builder.calls == 2


def test_a_builder_that_fails_leaves_nothing_and_its_error_is_raised(cache: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "weights").write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_once("m", build)
    assert left_behind(cache) == []
    assert cached("m") is None


KILLED = """
import sys, time
from lookstruct.decoding.modelcache import build_once
def build(folder):
    (folder / "weights").write_bytes(b"half")
    print("building", flush=True)
    time.sleep(60)
build_once("m", build)
"""


def test_a_killed_build_leaves_no_model_and_is_swept_away_by_the_next(cache: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "building\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert len(left_behind(cache)) == 1
    assert cached("m") is None
    builder = Builder()
    build_once("m", builder)
    assert builder.calls == 1
    assert left_behind(cache) == []


RACER = """
import sys, time
from pathlib import Path
from lookstruct.decoding.modelcache import build_once, fault
def build(folder):
    with open(sys.argv[1], "a") as log:
        log.write("built\\n")
    (folder / "weights").write_bytes(b"w" * 100_000)
    time.sleep(0.5)
assert fault(build_once("m", build), thorough=True) is None
"""


def test_processes_that_start_at_once_build_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    racers = [subprocess.Popen([sys.executable, "-c", RACER, str(log)], stderr=subprocess.PIPE) for _ in range(3)]
    said = b"".join(racer.communicate()[1] for racer in racers)
    assert [racer.returncode for racer in racers] == [0, 0, 0]
    assert log.read_text() == "built\n"
    assert b"Another process is preparing m" in said


def test_a_cache_that_cannot_be_written_is_an_error_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LOOKSTRUCT_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="set LOOKSTRUCT_CACHE"):
        build_once("m", Builder())


def test_too_little_disk_is_said_before_the_work(tmp_path: Path) -> None:
    require_disk(tmp_path, 1)
    with pytest.raises(ModelError, match=r"needs 1000000000\.0 GB of disk"):
        require_disk(tmp_path, 10**18)
