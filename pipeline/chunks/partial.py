"""A schema for a whole page -> the schema for a part of it: whatever may stand in another part may be null here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lookstruct.schemas.loader import Schema

Node = Mapping[str, Any]
NULL = {"type": "null"}


def partial(schema: Schema) -> Schema:
    """The same fields, each nullable unless it is a list, and lists that may be empty; the question stays the same."""
    return replace(schema, grammar_schema=loosened(schema.grammar_schema))


def loosened(node: Node) -> Node:
    """The grammar's schema of an object in part; of anything else the node itself.

    >>> loosened({"type": "object", "properties": {"a": {"type": "integer"}}})["properties"]
    {'a': {'anyOf': [{'type': 'integer'}, {'type': 'null'}]}}
    """
    if node.get("type") != "object" or "properties" not in node:
        return node
    return {**node, "properties": {name: _nullable(child) for name, child in node["properties"].items()}}


def _nullable(node: Node) -> Node:
    if node.get("type") == "array":
        return {key: value for key, value in node.items() if key != "minItems"}
    if is_nullable(node):
        return node
    inner = loosened(node)
    return {"anyOf": [*inner["anyOf"], NULL]} if "anyOf" in inner else {"anyOf": [inner, NULL]}


def is_nullable(node: Node) -> bool:
    """Whether null is a value of a prepared node."""
    return node.get("type") == "null" or None in node.get("enum", ()) or any(map(is_nullable, node.get("anyOf", ())))


def missing(data: Any, schema: Node) -> list[str]:
    """The fields of a record that are null and must not be.

    >>> missing({"a": None, "b": None}, {"properties": {"a": {"type": "string"}, "b": {"type": "null"}}})
    ['a']
    """
    if not isinstance(data, Mapping):
        return []
    fields = schema.get("properties", {})
    return [name for name, node in fields.items() if data.get(name) is None and not is_nullable(node)]
