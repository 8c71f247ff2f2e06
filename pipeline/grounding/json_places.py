"""JSON text -> the range of it that each leaf value takes (`json_places`)."""

from __future__ import annotations

import re

from lookstruct.decoding.cursor import decode_string
from lookstruct.pipeline.leaves import escape

Range = tuple[int, int]
"""Half-open range [start, end) of bytes."""

_SPACE = re.compile(rb"[ \t\n\r]*")
_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)\\?"?', re.DOTALL)  # text may be cut off behind a backslash
_SCALAR = re.compile(rb"[^\s,\]}]+")
_MAX_DEPTH = 200


def json_places(text: bytes, start: int = 0) -> dict[str, Range]:
    r"""JSON pointer of each leaf -> the bytes of `text` that spell it, quotes of strings included.

    Reading begins at byte `start`. Text that ends early gives the leaves that were begun; odd text never raises.

    >>> json_places(b'{"a": [1, "x\\"y"], "b": nul')
    {'/a/0': (7, 8), '/a/1': (10, 16), '/b': (24, 27)}
    """
    return dict(_Reader(text).value(start, "", 0)[1])


class _Reader:
    """Reads one text; each step gives the offset after it and the leaves it passed."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def value(self, at: int, pointer: str, depth: int) -> tuple[int, list[tuple[str, Range]]]:
        at = self._after_space(at)
        first = self._text[at : at + 1]
        if first in (b"{", b"[") and first and depth < _MAX_DEPTH:
            return self._container(at + 1, pointer, depth, is_object=first == b"{")
        found = _STRING.match(self._text, at) if first == b'"' else _SCALAR.match(self._text, at)
        if found is None:
            return at, []
        return found.end(), [(pointer, found.span())]

    def _container(self, at: int, pointer: str, depth: int, *, is_object: bool) -> tuple[int, list[tuple[str, Range]]]:
        leaves: list[tuple[str, Range]] = []
        number = 0
        while (at := self._after_space(at)) < len(self._text) and self._text[at : at + 1] not in (b"}", b"]"):
            key, begin = self._key(at) if is_object else (str(number), at)
            end, passed = self.value(begin, f"{pointer}/{escape(key)}", depth + 1)
            leaves += passed
            number += 1
            at = self._after_space(end)
            if self._text[at : at + 1] == b",":
                at += 1
            elif end == begin:
                return len(self._text), leaves  # nothing that could be read: give up rather than loop
        return at + 1, leaves

    def _key(self, at: int) -> tuple[str, int]:
        """A key, and where its value begins."""
        found = _STRING.match(self._text, at)
        if found is None:
            return "", at
        colon = self._after_space(found.end())
        return decode_string(found[1]), colon + (self._text[colon : colon + 1] == b":")

    def _after_space(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found is not None else at
