"""What the user typed -> `Target`: a URL, a file, standard input, or HTML text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from lookstruct.schemas.errors import TargetError

Kind = Literal["url", "file", "stdin", "html"]

_WITH_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_OTHER_SCHEME = re.compile(
    r"(javascript|data|vbscript|view-source|about|blob|filesystem|chrome|mailto|tel|ws|wss|ftp|ftps|sftp|gopher|file):",
    re.IGNORECASE,
)
_HOST_LIKE = re.compile(r"(?:[\w-]+\.)+[^\W\d_][\w-]*\.?(?::\d+)?(?:[/?#]|$)")
_LOCAL_LIKE = re.compile(r"(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\])(?::\d+)?(?:[/?#]|$)")
_PAGE_FILE = re.compile(r"\.(?:x?html?|mhtml|txt|md|xml|json|pdf)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """What to read: `value` is the URL, the absolute path, "-" for standard input, or the HTML itself.

    `typed` is the URL that a person named, where another one led from it to `value` (a sitemap, a next page): only
    what was named may be a private address. None: a person named `value`.
    """

    kind: Kind
    value: str
    typed: str | None = None

    @classmethod
    def html(cls, markup: str) -> Target:
        """HTML that is already here."""
        return cls("html", markup)

    @property
    def name(self) -> str:
        """How messages call it."""
        return {"stdin": "standard input", "html": "the HTML given"}.get(self.kind, self.value)


def resolve_target(text: str) -> Target:
    """An existing path, else an http(s) URL, else `TargetError`; "-" is standard input.

    >>> resolve_target(" https://example.com/x ").value
    'https://example.com/x'
    """
    stripped = text.strip()
    if stripped == "-":
        return Target("stdin", "-")
    if not stripped:
        raise TargetError("the target is empty: give a URL such as https://example.com/page, a file, or - for stdin")
    path = _existing(stripped)
    if path is not None:
        return _file(path)
    if stripped.lower().startswith("file:"):
        return _file_url(stripped)
    if re.match(r"https?://", stripped, re.IGNORECASE):
        return _url(stripped)
    raise TargetError(_explanation(stripped))


def _existing(text: str) -> Path | None:
    try:
        path = Path(text).expanduser()
        return path if path.exists() else None
    except (OSError, ValueError, RuntimeError):  # too long, a null byte, no home folder: not a path
        return None


def _file(path: Path) -> Target:
    if path.is_dir():
        raise TargetError(f"{path} is a folder: name one HTML file in it")
    return Target("file", str(path.resolve()))


def _file_url(url: str) -> Target:
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise TargetError(f"{url} names a file on another machine ({parts.netloc}): only local files can be read")
    path = _existing(unquote(parts.path))
    if path is None:
        raise TargetError(f"{url} names a file that does not exist: check the path {unquote(parts.path)}")
    return _file(path)


def _url(url: str) -> Target:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as exc:
        raise TargetError(f"{url!r} is not a valid URL ({exc}): expected https://host/path") from exc
    if not host or re.search(r"[\s<>\"\\^`{}|]", parts.netloc):
        raise TargetError(f"{url!r} has no valid host name: expected https://host/path")
    return Target("url", re.sub(r"\s", "%20", url))


def _explanation(text: str) -> str:
    shown = text if len(text) <= 200 else text[:200] + "..."
    if text.startswith("<"):
        return f"{shown[:40]!r} looks like HTML, not a target: pass it through standard input (--html -) or from a file"
    if _LOCAL_LIKE.match(text):
        return f"{shown!r} is neither an existing file nor a URL with a scheme: did you mean http://{shown} ?"
    if _HOST_LIKE.match(text) and not _PAGE_FILE.search(text.split("/")[0]):
        return f"{shown!r} is neither an existing file nor a URL with a scheme: did you mean https://{shown} ?"
    scheme = _WITH_SCHEME.match(text) or _OTHER_SCHEME.match(text)
    if scheme is not None:
        name = text[: scheme.end()].rstrip(":/")
        return f"{shown!r} has the scheme {name!r}: only http and https pages and local files can be read"
    return f"{shown!r} is neither an existing file nor a URL with a scheme: check the path, or write https://host/path"
