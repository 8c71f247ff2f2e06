"""What a page says about itself in machine form."""

from __future__ import annotations

from typing import Any

import pytest

from lookstruct.extractors.clean import clean
from lookstruct.schemas.document import Page


def metadata(html: str) -> Any:
    return clean(Page("", "https://a.example/b/", html)).metadata


def ld(text: str) -> Any:
    return metadata(f'<script type="application/ld+json">{text}</script>').get("json-ld")


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('{"@type": "Product", "name": "Lamp"}', [{"@type": "Product", "name": "Lamp"}]),
        ('[{"a": 1}, {"b": 2}, 3]', [{"a": 1}, {"b": 2}]),
        ('{"@context": "x", "@graph": [{"a": 1}, {"b": 2}]}', [{"a": 1}, {"b": 2}]),
        ('{"a": [1, 2,], }', [{"a": [1, 2]}]),
        ('{"a": "x\ny\tz"}', [{"a": "x\ny\tz"}]),
        ('<!-- {"a": 1} -->', [{"a": 1}]),
        ('//<![CDATA[\n{"a": 1}\n//]]>', [{"a": 1}]),
        ('/*<![CDATA[*/{"a": 1}/*]]>*/', [{"a": 1}]),
        ('{"a": 1};', [{"a": 1}]),
        ('{"a": "1,]"}', [{"a": "1,]"}]),
        ("{broken", None),
        ("[" * 100_000, None),
        ("", None),
        ('"text"', None),
    ],
)
def test_json_ld_is_read_with_the_flaws_that_pages_have(text: str, items: Any) -> None:
    assert ld(text) == items


def test_the_script_type_may_have_parameters_and_capitals() -> None:
    assert metadata('<script type=" Application/LD+JSON; charset=utf-8">{"a": 1}</script>')["json-ld"] == [{"a": 1}]


def test_other_scripts_are_not_metadata() -> None:
    assert metadata("<script>{}</script><script type=application/json>{}</script><p>x") == {}


def test_opengraph_and_named_meta_keep_the_first_value() -> None:
    html = (
        "<meta property='og:title' content=' Lamp '><meta property='og:title' content=b><meta property='og:x'>"
        "<meta name=Author content=Ann><meta name=author content=Bob><meta charset=utf-8>"
    )
    assert metadata(html) == {"opengraph": {"og:title": "Lamp"}, "meta": {"author": "Ann"}}


def test_microdata_items_nest_and_repeat() -> None:
    html = """
    <div itemscope itemtype="https://schema.org/Product">
      <h1 itemprop="name">Oak  table</h1>
      <a itemprop="url" href="../t">t</a> <img itemprop="image" src="i.jpg">
      <span itemprop="color">red</span><span itemprop="color">blue</span>
      <time itemprop="released" datetime="2024-05-01">May</time> <data itemprop="sku" value="7">seven</data>
      <div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
        <meta itemprop="price" content="12.00"><b itemprop="priceCurrency seller">EUR</b>
      </div>
    </div>"""
    assert metadata(html)["microdata"] == [
        {
            "@type": "Product",
            "name": "Oak table",
            "url": "https://a.example/t",
            "image": "https://a.example/b/i.jpg",
            "color": ["red", "blue"],
            "released": "2024-05-01",
            "sku": "7",
            "offers": {"@type": "Offer", "price": "12.00", "priceCurrency": "EUR", "seller": "EUR"},
        }
    ]


def test_rdfa_items_nest_and_their_prefixes_go() -> None:
    html = """
    <div vocab="https://schema.org/" typeof="Event">
      <h1 property="name">Fish <b>fair</b></h1> <a property="url" href="../fair">more</a>
      <meta property="og:title" content="Fair | Harbour">
      <span property="startDate" content="2025-06-07">Saturday</span>
      <p property="schema:location" typeof="schema:Place"><span property="name">Quay 4</span></p>
    </div>
    <p property="name">of nothing</p>"""
    found = metadata(html)
    assert found["rdfa"] == [
        {
            "@type": "Event",
            "name": "Fish fair",
            "url": "https://a.example/fair",
            "startDate": "2025-06-07",
            "location": {"@type": "Place", "name": "Quay 4"},
        }
    ]
    assert found["opengraph"]["og:title"] == "Fair | Harbour"


def test_deeply_nested_items_end() -> None:
    html = "<div itemscope itemprop=a>" * 500
    item = metadata(f"<div itemscope>{html}x")["microdata"][0]
    depth = 0
    while isinstance(item, dict):
        item, depth = item.get("a"), depth + 1
    assert 60 < depth < 70
