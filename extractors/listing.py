"""A sitemap or a feed -> the URLs of the pages it lists.

Attacks by entities end before they begin: a document type declaration, which neither format needs, is refused.
"""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass

from lxml import etree

from lookstruct.schemas.errors import TargetError

MAX_BYTES = 50_000_000
"""The most that a sitemap may have by its standard, unpacked."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What one document lists: pages, or further sitemaps."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def urls_of(data: bytes, name: str = "the list") -> tuple[str, ...]:
    """The pages that a document lists; TargetError if it lists sitemaps, or nothing that we know.

    >>> urls_of(b"<urlset><url><loc> https://a.example/1 </loc></url></urlset>")
    ('https://a.example/1',)
    """
    found = read_listing(data, name)
    if found.sitemaps:
        named = ", ".join(found.sitemaps[:3])
        raise TargetError(f"{name} lists sitemaps, not pages; give one of these instead: {named}.")
    return found.pages


def read_listing(data: bytes, name: str = "the list") -> Listing:
    """A sitemap (plain or gzipped), a list of sitemaps, an RSS or an Atom feed, in order; TargetError for all else."""
    root = _root(_unpacked(data, name), name)
    kind = _local(root)
    if kind == "sitemapindex":
        return Listing(sitemaps=tuple(_texts(root, "loc")))
    if kind == "urlset":
        return Listing(tuple(_texts(root, "loc")))
    if kind in ("rss", "RDF"):
        return Listing(tuple(url for item in _all(root, "item") for url in _texts(item, "link")))
    if kind == "feed":
        return Listing(tuple(url for entry in _all(root, "entry") for url in _alternates(entry)))
    raise TargetError(f"{name} begins with <{kind}>; a sitemap (<urlset>) or a feed (<rss>, <feed>) was expected.")


def looks_like_listing(data: bytes) -> bool:
    """Whether this is XML, maybe gzipped, and not a plain list of URLs.

    >>> looks_like_listing(b"  <?xml version='1.0'?>"), looks_like_listing(b"https://a.example/")
    (True, False)
    """
    return data.startswith(b"\x1f\x8b") or data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def _unpacked(data: bytes, name: str) -> bytes:
    """The bytes, unzipped where they are zipped; never more than `MAX_BYTES`."""
    if data.startswith(b"\x1f\x8b"):
        try:
            with gzip.open(io.BytesIO(data)) as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error) as exc:
            raise TargetError(f"{name} is no valid gzip file ({exc}).") from exc
    if len(data) > MAX_BYTES:
        raise TargetError(f"{name} is larger than {MAX_BYTES / 1e6:g} MB, the most a sitemap may have; split it.")
    return data


def _root(data: bytes, name: str) -> etree._Element:
    """The document's root; nothing outside the document is read, no entity is replaced."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(data.removeprefix(b"\xef\xbb\xbf").lstrip(), parser)
    except etree.XMLSyntaxError as exc:
        raise TargetError(f"{name} is no valid XML ({exc}); a sitemap or a feed was expected.") from exc
    if root.getroottree().docinfo.internalDTD is not None:
        raise TargetError(f"{name} declares a document type, which may hide an attack; remove its <!DOCTYPE ...>.")
    return root


def _local(element: etree._Element) -> str:
    """An element's name without its namespace."""
    return str(etree.QName(element).localname) if isinstance(element.tag, str) else ""


def _all(root: etree._Element, name: str) -> list[etree._Element]:
    return [element for element in root.iter() if _local(element) == name]


def _texts(root: etree._Element, name: str) -> list[str]:
    """The texts of all elements of this name and of the root's namespace: not those of images in a sitemap."""
    space = etree.QName(root).namespace
    return [
        (element.text or "").strip()
        for element in _all(root, name)
        if etree.QName(element).namespace == space and (element.text or "").strip()
    ]


def _alternates(entry: etree._Element) -> list[str]:
    """The address of an Atom entry's page: its first link that is none of its other kinds."""
    links = [link for link in _all(entry, "link") if link.get("href") and link.get("rel", "alternate") == "alternate"]
    return [str(link.get("href")) for link in links[:1]]
