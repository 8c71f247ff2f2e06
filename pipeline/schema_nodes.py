"""Walking a prepared schema (`Schema.grammar_schema`): what is behind references and beside null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Node = Mapping[str, Any]


class Fields:
    """The fields of a record: `root` is its object, without properties where a record is no object."""

    def __init__(self, schema: Node) -> None:
        self.defs: Mapping[str, Node] = schema.get("$defs", {})
        self.root = core(schema, self.defs)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(self.root.get("properties", {}))


def core(node: Node, defs: Mapping[str, Node]) -> Node:
    """The node behind references and behind a union with null; of other unions the first branch.

    >>> core({"anyOf": [{"$ref": "#/$defs/Day"}, {"type": "null"}]}, {"Day": {"type": "string"}})
    {'type': 'string'}
    """
    for _ in range(len(defs) + 32):
        if "$ref" in node:
            node = defs.get(str(node["$ref"]).removeprefix("#/$defs/"), {})
        elif "anyOf" in node:
            node = next((branch for branch in node["anyOf"] if branch.get("type") != "null"), {})
        else:
            break
    return node
