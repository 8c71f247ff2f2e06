"""What is built for others: only `lookstruct/`, and it runs from there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("lookstruct", "pipeline", "extractors", "decoding", "schemas", "tests", "bench", "examples")
FILES = ("cli.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True)


def copy_checkout(target: Path) -> Path:
    """A build in the checkout itself would leave a `build/` whose old files the next wheel takes along."""
    for name in SOURCES:
        shutil.copytree(ROOT / name, target / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, target / name)
    return target


@pytest.mark.slow
def test_the_wheel_holds_the_package_alone_and_runs_outside_the_checkout(tmp_path: Path) -> None:
    pip("wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(copy_checkout(tmp_path / "checkout")))
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"lookstruct"}
    packed = {name for name in names if name.endswith(".py")}
    written = {f"lookstruct/{path.relative_to(ROOT / 'lookstruct')}" for path in source_files()}
    assert packed == written

    pip("install", "--no-deps", "--target", str(tmp_path / "site"), str(wheel))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}

    def python(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, check=True
        ).stdout.decode()

    assert python("-c", "import lookstruct; print(lookstruct.__file__)").startswith(str(tmp_path / "site"))
    assert "Invoice" in python("-m", "lookstruct", "schemas", "list")


def source_files() -> list[Path]:
    package = ROOT / "lookstruct"
    linked = [path for link in package.iterdir() if link.is_dir() for path in link.rglob("*.py")]
    return [*package.glob("*.py"), *linked]
