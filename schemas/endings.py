"""Does every definition of a grammar schema have a value that ends? A model must not be led into one that has none."""

from __future__ import annotations

from typing import Any

from lookstruct.schemas.flat import ImpossibleSchema

Node = dict[str, Any]


def check_endings(root: Node) -> None:
    """SchemaError for a definition whose every value would contain another, without end."""
    defs = root.get("$defs", {})
    ending: set[str] = set()
    while fresh := {name for name in defs if name not in ending and _ends(defs[name], ending)}:
        ending |= fresh
    endless = [name for name in defs if name not in ending]
    if endless:
        names = ", ".join(f"'{name}'" for name in endless)
        raise ImpossibleSchema(
            f"The schema refers to itself without end: every value of {names} must contain another;"
            " make one of the references optional, or an array."
        )


def _ends(node: Any, ending: set[str]) -> bool:
    """Whether some value of `node` is finite, given the definitions known to end."""
    if not isinstance(node, dict):
        return True
    if "$ref" in node:
        return target_name(node) in ending
    if "anyOf" in node:
        return any(_ends(sub, ending) for sub in node["anyOf"])
    if node.get("type") == "object":
        return all(_ends(sub, ending) for sub in node.get("properties", {}).values())
    if node.get("type") == "array" and node.get("minItems", 0) > 0:
        prefix = node.get("prefixItems", [])[: node["minItems"]]
        rest = [node.get("items", {})] if node["minItems"] > len(prefix) else []
        return all(_ends(sub, ending) for sub in prefix + rest)
    return True


def target_name(node: Node) -> str:
    """The name of the definition that a `$ref` node points to."""
    return str(node["$ref"]).removeprefix("#/$defs/")
