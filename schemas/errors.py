"""The one error tree: every failure a user can cause or meet is a `LookstructError`.

    LookstructError
    ├── UsageError            exit code 2: the call itself is wrong
    │   ├── TargetError         not a path, not a URL with a scheme
    │   ├── SchemaError         unknown, invalid or impossible schema
    │   └── SinkError           the output cannot be written
    ├── FetchError            exit code 3: the page could not be had
    │   ├── FetchTimeout
    │   ├── Interrupted         a connection or the browser broke off; another try may do
    │   │   └── BrowserLost
    │   ├── HTTPStatusError
    │   ├── ContentTypeError    a PDF or an image where a page was expected
    │   ├── PageTooLarge
    │   ├── EmptyPage
    │   ├── BlockedByPolicy     robots.txt or the egress guard said no
    │   └── BrowserUnavailable
    ├── ModelError            exit code 4: the model could not be had or run
    │   ├── ModelNotFound
    │   ├── ModelUnsupported
    │   ├── OutOfMemory
    │   └── ContextOverflow     prompt and answer do not fit the model's context
    ├── StorageError          exit code 5: ledger or output failed in mid-run; what is done is kept
    └── InvalidRecord         exit code 1: no valid record came out; `raw` has the text

A message is one sentence that says what came, what was expected, and what to do.

>>> issubclass(SchemaError, UsageError), SchemaError("x").exit_code
(True, 2)
"""

from __future__ import annotations

TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
"""Answers after which the same request may do later; 520 to 524 are Cloudflare's."""


class LookstructError(Exception):
    """Base of every error raised on purpose; `exit_code` is what the command line returns for it."""

    exit_code = 1


class UsageError(LookstructError):
    """The call itself is wrong: an argument, an option, a configuration value."""

    exit_code = 2


class TargetError(UsageError):
    """The target is neither an existing path nor a URL with a scheme."""


class SchemaError(UsageError):
    """The schema is unknown, not a schema, or cannot be enforced."""


class SinkError(UsageError):
    """The output cannot be written where it was asked for."""


class FetchError(LookstructError):
    """The page could not be had; `is_transient` says whether the same request may do later."""

    exit_code = 3
    is_transient = False


class FetchTimeout(FetchError):
    """The page did not arrive in time."""

    is_transient = True


class Interrupted(FetchError):
    """What was under way broke off: the connection, or the page in the browser."""

    is_transient = True


class BrowserLost(Interrupted):
    """The browser died or hung while it had the page."""


class HTTPStatusError(FetchError):
    """The server answered with an error status.

    `status` is the HTTP status code, `retry_after_s` how long the server asks to be left alone, None if it does not.
    """

    def __init__(self, message: str, status: int, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s
        self.is_transient = status in TRANSIENT_STATUSES


class ContentTypeError(FetchError):
    """The target is not a page: a PDF, an image, an archive."""


class PageTooLarge(FetchError):
    """The page is larger than the limit."""


class EmptyPage(FetchError):
    """The page has no text that a person could read."""


class BlockedByPolicy(FetchError):
    """robots.txt or the egress guard forbids the request."""


class BrowserUnavailable(FetchError):
    """No usable Chromium was found, or it would not start."""


class ModelError(LookstructError):
    """The model could not be had or run."""

    exit_code = 4


class ModelNotFound(ModelError):
    """No model under this name, folder or file."""


class ModelUnsupported(ModelError):
    """The model's architecture or options cannot be decoded exactly."""


class OutOfMemory(ModelError):
    """Weights or KV cache do not fit into the memory that is free."""


class ContextOverflow(ModelError):
    """Prompt and answer together exceed the model's context."""


class StorageError(LookstructError):
    """A disk that is full, a database that went away: work stops, what was done is kept, and can be gone on with."""

    exit_code = 5


class InvalidRecord(LookstructError):
    """The model's text did not become a valid record; `raw` holds the text as generated."""

    exit_code = 1

    def __init__(self, message: str, raw: str) -> None:
        super().__init__(message)
        self.raw = raw
