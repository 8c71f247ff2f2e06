"""`JsonReader` against an oracle that knows every place while it writes the JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.decoding.cursor import Cursor, JsonReader, Place, decode_string, n_dangling, value_prefix

Labelled = tuple[bytes, Place, tuple[str | int, ...], int | None]
"""One byte, and the place, path and value start after it (None: the start is wherever the next byte falls)."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


class Writer:
    """Serialises a value and yields, byte by byte, the cursor that must follow."""

    def __init__(self, ascii_only: bool) -> None:
        self.ascii_only = ascii_only
        self.n = 0

    def value(self, value: Any, path: tuple[str | int, ...], top: bool) -> Iterator[Labelled]:
        ended = Place.DONE if top else Place.AFTER_VALUE
        start = self.n
        if isinstance(value, dict):
            yield from self._object(value, path)
        elif isinstance(value, list):
            yield from self._array(value, path)
        else:
            text = self._dumps(value)
            inside = Place.IN_STRING if isinstance(value, str) else Place.IN_SCALAR
            yield from self._run(text[:-1], inside, path, start)
            is_number = not isinstance(value, str | bool | None)
            yield self._one(text[-1:], inside if is_number else ended, path, start)
            return
        yield self._one(b"}" if isinstance(value, dict) else b"]", ended, path, start)

    def _object(self, value: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Labelled]:
        yield self._one(b"{", Place.KEY_START, path, None)
        for i, (key, inner) in enumerate(value.items()):
            if i:
                last = (*path, list(value)[i - 1])
                yield from self._run(b", ", Place.KEY_START, last, None)
            key_start = self.n
            text = self._dumps(key)
            around = (*path, list(value)[i - 1]) if i else path
            yield from self._run(text[:-1], Place.IN_KEY, around, key_start)
            yield from self._run(b'":', Place.AFTER_KEY, (*path, key), key_start)
            yield self._one(b" ", Place.VALUE_START, (*path, key), None)
            yield from self.value(inner, (*path, key), top=False)

    def _array(self, value: list[Any], path: tuple[str | int, ...]) -> Iterator[Labelled]:
        yield self._one(b"[", Place.VALUE_START, (*path, 0), None)
        for i, inner in enumerate(value):
            if i:
                yield from self._run(b", ", Place.VALUE_START, (*path, i), None)
            yield from self.value(inner, (*path, i), top=False)

    def _dumps(self, value: Any) -> bytes:
        return json.dumps(value, ensure_ascii=self.ascii_only).encode("utf-8", "surrogatepass")

    def _run(self, data: bytes, place: Place, path: tuple[str | int, ...], start: int | None) -> Iterator[Labelled]:
        for byte in data:
            yield self._one(bytes([byte]), place, path, start)

    def _one(self, byte: bytes, place: Place, path: tuple[str | int, ...], start: int | None) -> Labelled:
        self.n += 1
        return byte, place, path, start


def expected_cursors(value: Any, ascii_only: bool) -> tuple[bytes, list[Cursor]]:
    labelled = list(Writer(ascii_only).value(value, (), top=True))
    text = b"".join(byte for byte, *_ in labelled)
    return text, [
        Cursor(place, path, start if start is not None else n)
        for n, (_, place, path, start) in enumerate(labelled, start=1)
    ]


def cursor_of(text: bytes) -> Cursor:
    reader = JsonReader()
    reader.feed(text)
    return reader.cursor


@given(json_values, st.booleans())
def test_every_prefix_of_a_json_text_has_the_place_path_and_start_that_the_writer_knew(value, ascii_only):
    text, cursors = expected_cursors(value, ascii_only)
    assert json.loads(text) == value
    reader = JsonReader()
    for n, expected in enumerate(cursors, start=1):
        reader.feed(text[n - 1 : n])
        assert reader.cursor == expected, text[:n]
        assert cursor_of(text[:n]) == expected, text[:n]


@given(json_values, st.lists(st.integers(0, 60)))
def test_feeding_in_any_pieces_gives_the_same_cursor(value, cuts):
    text = json.dumps(value).encode()
    reader, at = JsonReader(), 0
    for cut in sorted(cut for cut in cuts if cut <= len(text)):
        reader.feed(text[at:cut])
        at = cut
    reader.feed(text[at:])
    assert reader.cursor == cursor_of(text)
    assert reader.n_bytes == len(text)


@given(json_values)
def test_an_ended_value_reads_as_json_from_its_start(value):
    text = json.dumps(value).encode()
    reader = JsonReader()
    for n in range(1, len(text) + 1):
        reader.feed(text[n - 1 : n])
        cursor = reader.cursor
        if cursor.place in (Place.AFTER_VALUE, Place.DONE):
            found = json.loads(text[cursor.value_start : n])
            assert found == value_at(value, cursor.path)


def value_at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@given(st.binary(max_size=40))
def test_odd_bytes_never_raise(data):
    assert isinstance(cursor_of(data), Cursor)
    assert isinstance(value_prefix(data, cursor_of(data)), str)


def test_a_copy_reads_on_alone():
    reader = JsonReader()
    reader.feed(b'{"a": [1, ')
    branch = reader.copy()
    branch.feed(b'2], "b": "x')
    assert reader.cursor == Cursor(Place.VALUE_START, ("a", 1), 10)
    assert branch.cursor == Cursor(Place.IN_STRING, ("b",), 19)


def test_an_offset_shifts_every_start():
    reader = JsonReader(offset=100)
    reader.feed(b'{"a": "x')
    assert reader.cursor == Cursor(Place.IN_STRING, ("a",), 106)


@pytest.mark.parametrize(
    ("text", "place", "path"),
    [
        (b'{"a":', Place.AFTER_KEY, ("a",)),
        (b'{"a":1', Place.IN_SCALAR, ("a",)),
        (b'{"a":"', Place.IN_STRING, ("a",)),
        (b'{"a":{', Place.KEY_START, ("a",)),
        (b"[1,", Place.VALUE_START, (1,)),
        (b'{"a": 1,', Place.KEY_START, ("a",)),
        (b'{"a": null', Place.AFTER_VALUE, ("a",)),
        (b'{"a": nul', Place.IN_SCALAR, ("a",)),
        (b"[[], ", Place.VALUE_START, (1,)),
        (b"12", Place.IN_SCALAR, ()),
        (b"12 ", Place.DONE, ()),
        (b"", Place.VALUE_START, ()),
    ],
)
def test_places_that_tokens_may_cut(text, place, path):
    cursor = cursor_of(text)
    assert (cursor.place, cursor.path) == (place, path)


@given(st.text(max_size=12), st.booleans())
def test_decoding_any_cut_of_a_string_gives_a_prefix_of_it(value, ascii_only):
    inner = json.dumps(value, ensure_ascii=ascii_only).encode()[1:-1]
    for n in range(len(inner) + 1):
        cut = inner[:n]
        decoded = decode_string(cut)
        assert value.startswith(decoded)
        assert decode_string(cut[: n - n_dangling(cut)]) == decoded
    assert decode_string(inner) == value


@pytest.mark.parametrize(
    ("text", "so_far"), [(b'{"a": "x\\ty', "x\ty"), (b'{"a": 12.', "12."), (b'{"a": ', ""), (b'{"a": "x"', "")]
)
def test_the_value_so_far_is_decoded_for_strings_and_raw_for_scalars(text, so_far):
    assert value_prefix(text, cursor_of(text)) == so_far
