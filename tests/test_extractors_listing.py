import gzip

import pytest

from lookstruct.extractors.listing import MAX_BYTES, looks_like_listing, urls_of
from lookstruct.schemas.errors import TargetError

SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <!-- <url><loc>https://a.example/old</loc></url> -->
  <url>
    <loc>https://a.example/1?a=1&amp;b=2</loc>
    <image:image><image:loc>https://a.example/1.png</image:loc></image:image>
  </url>
  <url><loc>
    https://a.example/2
  </loc></url>
  <url><loc/></url>
</urlset>"""
PAGES = ("https://a.example/1?a=1&b=2", "https://a.example/2")


@pytest.mark.parametrize(
    "data", [SITEMAP.encode(), b"\xef\xbb\xbf" + SITEMAP.encode(), gzip.compress(SITEMAP.encode())]
)
def test_the_pages_of_a_sitemap_are_read_and_not_its_images(data: bytes) -> None:
    assert looks_like_listing(data)
    assert urls_of(data) == PAGES


def test_the_pages_of_an_rss_feed_are_its_items() -> None:
    feed = b"<rss><channel><link>https://a.example/</link><item><link>https://a.example/1</link></item></channel></rss>"
    assert urls_of(feed) == ("https://a.example/1",)


def test_the_pages_of_an_atom_feed_are_its_entries_alternates() -> None:
    feed = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://a.example/"/>
    <entry><link rel="self" href="https://a.example/1.atom"/><link href="https://a.example/1"/></entry></feed>"""
    assert urls_of(feed) == ("https://a.example/1",)


BILLION = b"""<!DOCTYPE urlset [<!ENTITY a "https://a.example/"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<urlset><url><loc>&b;</loc></url></urlset>"""
OUTSIDE = b"""<!DOCTYPE urlset [<!ENTITY a SYSTEM "file:///etc/hostname">]><urlset><url><loc>&a;</loc></url></urlset>"""


@pytest.mark.parametrize("attack", [BILLION, OUTSIDE])
def test_entities_are_refused(attack: bytes) -> None:
    with pytest.raises(TargetError, match="declares a document type"):
        urls_of(attack, "sitemap.xml")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<urlset><url>", "no valid XML"),
        (b"<html/>", "begins with <html>"),
        (b"<sitemapindex><sitemap><loc>https://a.example/s1.xml</loc></sitemap></sitemapindex>", "s1.xml"),
        (b"\x1f\x8bnonsense", "no valid gzip"),
        (gzip.compress(b" " * (MAX_BYTES + 1)), "larger than 50 MB"),
    ],
)
def test_what_is_no_listing_is_said_in_one_sentence(data: bytes, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        urls_of(data, "sitemap.xml")
