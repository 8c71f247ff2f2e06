"""Target -> Page -> Document: fetch what a person sees, and read it in order.

Names are imported when they are first used: the options alone load neither Playwright nor a parser. `clean` and
`fetch` live in the modules of the same names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookstruct.extractors.browser import Chromium as Chromium
    from lookstruct.extractors.browser import find_chromium as find_chromium
    from lookstruct.extractors.fetch import Fetcher as Fetcher
    from lookstruct.extractors.options import FetchOptions as FetchOptions
    from lookstruct.extractors.target import Target as Target
    from lookstruct.extractors.target import resolve_target as resolve_target

_HOMES = {
    "Chromium": "browser",
    "find_chromium": "browser",
    "Fetcher": "fetch",
    "FetchOptions": "options",
    "Target": "target",
    "resolve_target": "target",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """The public name, from the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
