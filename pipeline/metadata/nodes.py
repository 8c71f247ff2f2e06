"""`Document.metadata` -> the things that it describes (`Node`), all in the words of schema.org."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

_MOST_DEPTH = 6
_KINDS = ("json-ld", "microdata", "rdfa")
"""Kinds of metadata that name types and properties themselves, the most reliable first."""

OPENGRAPH: Mapping[str, str] = MappingProxyType(
    {
        "og:title": "name",
        "og:description": "description",
        "og:image": "image",
        "og:url": "url",
        "og:site_name": "publisher",
        "og:price:amount": "offers.price",
        "og:price:currency": "offers.priceCurrency",
        "article:published_time": "datePublished",
        "article:modified_time": "dateModified",
        "article:section": "articleSection",
        "article:tag": "keywords",
        "product:price:amount": "offers.price",
        "product:price:currency": "offers.priceCurrency",
        "product:availability": "offers.availability",
        "product:brand": "brand",
        "product:retailer_item_id": "sku",
        "book:isbn": "isbn",
        "book:author": "author",
        "book:release_date": "datePublished",
    }
)
"""OpenGraph property -> the property of schema.org that says the same."""

_OPENGRAPH_TYPES = {"article": "Article", "book": "Book", "product": "Product", "product.item": "Product"}


@dataclass(frozen=True, slots=True)
class Node:
    """One thing. `kind` is the kind of metadata it comes from, `types` its schema.org types without vocabulary."""

    kind: str
    types: frozenset[str]
    data: Mapping[str, Any]


def nodes_of(metadata: Mapping[str, Any]) -> tuple[Node, ...]:
    """Everything described, the most reliable kind first, things before the things inside them.

    >>> page = {"json-ld": [{"@type": "WebPage", "mainEntity": {"@type": "Recipe", "name": "Soup"}}]}
    >>> [sorted(node.types) for node in nodes_of(page)]
    [['WebPage'], ['Recipe']]
    """
    found = [node for kind in _KINDS for node in _described(kind, metadata.get(kind, ()))]
    return (*found, *_opengraph(metadata.get("opengraph", {})))


def _described(kind: str, items: Any) -> Iterator[Node]:
    by_id = {item["@id"]: item for item in items if isinstance(item.get("@id"), str) and len(item) > 1}
    level = [_linked(item, by_id, 0) for item in items]
    for _ in range(_MOST_DEPTH):
        yield from (Node(kind, _types(item), item) for item in level if _types(item))
        level = [inner for item in level for inner in _inside(item)]


def _linked(value: Any, by_id: Mapping[str, Any], depth: int) -> Any:
    """`value` with references such as `{"@id": "#maker"}` replaced by what they refer to."""
    if depth > _MOST_DEPTH:
        return value
    if isinstance(value, Mapping):
        target = by_id.get(value["@id"]) if len(value) == 1 and isinstance(value.get("@id"), str) else None
        return {key: _linked(inner, by_id, depth + 1) for key, inner in (target or value).items()}
    return [_linked(inner, by_id, depth + 1) for inner in value] if isinstance(value, list) else value


def _inside(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for value in item.values():
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, Mapping):
                yield inner


def _types(item: Mapping[str, Any]) -> frozenset[str]:
    """The names of its types: `http://schema.org/Product`, `schema:Product` and `Product` are one."""
    kinds = item.get("@type", ())
    listed = kinds if isinstance(kinds, list) else [kinds]
    return frozenset(kind.rstrip("/").replace(":", "/").rsplit("/", 1)[-1] for kind in listed if isinstance(kind, str))


def _opengraph(properties: Mapping[str, str]) -> Iterator[Node]:
    data: dict[str, Any] = {}
    for name, value in properties.items():
        parent, _, leaf = OPENGRAPH.get(name, "").rpartition(".")
        if leaf:
            (data.setdefault(parent, {}) if parent else data).setdefault(leaf, value)
    kind = _OPENGRAPH_TYPES.get(properties.get("og:type", "").removeprefix("og:").lower(), "WebPage")
    if data:
        yield Node("opengraph", frozenset({kind}), data)
