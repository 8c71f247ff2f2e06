"""Data + JSON Schema -> its leaves (`Leaf`): pointer, value, and what the schema says about the field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lookstruct.decoding.guessing.field_words import words
from lookstruct.pipeline.leaves import escape

Path = tuple[str | int, ...]
_UNIONS = ("anyOf", "oneOf", "allOf")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value of a record that is no container. `schema` holds the keywords that apply to it, unions merged."""

    path: Path
    value: Any
    schema: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pointer(self) -> str:
        """The JSON pointer (RFC 6901)."""
        return "".join(f"/{escape(str(step))}" for step in self.path)

    @property
    def name(self) -> str:
        """The key it stands under, that of its list for an item."""
        return next((step for step in reversed(self.path) if isinstance(step, str)), "")

    @property
    def source(self) -> str | None:
        """Where on the page the schema says the value must come from (`x-source`)."""
        source = self.schema.get("x-source")
        return source if isinstance(source, str) else None

    @property
    def name_words(self) -> frozenset[str]:
        """The words of its key, and of the key of the object around it where its own says little (`price: amount`)."""
        keys = [step for step in self.path if isinstance(step, str)]
        return words(" ".join(keys[-2:])) if keys[-1:] and keys[-1].casefold() in _VAGUE else words(self.name)

    @property
    def about(self) -> frozenset[str]:
        """The words of its description."""
        return words(str(self.schema.get("description", "")))


_VAGUE = {"amount", "value", "currency", "text", "number", "unit"}
"""Keys that only say what kind of thing the object around them consists of."""


def leaves_of(data: Any, schema: Mapping[str, Any] | None) -> Iterator[Leaf]:
    """Every leaf of `data` in order, with what `schema` says about it.

    >>> schema = {"properties": {"on": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}}}
    >>> [(leaf.pointer, leaf.schema["format"]) for leaf in leaves_of({"on": "2024-08-21"}, schema)]
    [('/on', 'date')]
    """
    yield from _Walk(schema or {}).leaves(data, (), schema or {})


class _Walk:
    """Goes through data and schema side by side; `root` is where references point."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def leaves(self, data: Any, path: Path, node: Mapping[str, Any]) -> Iterator[Leaf]:
        if isinstance(data, dict):
            for key, value in data.items():
                yield from self.leaves(value, (*path, str(key)), self._property(node, str(key)))
        elif isinstance(data, list):
            for number, value in enumerate(data):
                yield from self.leaves(value, (*path, number), self._item(node, number))
        else:
            yield Leaf(path, data, self._merged(node))

    def _merged(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        for option in self._options(node):
            for key, value in option.items():
                found.setdefault(key, value)
        return found

    def _property(self, node: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        for option in self._options(node):
            found = option.get("properties", {}).get(key, option.get("additionalProperties"))
            if isinstance(found, Mapping):
                return found
        return {}

    def _item(self, node: Mapping[str, Any], number: int) -> Mapping[str, Any]:
        for option in self._options(node):
            prefix = option.get("prefixItems", [])
            found = prefix[number] if number < len(prefix) else option.get("items")
            if isinstance(found, Mapping):
                return found
        return {}

    def _options(self, node: Mapping[str, Any], depth: int = 0) -> Iterator[Mapping[str, Any]]:
        """The node itself, then what it refers to and the members of its unions."""
        yield node
        if depth > 16:
            return
        if isinstance(reference := node.get("$ref"), str):
            yield from self._options(self._target(reference), depth + 1)
        for key in _UNIONS:
            for option in node.get(key, ()):
                if isinstance(option, Mapping):
                    yield from self._options(option, depth + 1)

    def _target(self, reference: str) -> Mapping[str, Any]:
        node: Any = self._root
        for step in reference.removeprefix("#").strip("/").split("/"):
            if step:
                node = node.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(node, Mapping) else {}
        return node if isinstance(node, Mapping) else {}
