"""scripts/install.py: each step once, again when what it made is gone, and a sentence where it cannot be done."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from lookstruct.extractors import browser

SCRIPT = Path(__file__).parents[1] / "scripts" / "install.py"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, its `.venv` in an empty folder."""
    spec = importlib.util.spec_from_file_location("install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "install", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMPS", tmp_path / ".venv" / "stamps")
    monkeypatch.setattr(module, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    (tmp_path / ".venv").mkdir()
    monkeypatch.delenv("LOOKSTRUCT_CHROMIUM", raising=False)
    return module


@pytest.fixture
def done(install: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Replaces every step by one that makes a file; lists the steps as they are done."""
    names: list[str] = []
    keys = {"venv": "1", "torch": "2", "package": "3"}

    def step(name: str) -> object:
        def do() -> Path:
            names.append(name)
            (tmp_path / name).touch()
            return tmp_path / name

        return install.Step(name, keys[name], do)

    monkeypatch.setattr(install, "steps", lambda: [step(name) for name in keys])
    return names


def test_the_second_run_does_nothing_and_says_nothing(
    install: ModuleType, done: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert install.main([]) == 0
    assert done == ["venv", "torch", "package"]
    assert capsys.readouterr().out == "==> Everything is set up.\n"
    assert install.main(["--quiet"]) == 0
    assert done == ["venv", "torch", "package"]
    assert capsys.readouterr().out == ""
    assert install.main([]) == 0
    assert capsys.readouterr().out == "==> Everything was set up already.\n"


def test_a_step_is_done_again_when_what_it_made_is_gone(install: ModuleType, done: list[str], tmp_path: Path) -> None:
    install.main([])
    done.clear()
    (tmp_path / "torch").unlink()
    install.main([])
    assert done == ["torch"]


@pytest.mark.parametrize("text", [json.dumps({"key": "other", "made": "/"}), '{"key"'])
def test_a_step_is_done_again_when_its_stamp_is_for_something_else(
    install: ModuleType, done: list[str], text: str
) -> None:
    install.main([])
    done.clear()
    (install.STAMPS / "package.json").write_text(text)
    install.main([])
    assert done == ["package"]


def test_a_step_that_fails_stops_the_set_up_and_is_tried_again(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tries = []

    def fail() -> Path:
        tries.append(1)
        raise install.SetupError("do this.")

    monkeypatch.setattr(install, "steps", lambda: [install.Step("torch", "k", fail)])
    assert (install.main([]), install.main([])) == (1, 1)
    assert len(tries) == 2
    assert capsys.readouterr().err == "Set-up stopped: do this.\n" * 2


def test_the_package_is_installed_again_when_its_requirements_change(install: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("a")
    install.CONSTRAINTS = tmp_path / "constraints.txt"
    install.CONSTRAINTS.write_text("torch==1\n")
    before = {step.name: step.key for step in install.steps()}
    (tmp_path / "pyproject.toml").write_text("b")
    after = {step.name: step.key for step in install.steps()}
    assert {name for name in before if before[name] != after[name]} == {"package", "browser"}


def fake_python(folder: Path, name: str, version: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\necho {version}\n")
    (folder / name).chmod(0o755)


def test_the_first_python_that_is_new_enough_is_taken(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_python(tmp_path, "python3", "3 9")
    fake_python(tmp_path, "python3.99", "3 99")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(install, "PYTHONS", ("python3", "python3.98", "python3.99"))
    assert install.find_python() == "python3.99"


def test_an_old_python_is_named_with_the_way_to_a_new_one(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_python(tmp_path, "python3", "3 9")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(install, "PYTHONS", ("python3", "python3.99"))
    with pytest.raises(install.SetupError, match=r"3\.11 or newer is needed \(found: python3 is 3\.9\)"):
        install.find_python()


def test_a_venv_that_was_moved_is_made_anew(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[list[str]] = []
    monkeypatch.setattr(install, "run", lambda command, _failure: made.append(command))
    monkeypatch.setattr(install, "version_of", lambda _python: (3, 12))
    install.make_venv()
    assert made == []
    install.STAMPS.mkdir(parents=True)
    (install.STAMPS / "venv.json").write_text(json.dumps({"key": "/elsewhere", "made": "/"}))
    install.make_venv()
    assert made == [["python3", "-m", "venv", "--clear", str(tmp_path / ".venv")]]


def test_set_up_and_fetching_look_for_the_same_browsers(install: ModuleType) -> None:
    assert install.SYSTEM_BROWSERS == browser.SYSTEM_NAMES
    assert install.NAMED_BROWSER == browser.ENV_CHROMIUM


def test_the_browser_that_the_user_names_has_to_start(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(browser.ENV_CHROMIUM, "/my/chromium")
    monkeypatch.setattr(install, "launches", lambda *path: Path(path[0]) if path else None)
    assert install.get_browser() == Path("/my/chromium")
    monkeypatch.setattr(install, "launches", lambda *_: None)
    with pytest.raises(install.SetupError, match="correct or unset it"):
        install.get_browser()


def test_a_downloaded_browser_that_cannot_start_gives_way_to_one_that_does(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def succeeds(command: list[str], *_: object) -> bool:
        ran.append(command[2:])
        return True

    monkeypatch.setattr(install, "launches", lambda *path: Path(path[0]) if path == ("/bin/chromium",) else None)
    monkeypatch.setattr(install, "succeeds", succeeds)
    monkeypatch.setattr(install, "can_apt", lambda: False)
    monkeypatch.setattr(install.shutil, "which", lambda name: f"/bin/{name}")
    assert install.get_browser() == Path("/bin/chromium")
    assert ran == [["playwright", "install", "chromium"], ["playwright", "uninstall"]]


def test_playwrights_own_browser_is_preferred(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "launches", lambda *path: Path("/own") if not path else None)
    monkeypatch.setattr(install, "succeeds", lambda *_: pytest.fail("downloaded nevertheless"))
    assert install.get_browser() == Path("/own")


def test_where_nothing_downloads_a_browser_on_path_serves(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "launches", lambda *path: Path(path[0]) if path == ("/bin/chromium",) else None)
    monkeypatch.setattr(install, "succeeds", lambda *_: False)
    monkeypatch.setattr(install.shutil, "which", lambda name: f"/bin/{name}")
    assert install.get_browser() == Path("/bin/chromium")


def test_root_on_debian_gets_its_chromium(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def succeeds(command: list[str], *_: object) -> bool:
        ran.append(command)
        return command[0] == "apt-get"

    def which(name: str) -> str | None:
        installed = name == "apt-get" or (name == "chromium" and any("chromium" in c for c in ran if "apt-get" in c))
        return f"/bin/{name}" if installed else None

    monkeypatch.setattr(install, "launches", lambda *path: Path(path[0]) if path else None)
    monkeypatch.setattr(install, "succeeds", succeeds)
    monkeypatch.setattr(install.shutil, "which", which)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert install.get_browser() == Path("/bin/chromium")
    assert ran[-1] == ["apt-get", "-q", "-y", "install", "--no-install-recommends", "chromium"]


def test_without_any_browser_one_message_says_what_to_do(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "launches", lambda *_: None)
    monkeypatch.setattr(install, "succeeds", lambda *_: False)
    monkeypatch.setattr(install.shutil, "which", lambda _name: None)
    with pytest.raises(install.SetupError, match="apt-get install chromium"):
        install.get_browser()


def test_a_command_that_takes_too_long_ends_with_its_children(install: ModuleType, tmp_path: Path) -> None:
    started = time.monotonic()
    assert not install.succeeds(["sh", "-c", f"(sleep 2; touch {tmp_path}/late) & sleep 60"], 0.3)
    assert time.monotonic() - started < 2
    time.sleep(2.2 - (time.monotonic() - started))
    assert not (tmp_path / "late").exists()


MAKE_EXTRACT = r"""#!/bin/sh
for argument in "$@"; do echo "[$argument]"; done
"""


def test_make_extract_passes_everything_on_unchanged_and_prints_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text((SCRIPT.parents[1] / "Makefile").read_text())
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "install.py").write_text("print('set-up talks')")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "extract").write_text(MAKE_EXTRACT)
    (tmp_path / ".venv" / "bin" / "extract").chmod(0o755)
    url, schema = """https://x.y/?a=1&b=$c#it's "q" (z) `id`""", "title, price: float, tags: [str]"
    command = ["make", "extract", f"URL={url}", f"SCHEMA={schema}", 'ARGS=--to "a b.json"']
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.splitlines() == ["[--url]", f"[{url}]", "[--schema]", f"[{schema}]", "[--to]", "[a b.json]"]
    assert done.stderr == "set-up talks\n"
