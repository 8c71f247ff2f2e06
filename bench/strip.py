"""HTML -> the same HTML without what it says about itself in machine form: JSON-LD, microdata, RDFa, meta tags."""

from __future__ import annotations

from lookstruct.extractors.htmltree import elements, parse

_ATTRIBUTES = ("itemprop", "itemscope", "itemtype", "itemid", "itemref", "property", "typeof", "vocab", "datetime")
_KEPT_META = ("charset", "http-equiv")


def without_metadata(html: str) -> str:
    """The page as a person sees it, its metadata gone; language, encoding and title stay.

    >>> without_metadata('<meta name="author" content="A"><p itemprop="name" id="x">Tea</p>')
    '<html><head></head><body><p id="x">Tea</p></body></html>'
    """
    soup = parse(html)
    for tag in list(elements(soup)):
        is_meta = tag.name == "meta" and not any(name in tag.attrs for name in _KEPT_META)
        if is_meta or (tag.name == "script" and "json" in str(tag.attrs.get("type", ""))):
            tag.extract()
        for name in _ATTRIBUTES:
            tag.attrs.pop(name, None)
    return str(soup)
