"""A field of a schema -> the properties of schema.org that may fill it, as paths such as `offers.price`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lookstruct.pipeline.metadata.nodes import Node
from lookstruct.schemas.builtin.schema_org import SCHEMA_ORG, SchemaOrg

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AROUND = ("offers", "aggregateRating", "nutrition")
"""Objects in which schema.org keeps what people call a field of the thing itself: a price, a rating, calories."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the properties of one node are called in one schema."""

    schema_name: str
    node: Node

    def paths(self, field: str) -> Iterator[str]:
        """The paths for a field, the likeliest first; a field of a nested list is written `lines.total`.

        >>> recipe = Names("Dish", Node("json-ld", frozenset({"Recipe"}), {}))
        >>> list(recipe.paths("prep_time")), list(recipe.paths("suitableForDiet"))[:1]
        (['prepTime', 'offers.prepTime', 'aggregateRating.prepTime', 'nutrition.prepTime'], ['suitableForDiet'])
        """
        named = [paths for entry in self._entries() for paths in entry.paths.get(snake_case(field), ())]
        own = camel_case(field.rpartition(".")[2])
        yield from dict.fromkeys([*named, own, *(f"{outer}.{own}" for outer in _AROUND)])

    @property
    def fits(self) -> bool:
        """Whether the node is of a type that the schema stands for: a built-in one's types, or its own name."""
        entry = SCHEMA_ORG.get(self.schema_name)
        return bool(self.node.types & set(entry.types if entry else (self.schema_name,)))

    def _entries(self) -> Iterator[SchemaOrg]:
        """The counterparts of the schema itself, or else of what the node's type is called here."""
        if self.schema_name in SCHEMA_ORG:
            yield SCHEMA_ORG[self.schema_name]
        else:
            yield from (entry for entry in SCHEMA_ORG.values() if self.node.types & set(entry.types))


def camel_case(name: str) -> str:
    """A field's name as schema.org writes it.

    >>> camel_case("date_published"), camel_case("datePublished"), camel_case("date published")
    ('datePublished', 'datePublished', 'datePublished')
    """
    first, *rest = re.split(r"[_\s-]+", name)
    return first[:1].lower() + first[1:] + "".join(word[:1].upper() + word[1:] for word in rest)


def snake_case(name: str) -> str:
    """A field's name as the built-in schemas write it.

    >>> snake_case("datePublished"), snake_case("lines.unit_price")
    ('date_published', 'lines.unit_price')
    """
    return _CAPITAL.sub("_", name).lower()


def follow(data: object, path: str) -> list[object]:
    """Everything that a path leads to, through every element of the lists on its way; [] where it leads nowhere.

    >>> follow({"offers": [{"price": 3}, {"price": 4}]}, "offers.price")
    [3, 4]
    """
    found = [data]
    for step in path.split("."):
        found = [
            inner
            for value in found
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, Mapping)
            for inner in _listed(item.get(step))
        ]
    return found


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None or value == "" else [value]
