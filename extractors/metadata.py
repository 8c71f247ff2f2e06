"""What a page says about itself in machine form: JSON-LD, microdata, RDFa, OpenGraph and other meta tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from bs4.element import Tag

from lookstruct.extractors.survey import Parts

_MOST_DEPTH = 64
_URL_ATTRIBUTES = {
    "a": "href", "area": "href", "link": "href", "audio": "src", "embed": "src", "iframe": "src", "img": "src",
    "source": "src", "track": "src", "video": "src", "object": "data",
}  # fmt: skip
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_WRAPPERS = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?:-->|(?://)?\s*\]\]>|/\*\s*\]\]>\s*\*/)\s*;?\s*$"
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A way of marking up items in the page's own elements: the attributes that open one, type it and name a value."""

    scope: str
    kind: str
    name: str


MICRODATA = Dialect("itemscope", "itemtype", "itemprop")
RDFA = Dialect("typeof", "typeof", "property")
_NO_ITEM = ("og:", "fb:", "twitter:")
"""Properties of the page as a whole, wherever they stand."""


def read_metadata(parts: Parts, base_url: str) -> dict[str, Any]:
    """The kinds of metadata that the page has: `json-ld`, `microdata` and `rdfa` as lists, `opengraph` and `meta` as
    dicts.

    URLs in microdata and RDFa are absolute. Broken JSON-LD is repaired where that is safe, else left out.
    """
    found: dict[str, Any] = {
        "json-ld": list(json_ld(parts)),
        "microdata": list(items(parts.scopes, MICRODATA, base_url)),
        "rdfa": list(items(parts.typed, RDFA, base_url)),
        "opengraph": opengraph(parts),
        "meta": named_meta(parts),
    }
    return {kind: value for kind, value in found.items() if value}


def json_ld(parts: Parts) -> Iterator[Any]:
    """The objects in `script type="application/ld+json"`, lists and `@graph` unpacked."""
    for script in parts.scripts:
        if not str(script.attrs.get("type", "")).strip().lower().startswith("application/ld+json"):
            continue
        value = parse_json(script.get_text())
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                graph = item.get("@graph")
                yield from [node for node in graph if isinstance(node, dict)] if isinstance(graph, list) else [item]


def parse_json(text: str) -> Any:
    """The value of a JSON text with the flaws that pages have: comments around it, raw line ends, trailing commas.

    >>> parse_json('<!-- {"a": "x\\ny", } -->'), parse_json("{oops")
    ({'a': 'x\\ny'}, None)
    """
    bare = _WRAPPERS.sub("", _WRAPPERS.sub("", text)).strip().rstrip(";")
    for candidate in (bare, _TRAILING_COMMA.sub(r"\1", bare)):
        try:
            return json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def opengraph(parts: Parts) -> dict[str, str]:
    """`og:`, `product:`, `article:`... properties; the first value of each."""
    return _first_values((str(tag.attrs["property"]), tag) for tag in parts.meta if "property" in tag.attrs)


def named_meta(parts: Parts) -> dict[str, str]:
    """`meta name=... content=...`, names in lower case; the first value of each."""
    return _first_values((str(tag.attrs["name"]).lower(), tag) for tag in parts.meta if "name" in tag.attrs)


def _first_values(pairs: Iterator[tuple[str, Tag]]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, tag in pairs:
        content = str(tag.attrs.get("content", "")).strip()
        if content and name:
            values.setdefault(name, content)
    return values


def items(scopes: Iterable[Tag], dialect: Dialect, base_url: str) -> Iterator[dict[str, Any]]:
    """The items that are no property of another one, as `{"@type": ..., property: value or values}`."""
    for scope in scopes:
        if dialect.name not in scope.attrs:
            yield _item(scope, dialect, base_url, 0)


def _item(scope: Tag, dialect: Dialect, base_url: str, depth: int) -> dict[str, Any]:
    item: dict[str, Any] = {}
    kind = str(scope.attrs.get(dialect.kind, "")).strip()
    if kind:
        item["@type"] = local_name(kind.split()[0])
    for tag in _properties(scope, dialect):
        value = _value(tag, dialect, base_url, depth)
        for name in str(tag.attrs[dialect.name]).split():
            if not name.startswith(_NO_ITEM):
                _add(item, local_name(name), value)
    return item


def local_name(name: str) -> str:
    """A type or property without its vocabulary.

    >>> local_name("https://schema.org/Product"), local_name("schema:price"), local_name("name")
    ('Product', 'price', 'name')
    """
    return re.split("[/#:]", name.rstrip("/#:"))[-1]


def _properties(scope: Tag, dialect: Dialect) -> Iterator[Tag]:
    """The elements with a property that belong to `scope` itself, in document order."""
    stack = [child for child in reversed(scope.contents) if isinstance(child, Tag)]
    while stack:
        tag = stack.pop()
        if dialect.name in tag.attrs:
            yield tag
        if dialect.scope not in tag.attrs:
            stack += [child for child in reversed(tag.contents) if isinstance(child, Tag)]


def _value(tag: Tag, dialect: Dialect, base_url: str, depth: int) -> Any:
    if dialect.scope in tag.attrs and depth < _MOST_DEPTH:
        return _item(tag, dialect, base_url, depth + 1)
    if "content" in tag.attrs:
        return str(tag.attrs["content"])
    attribute = _URL_ATTRIBUTES.get(tag.name)
    if attribute is not None and attribute in tag.attrs:
        return _join(base_url, str(tag.attrs[attribute]))
    if tag.name in ("data", "meter"):
        return str(tag.attrs.get("value", ""))
    if tag.name == "time" and "datetime" in tag.attrs:
        return str(tag.attrs["datetime"])
    return " ".join(tag.get_text().split())


def _join(base_url: str, url: str) -> str:
    try:
        return urljoin(base_url, url.strip())
    except ValueError:
        return url


def _add(item: dict[str, Any], name: str, value: Any) -> None:
    if name not in item:
        item[name] = value
    elif isinstance(item[name], list):
        item[name].append(value)
    else:
        item[name] = [item[name], value]
