"""Chromium's `net::ERR_...` names -> the sentence that tells a person what happened and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lookstruct.schemas.errors import BlockedByPolicy, FetchError, FetchTimeout, Interrupted, PageTooLarge

_NAME = re.compile(r"net::(ERR_[A-Z0-9_]+)")


@dataclass(frozen=True, slots=True)
class _Entry:
    said: str
    error: type[FetchError] = FetchError


_UNKNOWN_HOST = _Entry("has an unknown host name: check its spelling and your network")
_NO_ANSWER = _Entry("did not answer in time: raise the timeout or try again later", FetchTimeout)
_BROKEN = _Entry("closed the connection before the page was complete: try again", Interrupted)
_OFFLINE = _Entry("cannot be reached because this machine is offline: check your network")
_UNREACHABLE = _Entry("cannot be reached from this network: check the address, your network and its firewall")
_SECURITY = _Entry("offers no secure connection that Chromium accepts: check the site in a browser")
_CERTIFICATE = "has a certificate that cannot be trusted ({}): check the address and this machine's clock"
_PROXY = _Entry("cannot be reached through the proxy: check its address and credentials")
_REDIRECTS = _Entry("redirects without end: check the address, or pass the cookies that the site expects")

_ENTRIES = {
    "ERR_NAME_NOT_RESOLVED": _UNKNOWN_HOST,
    "ERR_NAME_RESOLUTION_FAILED": _Entry("could not be looked up, no name server answered: try again", Interrupted),
    "ERR_ICANN_NAME_COLLISION": _UNKNOWN_HOST,
    "ERR_DNS_TIMED_OUT": _UNKNOWN_HOST,
    "ERR_CONNECTION_REFUSED": _Entry(
        "refuses connections: check the address and port, and that the server runs", Interrupted
    ),
    "ERR_CONNECTION_TIMED_OUT": _NO_ANSWER,
    "ERR_TIMED_OUT": _NO_ANSWER,
    "ERR_CONNECTION_RESET": _BROKEN,
    "ERR_CONNECTION_CLOSED": _BROKEN,
    "ERR_CONNECTION_ABORTED": _BROKEN,
    "ERR_EMPTY_RESPONSE": _Entry("closed the connection without an answer: try again, or check the port", Interrupted),
    "ERR_CONTENT_LENGTH_MISMATCH": _BROKEN,
    "ERR_INCOMPLETE_CHUNKED_ENCODING": _BROKEN,
    "ERR_INCOMPLETE_HTTP2_FRAMES": _BROKEN,
    "ERR_CONTENT_DECODING_FAILED": _Entry("sent content that its own compression header contradicts: try again"),
    "ERR_INVALID_HTTP_RESPONSE": _Entry("does not speak HTTP on this port: check the address and port"),
    "ERR_HTTP2_PROTOCOL_ERROR": _BROKEN,
    "ERR_QUIC_PROTOCOL_ERROR": _BROKEN,
    "ERR_INTERNET_DISCONNECTED": _OFFLINE,
    "ERR_NETWORK_CHANGED": _Entry("was lost because the network changed: try again", Interrupted),
    "ERR_ADDRESS_UNREACHABLE": _UNREACHABLE,
    "ERR_ADDRESS_INVALID": _UNREACHABLE,
    "ERR_NETWORK_ACCESS_DENIED": _UNREACHABLE,
    "ERR_UNSAFE_PORT": _Entry("uses a port that browsers refuse: check the address"),
    "ERR_TOO_MANY_REDIRECTS": _REDIRECTS,
    "ERR_UNSAFE_REDIRECT": _Entry("redirects to something other than a web page, which is refused", BlockedByPolicy),
    "ERR_INVALID_REDIRECT": _Entry("redirects to an address that is not valid: check it in a browser"),
    "ERR_BLOCKED_BY_CLIENT": _Entry("was refused by this program's own rules", BlockedByPolicy),
    "ERR_BLOCKED_BY_RESPONSE": _Entry("forbids being shown: check it in a browser"),
    "ERR_SSL_PROTOCOL_ERROR": _Entry("does not speak HTTPS on this port: try http:// or check the port"),
    "ERR_SSL_VERSION_OR_CIPHER_MISMATCH": _SECURITY,
    "ERR_BAD_SSL_CLIENT_AUTH_CERT": _Entry("asks for a client certificate, which is not supported"),
    "ERR_SSL_CLIENT_AUTH_CERT_NEEDED": _Entry("asks for a client certificate, which is not supported"),
    "ERR_CERT_AUTHORITY_INVALID": _Entry(_CERTIFICATE.format("its issuer is unknown")),
    "ERR_CERT_COMMON_NAME_INVALID": _Entry(_CERTIFICATE.format("it is for another host")),
    "ERR_CERT_DATE_INVALID": _Entry(_CERTIFICATE.format("it has expired or is not valid yet")),
    "ERR_PROXY_CONNECTION_FAILED": _PROXY,
    "ERR_TUNNEL_CONNECTION_FAILED": _PROXY,
    "ERR_PROXY_AUTH_REQUESTED": _PROXY,
    "ERR_INVALID_AUTH_CREDENTIALS": _Entry("refuses the user name or password: check them"),
    "ERR_FILE_NOT_FOUND": _Entry("does not exist: check the path"),
    "ERR_ACCESS_DENIED": _Entry("may not be read: check its permissions"),
    "ERR_INVALID_URL": _Entry("is not a valid URL: expected https://host/path"),
    "ERR_UNKNOWN_URL_SCHEME": _Entry("leads to something other than a web page, which is refused", BlockedByPolicy),
    "ERR_FILE_TOO_BIG": _Entry("is too large: raise max_bytes", PageTooLarge),
    "ERR_INSUFFICIENT_RESOURCES": _Entry("is too large for the memory that is free", PageTooLarge),
    "ERR_OUT_OF_MEMORY": _Entry("is too large for the memory that is free", PageTooLarge),
}


def net_error_name(message: str) -> str | None:
    """The `ERR_...` name in a message of Chromium, None if there is none.

    >>> net_error_name("Page.goto: net::ERR_ABORTED at https://a.example/")
    'ERR_ABORTED'
    """
    found = _NAME.search(message)
    return found.group(1) if found else None


def first_line(exc: Exception) -> str:
    """The first line of an error's message.

    >>> first_line(ValueError("no\\nat all"))
    'no'
    """
    return str(exc).splitlines()[0] if str(exc) else "no reason given"


def fetch_error(target: str, name: str) -> FetchError:
    """The error for `target` that Chromium calls `name`.

    >>> str(fetch_error("https://a.example/", "ERR_CONNECTION_REFUSED"))
    'https://a.example/ refuses connections: check the address and port, and that the server runs'
    """
    entry = _ENTRIES.get(name)
    if entry is None and name.startswith("ERR_CERT_"):
        entry = _Entry(_CERTIFICATE.format(name))
    if entry is None:
        entry = _Entry(f"could not be loaded (Chromium says {name}): check it in a browser")
    return entry.error(f"{target} {entry.said}")
