"""Decoded data, where absence is written as null -> data as the user's schema wants it."""

from __future__ import annotations

import re
from typing import Any

from jsonschema.protocols import Validator

from lookstruct.schemas.flatten import Flattener
from lookstruct.schemas.from_json import make_validator

Node = dict[str, Any]


def prune_nulls(data: Any, schema: Any) -> Any:
    """`data` without the nulls that stand for absence: those in properties that `schema` lets be absent, not null.

    The grammar writes every property; this takes back what it had to add. A null that the user's schema allows stays.

    >>> optional, nullable = {"type": "string"}, {"type": ["string", "null"]}
    >>> prune_nulls({"a": None, "b": None}, {"properties": {"a": optional, "b": nullable}})
    {'b': None}
    """
    return _prune(data, schema, make_validator(schema))


def _prune(data: Any, schema: Any, validator: Validator) -> Any:
    if not isinstance(schema, dict) or not isinstance(data, dict | list):
        return data
    for part in _conjuncts(schema, validator):
        data = _prune(data, part, validator)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            data = _prune_union(data, schema[key], validator)
    return _prune_object(data, schema, validator) if isinstance(data, dict) else _prune_array(data, schema, validator)


def _conjuncts(schema: Node, validator: Validator) -> list[Any]:
    """The nodes that hold beside this one."""
    target = [_resolve(schema["$ref"], validator)] if "$ref" in schema else []
    return [*target, *schema.get("allOf", ())]


def _prune_union(data: Any, branches: list[Any], validator: Validator) -> Any:
    """The data as the first branch that then fits it would have it."""
    for branch in branches:
        pruned = _prune(data, branch, validator)
        if validator.evolve(schema=branch).is_valid(pruned):
            return pruned
    return data


def _prune_object(data: Node, schema: Node, validator: Validator) -> Node:
    members = schema.get("properties", {})
    required = schema.get("required", ())
    rest = schema.get("additionalProperties", {})
    kept = {}
    for name, value in data.items():
        sub = members.get(name, _by_pattern(schema, name, rest))
        absent = value is None and name in members and name not in required
        if not absent or validator.evolve(schema=sub).is_valid(None):
            kept[name] = _prune(value, sub, validator)
    return kept


def _by_pattern(schema: Node, name: str, rest: Any) -> Any:
    """The schema of a property that is not listed."""
    return next((sub for rx, sub in schema.get("patternProperties", {}).items() if re.search(rx, name)), rest)


def _prune_array(data: list[Any], schema: Node, validator: Validator) -> list[Any]:
    items = schema.get("items", {})
    prefix = items if isinstance(items, list) else schema.get("prefixItems", [])
    rest = schema.get("additionalItems", {}) if isinstance(items, list) else items
    return [_prune(v, prefix[i] if i < len(prefix) else rest, validator) for i, v in enumerate(data)]


def _resolve(ref: str, validator: Validator) -> Any:
    return Flattener(validator.schema, lenient=True).resolve(ref, "").schema
