"""Plain JSON data -> its leaf values with their JSON pointers (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def leaves(data: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every string, number, boolean and null with its pointer, in order.

    >>> list(leaves({"a/b": [1, {"c": None}], "d": {}}))
    [('/a~1b/0', 1), ('/a~1b/1/c', None)]
    """
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, f"{pointer}/{escape(str(key))}")
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from leaves(value, f"{pointer}/{number}")
    else:
        yield pointer, data


def escape(key: str) -> str:
    """A key as one step of a pointer."""
    return key.replace("~", "~0").replace("/", "~1")
