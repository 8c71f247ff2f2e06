"""A page saved with all its parts (.mhtml) -> one HTML text: style sheets and frames in their places.

A browser computes from it what can be seen; nothing is loaded from the network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email import message_from_bytes
from email.message import Message
from html import escape, unescape

from lookstruct.extractors.decode import decode
from lookstruct.extractors.inputs.kind import Converted, Kind
from lookstruct.schemas.errors import ContentTypeError

_MOST_NESTED = 5
_LINK = re.compile(r"<link\b[^>]*>", re.IGNORECASE)
_FRAME = re.compile(r"<i?frame\b[^>]*>(?:\s*</i?frame>)?", re.IGNORECASE)
_ADDRESS = re.compile(r"\b(?:href|src)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE)
_BASE = re.compile(r"<base\b", re.IGNORECASE)
_HEAD = re.compile(r"<head\b[^>]*>", re.IGNORECASE)


def read_mhtml(data: bytes, name: str) -> Converted:
    """Bytes of an MHTML file as HTML; ContentTypeError if there is no page in it."""
    parts = [part for part in message_from_bytes(data).walk() if not part.is_multipart()]
    pages = [part for part in parts if part.get_content_type() in ("text/html", "application/xhtml+xml")]
    if not pages:
        raise ContentTypeError(f"{name} has the form of a saved page, but no HTML is in it: save the page again")
    by_address = {address: part for part in reversed(parts) for address in _addresses(part)}
    location = str(pages[0].get("Content-Location", "")).strip() or None
    return Converted(_with_base(_whole(pages[0], by_address, 0), location), location, needs_browser=True)


def _addresses(part: Message) -> list[str]:
    location, identifier = part.get("Content-Location"), part.get("Content-ID")
    return [
        *([str(location).strip()] if location else []),
        *([f"cid:{str(identifier).strip('<> ')}"] if identifier else []),
    ]


def _whole(part: Message, by_address: Mapping[str, Message], n_nested: int) -> str:
    """The HTML of one part with the style sheets and frames that it names."""

    def style(match: re.Match[str]) -> str:
        sheet = by_address.get(_address(match.group()))
        return (
            f"<style>{_text(sheet)}</style>"
            if sheet is not None and sheet.get_content_type() == "text/css"
            else match.group()
        )

    def frame(match: re.Match[str]) -> str:
        inner = by_address.get(_address(match.group()))
        if inner is None or n_nested >= _MOST_NESTED or not inner.get_content_type().endswith("html"):
            return match.group()
        opening = re.sub(r"\ssrc(?:doc)?\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)", "", match.group().split(">")[0])
        inside = escape(_whole(inner, by_address, n_nested + 1))
        return f'{opening} srcdoc="{inside}"></iframe>'

    return _FRAME.sub(frame, _LINK.sub(style, _text(part)))


def _address(tag: str) -> str:
    found = _ADDRESS.search(tag)
    return unescape(found.group(1).strip("\"'")) if found else ""


def _text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    return decode(data, part.get("Content-Type")).text


def _with_base(html: str, location: str | None) -> str:
    """With links that start where the page was saved from."""
    if location is None or _BASE.search(html):
        return html
    base = f'<base href="{escape(location)}">'
    head = _HEAD.search(html)
    return html[: head.end()] + base + html[head.end() :] if head else base + html


def _begins(head: bytes) -> bool:
    return b"multipart/related" in head.lower() and b"mime-version" in head.lower()


MHTML = Kind("saved page", frozenset({".mhtml", ".mht"}), frozenset({"multipart/related"}), read_mhtml, _begins)
