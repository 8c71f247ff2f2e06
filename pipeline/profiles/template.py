"""A JSON Schema -> the template that NuExtract models fill: the record's shape with types, or nothing, for values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.schema_nodes import Fields, core

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema

Node = Mapping[str, Any]
Leaf = Callable[[Node], Any]

MOST_DEPTH = 12
_TYPES = {"number": "number", "integer": "integer", "boolean": "boolean"}
_VERBATIM = ("span", "line", "title", "item", "address", "organization", "byline", "link")
_DATES = ("date", "date-time", "datetime")


def template_text(schema: Schema, leaf: Leaf) -> str:
    """The template as JSON text; `leaf` says what stands for a value.

    >>> from lookstruct.schemas.loader import load_schema
    >>> print(template_text(load_schema("name: verbatim, tags: [str], born: date?"), typed))
    {
        "name": "verbatim-string",
        "tags": [
            "string"
        ],
        "born": "date-time"
    }
    """
    fields = Fields(schema.grammar_schema)
    return json.dumps(_shape(fields.root, fields.defs, leaf, 0), indent=4, ensure_ascii=False)


def typed(node: Node) -> Any:
    """The type of a value, as NuExtract 2 names it; a closed list is the list of its members."""
    if "enum" in node:
        return [str(member) for member in node["enum"] if member is not None]
    words = {node.get(key) for key in ("x-source", "format", "x-format")}
    if words & set(_DATES):
        return "date-time"
    if words & set(_VERBATIM):
        return "verbatim-string"
    return _TYPES.get(str(node.get("type")), "string")


def empty(_: Node) -> Any:
    """Nothing, as NuExtract 1 has it."""
    return ""


def _shape(node: Node, defs: Mapping[str, Node], leaf: Leaf, depth: int) -> Any:
    if depth > MOST_DEPTH:  # a schema that refers to itself
        return leaf({})
    if node.get("type") == "object":
        fields = node.get("properties", {})
        return {name: _shape(core(child, defs), defs, leaf, depth + 1) for name, child in fields.items()}
    if node.get("type") == "array":
        item = _shape(core(node.get("items", {}), defs), defs, leaf, depth + 1)
        return [] if item == "" else [item]
    return leaf(node)
