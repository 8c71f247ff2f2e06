"""Generated JSON text so far -> where in the record the next byte falls (`Cursor`)."""

from __future__ import annotations

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
    AFTER_VALUE of a member, the path of the enclosing container plus the last key or index. `value_start` is the
    byte offset at which the current (or just ended) value began, the opening quote included; equal to `len(text)`
    at VALUE_START.
    """

    place: Place
    path: tuple[str | int, ...]
    value_start: int
