"""Who visits a page: credentials, cookies of an earlier login, and the device that the browser plays."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from lookstruct.schemas.errors import UsageError


def without_credentials(url: str) -> tuple[str, str | None]:
    """A URL without the user and password in it, and those as `user:password`.

    >>> without_credentials("https://ann:s%40fe@a.example:8443/x"), without_credentials("https://a.example/")
    (('https://a.example:8443/x', 'ann:s@fe'), ('https://a.example/', None))
    """
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    return (urlunsplit(parts._replace(netloc=host)), unquote(user)) if at else (url, None)


def same_origin(url: str, other: str) -> bool:
    """Whether two URLs have scheme, host and port in common.

    >>> same_origin("https://a.example/x", "https://a.example/y"), same_origin("https://a.example", "http://a.example")
    (True, False)
    """
    return urlsplit(url)[:2] == urlsplit(other)[:2]


def credentials_for(url: str, given: str | None) -> dict[str, str] | None:
    """Playwright's form of `user:password`, held to the origin of `url`: no other site is ever told."""
    if given is None:
        return None
    user, _, password = given.partition(":")
    parts = urlsplit(url)
    return {"username": user, "password": password, "origin": f"{parts.scheme}://{parts.netloc}"}


def read_storage(path: Path) -> dict[str, Any]:
    """Cookies and local storage as `extract login` keeps them; UsageError if the file holds none."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise UsageError(f"{path} does not exist: make it with extract login URL --storage-state {path}") from exc
    except (OSError, ValueError) as exc:
        raise UsageError(f"{path} cannot be read as stored cookies ({exc}): make it anew with extract login") from exc
    if not isinstance(state, dict) or not isinstance(state.get("cookies"), list):
        raise UsageError(f"{path} holds no stored cookies: make it with extract login URL --storage-state {path}")
    return state


def device_settings(devices: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, Any]:
    """What a context needs to pass for a device; UsageError with the nearest names for one that nobody knows.

    >>> device_settings({"Pixel 7": {"is_mobile": True, "default_browser_type": "chromium"}}, "pixel 7")
    {'is_mobile': True}
    """
    known = {device.lower(): device for device in devices}
    found = known.get(name.strip().lower())
    if found is None:
        near = [known[other] for other in difflib.get_close_matches(name.lower(), known, n=3)]
        raise UsageError(f"there is no device {name!r}: {_advice(near, devices)}")
    return {key: value for key, value in devices[found].items() if key != "default_browser_type"}


def _advice(near: Iterable[str], devices: Iterable[str]) -> str:
    names = list(near) or [name for name in devices if "landscape" not in name][:5]
    return f"known are {', '.join(names)} and others of Playwright's list"
