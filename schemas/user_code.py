"""`module:Class` or `file.py:Class` -> the object; the user's code runs, and what fails in it is a SchemaError."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from lookstruct.schemas.errors import SchemaError

_PACKAGE = "_lookstruct_user_"


def load_module(module: str, member: str) -> Any:
    """The object `member` (dots allowed) of an importable module; the working folder counts as importable."""
    with _on_path(Path.cwd()):
        try:
            found = importlib.import_module(module)
        except (Exception, SystemExit) as exc:
            raise SchemaError(f"The module '{module}' cannot be imported ({_reason(exc)}); check its name.") from exc
    return _member(found, member, module)


def load_file(path: Path, member: str) -> Any:
    """The object `member` of a Python file, which may import its siblings as `x` or as `.x`.

    The file is run anew each time, since it may have been edited.
    """
    if not path.is_file():
        raise SchemaError(f"There is no file {path}; expected path/to/file.py:Class.")
    module = _execute(path.resolve())
    if not member:
        raise SchemaError(f"{path} names no class; write {path}:{(_classes(module) or ['Class'])[0]}.")
    return _member(module, member, str(path))


def _execute(path: Path) -> ModuleType:
    package = _package(path.parent)
    spec = importlib.util.spec_from_file_location(f"{package}.{path.stem}", path)
    assert spec is not None, f"no loader for {path}"
    assert spec.loader is not None, f"no loader for {path}"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pydantic looks names up there
    _forget_other_siblings(path.parent)
    with _on_path(path.parent):
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as exc:
            del sys.modules[spec.name]
            raise SchemaError(f"{path} fails when it is run: {_reason(exc)}.") from exc
    return module


def _package(folder: Path) -> str:
    """The name of a made-up package over `folder`, so that `from .sibling import X` works in a loose file."""
    name = _PACKAGE + hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name


def _forget_other_siblings(folder: Path) -> None:
    """Unload modules that an earlier schema file brought from another folder and that have a namesake in this one."""
    earlier = {p for n, m in sys.modules.items() if n.startswith(_PACKAGE) for p in getattr(m, "__path__", ())}
    earlier.discard(str(folder))
    for name, module in list(sys.modules.items()):
        origin = getattr(module, "__file__", None)
        namesake = "." not in name and ((folder / f"{name}.py").is_file() or (folder / name).is_dir())
        if origin and namesake and str(Path(origin).parent) in earlier:
            del sys.modules[name]


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


def _member(module: ModuleType, member: str, origin: str) -> Any:
    found: Any = module
    for name in member.split("."):
        if not hasattr(found, name):
            near = get_close_matches(name, _classes(found), 3, 0.4) or _classes(found)
            hint = f"; it has {', '.join(near)}" if near else ""
            raise SchemaError(f"There is no '{member}' in {origin}{hint}.")
        found = getattr(found, name)
    return found


def _classes(owner: Any) -> list[str]:
    """The names of the classes written in a module (imported ones last)."""
    names = [n for n, v in vars(owner).items() if isinstance(v, type) and not n.startswith("_")]
    return sorted(names, key=lambda n: vars(owner)[n].__module__ != getattr(owner, "__name__", ""))


def _reason(exc: BaseException) -> str:
    return f"{type(exc).__name__}: {exc}".partition("\n")[0].rstrip(".: ")
