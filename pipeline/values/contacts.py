"""Text -> the e-mail addresses, web addresses and phone numbers written in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lookstruct.pipeline.values.spans import NO_COVER, Cover
from lookstruct.pipeline.values.text import plain
from lookstruct.schemas.document import Span

_EMAIL = re.compile(r"(?<![\w.+%@-])[\w+%-][\w.+%-]{0,63}@(?:[\w-]{1,63}\.){1,5}[^\W\d_]{2,24}(?![\w@])")
_URL = re.compile(r"(?:https?://|\bwww\.)[^\s<>\"'「」（）|]{3,2000}")
_CLOSING = {")": "(", "]": "[", "}": "{"}
_PHONE = re.compile(r"(?<![\w+.,/-])(?:\+|\(\+?)?[0-9](?:[ \u00a0().\u2013/-]{0,3}[0-9]){6,16}(?![\w]|[.,:/-][0-9])")
_PHONE_WORD = re.compile(
    r"(?:\b(?:t|tel|phone|ph|fon|mobile?|fax|call|cell|handy|móvil|gsm|тел)\b|☎|📞|电话|電話|전화)\W{0,5}\Z",
    re.IGNORECASE,
)
_DIGIT_GROUPS = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class Contact:
    """An address on the page: `kind` is "email", "url" or "phone", `value` what stands there, cut to the address."""

    kind: str
    value: str
    span: Span


def find_addresses(text: str) -> tuple[Contact, ...]:
    """Every e-mail and web address in `text`, in order, none inside another.

    >>> [found.value for found in find_addresses("Mail a.b@example.co.uk (see www.example.com/x).")]
    ['a.b@example.co.uk', 'www.example.com/x']
    """
    emails = [Contact("email", found[0], Span(*found.span())) for found in _EMAIL.finditer(text)]
    cover = Cover(contact.span for contact in emails)
    urls = [contact for contact in _urls(text) if not cover.touches(contact.span.start, contact.span.end)]
    return tuple(sorted([*emails, *urls], key=lambda contact: contact.span))


def find_phones(text: str, *, skip: Cover = NO_COVER) -> tuple[Contact, ...]:
    """Every phone number in `text`, in order; none that touches `skip` (dates, addresses).

    >>> [found.value for found in find_phones("Call +49 30 123456, not 1,234,567.")]
    ['+49 30 123456']
    """
    even = plain(text)
    return tuple(
        Contact("phone", text[found.start() : found.end()], Span(*found.span()))
        for found in _PHONE.finditer(even)
        if not skip.touches(*found.span()) and _is_phone(found[0], even[max(0, found.start() - 16) : found.start()])
    )


def _urls(text: str) -> Iterator[Contact]:
    for found in _URL.finditer(text):
        url = _without_punctuation(found[0])
        yield Contact("url", url, Span(found.start(), found.start() + len(url)))


def _without_punctuation(url: str) -> str:
    """Without what belongs to the sentence around it: a full stop, a bracket that was not opened in it."""
    while url and (
        url[-1] in ".,;:!?…。、" or (url[-1] in _CLOSING and url.count(_CLOSING[url[-1]]) < url.count(url[-1]))
    ):
        url = url[:-1]
    return url


def _is_phone(written: str, before: str) -> bool:
    """Whether digits are dialled: a plus, a trunk zero or brackets, a row of three groups, or a word before them.

    >>> _is_phone("555-123-4567", ""), _is_phone("1 234 567", ""), _is_phone("1 234 567", "Tel.: ")
    (True, False, True)
    """
    groups = _DIGIT_GROUPS.findall(written)
    n_digits = sum(map(len, groups))
    if not 7 <= n_digits <= 15:
        return False
    if written[0] in "+(" or _PHONE_WORD.search(before):
        return True
    if written[0] == "0" and len(groups) > 1 and "." not in written:
        return True
    return [len(group) for group in groups][-3:] == [3, 3, 4] and len(groups) <= 4
