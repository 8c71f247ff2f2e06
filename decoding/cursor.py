"""Generated JSON text so far -> where in the record the next byte falls (`Cursor`).

`JsonReader` reads bytes as they come, in O(1) amortised a byte, and can be copied at any point for a draft branch.
`value_prefix` says what the value under the cursor reads so far.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum


class Place(Enum):
    """What the next byte belongs to."""

    VALUE_START = "value_start"  # after '": ', '[' or ', ' inside an array: a value may begin
    IN_STRING = "in_string"  # inside a string value
    IN_SCALAR = "in_scalar"  # inside a number, true, false or null
    AFTER_VALUE = "after_value"  # a value has just ended
    KEY_START = "key_start"  # after '{' or ', ' inside an object
    IN_KEY = "in_key"  # inside a key
    AFTER_KEY = "after_key"  # between a key's closing quote and its value
    DONE = "done"  # the top-level value is complete


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a partial JSON text.

    `path` is the path of the value at or around the next byte: `("lines", 2, "price")`; for KEY_START, IN_KEY and
    AFTER_VALUE of a member, the path of the enclosing container plus the last key or index (right after '{' there is
    no last key: the path of the container). `value_start` is the byte offset at which the current (or just ended)
    value began, the opening quote included; equal to `len(text)` at VALUE_START. At KEY_START, IN_KEY and AFTER_KEY
    it is where the key begins. A comma inside an array is VALUE_START and inside an object KEY_START, whether its
    space has been written or not.
    """

    place: Place
    path: tuple[str | int, ...]
    value_start: int


_STRING_STOP = re.compile(rb'["\\]')
_SCALAR_STOP = re.compile(rb"[,\]}\s]")
_LITERALS = (b"true", b"false", b"null")
_SPACE = b" \t\n\r"


class JsonReader:
    """Follows a JSON text byte by byte; odd text never raises, it only makes the cursor less meaningful.

    `offset` is where the JSON begins in the text that offsets should point into (a model may think first).

    >>> reader = JsonReader()
    >>> reader.feed(b'{"lines": [{"price": 2')
    >>> reader.cursor
    Cursor(place=<Place.IN_SCALAR: 'in_scalar'>, path=('lines', 0, 'price'), value_start=21)
    >>> branch = reader.copy()
    >>> branch.feed(b"}]}"); branch.cursor.place, reader.cursor.place
    (<Place.DONE: 'done'>, <Place.IN_SCALAR: 'in_scalar'>)
    """

    __slots__ = ("_escaped", "_kinds", "_n", "_path", "_place", "_run", "_start", "_starts")

    def __init__(self, offset: int = 0) -> None:
        self._n = offset
        self._place = Place.VALUE_START
        self._path: tuple[str | int, ...] = ()
        self._start = offset
        self._kinds = b""  # open containers, outermost first: b"{[" for an array in an object
        self._starts: tuple[int, ...] = ()  # where each of them began
        self._run = b""  # bytes of the key or literal being read
        self._escaped = False  # the last byte was a backslash inside a string

    @property
    def n_bytes(self) -> int:
        """How many bytes were read, the initial offset included."""
        return self._n

    @property
    def cursor(self) -> Cursor:
        """The place that the bytes read so far lead to."""
        start = self._n if self._place in (Place.VALUE_START, Place.KEY_START) else self._start
        return Cursor(self._place, self._path, start)

    def copy(self) -> JsonReader:
        """An independent reader at the same place, in O(1)."""
        twin = JsonReader.__new__(JsonReader)
        for name in JsonReader.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin

    def feed(self, data: bytes) -> None:
        """Reads `data`, which may end anywhere: inside an escape, a number or a UTF-8 character."""
        i = 0
        while i < len(data):
            if self._place is Place.IN_STRING or self._place is Place.IN_KEY:
                i = self._string(data, i)
            elif self._place is Place.IN_SCALAR:
                i = self._scalar(data, i)
            elif self._place is Place.DONE:
                self._n += len(data) - i
                return
            else:
                self._n += 1
                self._between(data[i : i + 1])
                i += 1

    def _string(self, data: bytes, i: int) -> int:
        """Reads a string's text from data[i] up to and including the quote that ends it, if it is there."""
        begin = i
        if self._escaped:
            self._escaped, i = False, i + 1
        while (stop := _STRING_STOP.search(data, i)) is not None and data[stop.start()] == 0x5C:
            if (i := stop.start() + 2) > len(data):
                self._escaped = True
                break
        end = stop.end() if stop is not None and not self._escaped else len(data)
        if self._place is Place.IN_KEY:
            self._run += data[begin:end]
        self._n += end - begin
        if stop is not None and not self._escaped:
            self._end_string()
        return end

    def _end_string(self) -> None:
        if self._place is Place.IN_STRING:
            self._end_value()
            return
        parent = self._path[: len(self._kinds) - 1]
        self._path = (*parent, decode_string(self._run[:-1]))
        self._place, self._run = Place.AFTER_KEY, b""

    def _scalar(self, data: bytes, i: int) -> int:
        """Reads on in a number or literal; stops before the byte that ends it, or after a literal's last letter."""
        stop = _SCALAR_STOP.search(data, i)
        end = stop.start() if stop is not None else len(data)
        self._run += data[i:end]
        self._n += end - i
        if stop is not None or self._run in _LITERALS:
            self._run = b""
            self._end_value()
        return end

    def _end_value(self) -> None:
        """A value has just ended before byte `n_bytes`; `_path` and `_start` are its own. A hook for subclasses."""
        self._place = Place.AFTER_VALUE if self._kinds else Place.DONE

    def _between(self, byte: bytes) -> None:
        """Reads one byte that is in no string and no scalar."""
        if byte in _SPACE:
            if self._place is Place.AFTER_KEY and self._run == b":":
                self._place, self._run = Place.VALUE_START, b""
        elif byte in b"]}":
            self._close()
        elif byte == b",":
            self._separate()
        elif byte == b":" and self._place is Place.AFTER_KEY:
            self._run = b":"
        elif byte in b"{[" and self._opens_value:
            self._open(byte)
        elif byte == b'"' and self._place is Place.KEY_START:
            self._place, self._start, self._run = Place.IN_KEY, self._n - 1, b""
        elif self._opens_value:
            self._start = self._n - 1
            self._place = Place.IN_STRING if byte == b'"' else Place.IN_SCALAR
            self._run = b"" if byte == b'"' else byte

    @property
    def _opens_value(self) -> bool:
        return self._place is Place.VALUE_START or (self._place is Place.AFTER_KEY and self._run == b":")

    def _open(self, byte: bytes) -> None:
        self._kinds += byte
        self._starts = (*self._starts, self._n - 1)
        self._run = b""
        if byte == b"{":
            self._place = Place.KEY_START
        else:
            self._place, self._path = Place.VALUE_START, (*self._path, 0)

    def _close(self) -> None:
        if not self._kinds:
            return
        self._start = self._starts[-1]
        self._kinds, self._starts, self._run = self._kinds[:-1], self._starts[:-1], b""
        self._path = self._path[: len(self._kinds)]
        self._end_value()

    def _separate(self) -> None:
        if not self._kinds or self._place is not Place.AFTER_VALUE:
            return
        if self._kinds[-1:] == b"{":
            self._place = Place.KEY_START
            return
        last = self._path[-1]
        self._path = (*self._path[:-1], last + 1 if isinstance(last, int) else 0)
        self._place = Place.VALUE_START


_CUT_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)\Z")
_CUT_PAIR = re.compile(rb"(?<!\\)(?:\\\\)*(\\u[dD][89abAB][0-9a-fA-F]{2})\Z")


def decode_string(inner: bytes) -> str:
    r"""The text that the inside of a JSON string spells; what is cut off at the end (escape, UTF-8) is left out.

    >>> decode_string(rb"caf\u00e9 \"x"), decode_string(b"caf\xc3"), decode_string(rb"a\u00"), decode_string(b"a\\")
    ('café "x', 'caf', 'a', 'a')
    """
    whole = inner[: len(inner) - n_dangling(inner)]
    text = whole.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def n_dangling(inner: bytes) -> int:
    r"""How many bytes at the end of an unfinished JSON string's inside are a started escape or UTF-8 character.

    >>> n_dangling(rb"a\u00"), n_dangling(b"caf\xc3"), n_dangling(rb"a\\"), n_dangling(rb"\ud83d")
    (4, 1, 0, 6)
    """
    if (cut := _CUT_ESCAPE.search(inner)) is not None:
        before = inner[: cut.start(1)]
        pair = _CUT_PAIR.search(before)
        return len(inner) - (pair.start(1) if pair is not None else cut.start(1))
    if (pair := _CUT_PAIR.search(inner)) is not None:
        return len(inner) - pair.start(1)
    return _cut_utf8(inner)


def _cut_utf8(data: bytes) -> int:
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if needed > back else 0
        if byte < 0x80:
            return 0
    return 0


def value_prefix(text: bytes, cursor: Cursor) -> str:
    r"""What the value under the cursor reads so far: a string decoded, a scalar as written, "" where none has begun.

    >>> reader = JsonReader()
    >>> reader.feed(text := b'{"name": "Caf\xc3\xa9 \\"No')
    >>> value_prefix(text, reader.cursor)
    'Café "No'
    """
    if cursor.place is Place.IN_STRING:
        return decode_string(text[cursor.value_start + 1 :])
    if cursor.place is Place.IN_SCALAR:
        return text[cursor.value_start :].decode("utf-8", "replace")
    return ""
