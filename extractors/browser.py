"""Finding and starting Chromium: Playwright's own, else one on the system."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Playwright
from playwright.async_api import Error as PlaywrightError

from lookstruct.schemas.errors import BrowserUnavailable

ENV_CHROMIUM = "LOOKSTRUCT_CHROMIUM"
"""Environment variable with the path of the Chromium to use, before any other."""

SYSTEM_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge")

NO_SANDBOX_NOTE = "Chromium runs without its sandbox because this process is root: run as another user where you can"

_HOW_TO_GET_ONE = (
    f"run `playwright install chromium`, or install Debian's package `chromium`, or set {ENV_CHROMIUM} to its path"
)

# Playwright already switches most background traffic off; these are what is left.
_QUIET = (
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-pings",
    "--dns-prefetch-disable",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # what older Chromiums call it
    "--disable-quic",
)

# Chromium knows no names but its proxy's address, which looks names up for it; loopback goes by the proxy too.
_HELD_TO_PROXY = ("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--proxy-bypass-list=<-loopback>")

# Of Playwright's own arguments: Chromium's popup blocker is wanted.
_UNWANTED = ("--disable-popup-blocking",)


_SHORT_BASE = "/tmp"
_LONGEST_BASE = 35  # of the 104 to 108 bytes of a socket's path, what Chromium's and our names leave


@dataclass(frozen=True, slots=True)
class Chromium:
    """A Chromium to launch; `path` None means the one that Playwright installed."""

    path: str | None
    origin: str


def find_chromium(playwright_path: str | None = None) -> Chromium:
    """The Chromium to use, or `BrowserUnavailable`.

    `playwright_path` is where Playwright would have its own (`playwright.chromium.executable_path`), if known.
    """
    override = os.environ.get(ENV_CHROMIUM)
    if override:
        if shutil.which(override) is None:
            raise BrowserUnavailable(f"{ENV_CHROMIUM} names {override}, which is not a program: correct or unset it")
        return Chromium(override, ENV_CHROMIUM)
    if playwright_path is not None and _playwright_has_one(Path(playwright_path)):
        return Chromium(None, "playwright")
    for path in _on_system():
        return Chromium(path, "system")
    raise BrowserUnavailable(f"no Chromium was found: {_HOW_TO_GET_ONE}")


def _playwright_has_one(executable: Path) -> bool:
    """Whether the full browser or the headless shell of this revision is there (either serves)."""
    if executable.exists():
        return True
    folder = next((parent for parent in executable.parents if parent.name.startswith("chromium-")), None)
    if folder is None:
        return False
    shell = folder.with_name(folder.name.replace("chromium-", "chromium_headless_shell-"))
    return shell.is_dir()


def _on_system() -> Iterator[str]:
    for name in SYSTEM_NAMES:
        path = shutil.which(name)
        if path is not None:
            yield path


def is_root() -> bool:
    """Whether this process is root, under which Chromium's sandbox cannot start."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A new folder for Chromium's temporary files, with a path short enough for the socket it makes there."""
    base = tempfile.gettempdir()
    if len(base) > _LONGEST_BASE and os.access(_SHORT_BASE, os.W_OK):
        base = _SHORT_BASE
    return tempfile.TemporaryDirectory(prefix="lookstruct-", dir=base, ignore_cleanup_errors=True)


async def launch(
    playwright: Playwright,
    temporary: Path,
    *,
    headless: bool = True,
    proxy_url: str | None = None,
    mark: str | None = None,
) -> Browser:
    """Start Chromium, quiet in the background, its temporary files in `temporary`; `BrowserUnavailable` if it won't.

    With `proxy_url` nothing goes another way than through that proxy, on loopback at a port of 127.0.0.1. `mark` is an
    argument by which its process can be told from others. Signals are left to us: on Ctrl-C the caller closes the
    browser in order.
    """
    chromium = find_chromium(playwright.chromium.executable_path)
    held = (f"--proxy-server={proxy_url}", *_HELD_TO_PROXY) if proxy_url else ()
    try:
        return await playwright.chromium.launch(
            executable_path=chromium.path,
            headless=headless,
            args=[*_QUIET, *held, *((mark,) if mark else ())],
            ignore_default_args=list(_UNWANTED),
            chromium_sandbox=not is_root(),
            env={**os.environ, "TMPDIR": str(temporary)},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
    except PlaywrightError as exc:
        raise BrowserUnavailable(_why(chromium, str(exc))) from exc


def _why(chromium: Chromium, message: str) -> str:
    name = chromium.path or "Playwright's Chromium"
    if "shared libraries" in message:
        return f"{name} lacks system libraries: run `playwright install-deps chromium`, or use Debian's `chromium`"
    if "No usable sandbox" in message or "sandbox_host_linux" in message:
        return f"{name} cannot start its sandbox here: allow unprivileged user namespaces, or run as root inside"
    first = next((line.strip() for line in message.splitlines() if line.strip()), "no reason given")
    return f"{name} would not start ({first}): {_HOW_TO_GET_ONE}"
