"""Small facts about JSON: the type of a value, equality, pointers."""

from __future__ import annotations

import json
from typing import Any

TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
ANY_TYPE = TYPES - {"integer"}
"""All types, each once: an integer is a number."""


def meet_types(a: frozenset[str], b: frozenset[str]) -> frozenset[str]:
    """The types in both; an integer is a number.

    >>> sorted(meet_types(frozenset({"number", "null"}), frozenset({"integer", "string"})))
    ['integer']
    """
    found = _with_integer(a) & _with_integer(b)
    return found - {"integer"} if "number" in found else found


def _with_integer(types: frozenset[str]) -> frozenset[str]:
    return types | {"integer"} if "number" in types else types


def json_type(value: Any) -> str:
    """The JSON type of a value as `json.loads` gives it; whole numbers are "integer".

    >>> [json_type(v) for v in (None, True, 3, 3.0, 3.5, "a", [], {})]
    ['null', 'boolean', 'integer', 'integer', 'number', 'string', 'array', 'object']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if float(value).is_integer() else "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, dict) else "array"


def same_json(a: Any, b: Any) -> bool:
    """Equality as JSON sees it: true is not 1.

    >>> same_json(1, True), same_json({"a": [1]}, {"a": [1]})
    (False, True)
    """
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def shown(at: str) -> str:
    """A JSON pointer for a message: the root has none.

    >>> shown(""), shown("/properties/a")
    ('the top level', '/properties/a')
    """
    return at or "the top level"


def pointer_step(key: str) -> str:
    """A key as one step of a JSON pointer (RFC 6901).

    >>> pointer_step("a/b~c")
    'a~1b~0c'
    """
    return key.replace("~", "~0").replace("/", "~1")
