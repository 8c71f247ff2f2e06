"""An e-mail (.eml) -> HTML: who, to whom, when, the subject, the body, and the names of what is attached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from html import escape

from lookstruct.extractors.inputs.kind import Attachment, Converted, Kind
from lookstruct.extractors.inputs.plain import text_html
from lookstruct.schemas.errors import EmptyPage

_SHOWN = ("From", "To", "Cc", "Date")
_FIRST_LINE = re.compile(rb"(?:From |(?:Return-Path|Received|Delivered-To|Message-ID|From|To|Subject|Date):)", re.I)
_HEADERS = re.compile(rb"^(?:From|Subject|Date):", re.I | re.M)


def read_mail(data: bytes, name: str) -> Converted:
    """Bytes of a message as HTML; EmptyPage if it says nothing."""
    message = message_from_bytes(data, policy=default)
    assert isinstance(message, EmailMessage)
    subject = str(message.get("Subject", "")).strip()
    body = _body(message)
    if not subject and not body.strip():
        raise EmptyPage(f"{name} is an e-mail without subject and text: check the file")
    files = tuple(_attachments(message))
    names = "".join(f"<li>{escape(file.name)}</li>" for file in files)
    html = f"<h1>{escape(subject)}</h1>{_headers(message)}{body}{f'<ul>{names}</ul>' if names else ''}"
    return Converted(html, attachments=files)


def _headers(message: EmailMessage) -> str:
    said = ((header, str(message.get(header, "")).strip()) for header in _SHOWN)
    pairs = "".join(f"<dt>{header}</dt><dd>{escape(value)}</dd>" for header, value in said if value)
    return f"<dl>{pairs}</dl>"


def _body(message: EmailMessage) -> str:
    """The HTML of the body, or its plain text."""
    part = message.get_body(("html", "plain"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except (LookupError, UnicodeError):  # a charset that nobody knows
        payload = part.get_payload(decode=True)
        text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if part.get_content_subtype() == "html":
        return re.sub(r"(?is)<!doctype[^>]*>|</?(?:html|head|body)\b[^>]*>", "", text)
    return text_html(text)


def _attachments(message: EmailMessage) -> Iterator[Attachment]:
    for part in message.iter_attachments():
        name, data = part.get_filename(), part.get_payload(decode=True)
        if name and isinstance(data, bytes):
            yield Attachment(name, data, part.get_content_type())


def _begins(head: bytes) -> bool:
    return _FIRST_LINE.match(head) is not None and len(_HEADERS.findall(head)) >= 2


MAIL = Kind("e-mail", frozenset({".eml"}), frozenset({"message/rfc822"}), read_mail, _begins)
