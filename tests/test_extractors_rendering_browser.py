"""What a real Chromium says about visibility and layout, page by page of the loopback site."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup
from site_fixtures import PAGES, Site, fetcher, site

from lookstruct.extractors import Fetcher, FetchOptions, Target
from lookstruct.extractors.clean import clean
from lookstruct.schemas.document import BlockKind, Document

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
__all__ = ["fetcher", "site"]


def lines(document: Document) -> list[str]:
    return document.text.split("\n")


async def test_all_that_is_seen_is_read_and_nothing_unseen(fetcher: Fetcher, site: Site) -> None:
    document = clean(await fetcher.fetch(site.url("/visibility.html")))
    assert lines(document) == [
        "Seen and unseen",
        "seen plain",
        "seen gradient",
        "seen hero",
        "seen child",
        "seen summary",
        "seen open summary",
        "seen open paragraph",
        "seen 12 50",
    ]


async def test_hidden_text_is_counted_and_kept_on_request(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/visibility.html"))
    unseen = re.findall(r">(unseen[^<]*)<", (PAGES / "visibility.html").read_text())
    assert clean(page).n_hidden_chars == sum(len(text.strip()) for text in unseen)
    kept = clean(page, include_hidden=True)
    assert [text for text in unseen if text.strip() not in kept.text] == []
    assert kept.n_hidden_chars == 0


async def test_hidden_paths_select_the_topmost_hidden_element(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/visibility.html"))
    assert page.hidden_paths is not None
    soup = BeautifulSoup(page.html, "lxml")
    found = {path: soup.select(path) for path in page.hidden_paths}
    assert all(len(tags) == 1 for tags in found.values())
    ids = set(re.findall(r'id="([\w-]+)"', (PAGES / "visibility.html").read_text())) - {"plain", "folded"}
    assert {tags[0].get("id") for tags in found.values()} - {None} == ids


async def test_what_stands_apart_on_the_screen_is_not_glued(fetcher: Fetcher, site: Site) -> None:
    document = clean(await fetcher.fetch(site.url("/layout.html")))
    assert lines(document) == [
        "Layout",
        "Total 120",
        "Tax 19",
        "1 2",
        "1.226 EUR",
        "12 99",
        "first",
        "second",
        "one",
        "two",
        "ab",
        "upper",
        "lower",
    ]


async def test_frames_shadow_trees_and_present_form_values_are_read_in_place(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/composed.html"))
    document = clean(page)
    assert lines(document) == [
        "Composed",
        "before",
        "framed link",
        "shadow light",
        "deeper",
        "after",
        "typed [x] agreed two written",
    ]
    assert "hunter2" not in page.html
    soup = BeautifulSoup(page.html, "lxml")
    assert all(len(soup.select(block.dom_path)) == 1 for block in document.blocks)


async def test_a_link_in_a_frame_starts_from_the_frame(fetcher: Fetcher, site: Site) -> None:
    document = clean(await fetcher.fetch(site.url("/composed.html")))
    assert [link.href for link in document.links] == [site.url("/deep/er")]


async def test_a_page_read_with_and_without_browser_gives_the_same_text(fetcher: Fetcher) -> None:
    markup = (
        "<title>T</title><nav><a href=/a>A</a></nav><main><h1>H</h1><p>a <b>b</b><br>c</p><ul><li>x<ul><li>y</ul></ul>"
        "<table><tr><th>K</th><td>1</td></tr></table><pre>\n p\n  q</pre><dl><dt>D<dd>E</dl><p hidden>no</p>"
        "<textarea>\nt\nu</textarea></main>"
    )
    target = Target.html(markup)
    rendered = clean(await fetcher.fetch(target, FetchOptions(render=True, base_url="https://a.example/")))
    read = clean(await fetcher.fetch(target, FetchOptions(base_url="https://a.example/")))
    assert rendered.text == read.text
    assert [block.kind for block in rendered.blocks] == [block.kind for block in read.blocks]
    assert rendered.links == read.links
    assert rendered.blocks[1].boilerplate
    assert rendered.blocks[2].kind is BlockKind.HEADING


async def test_images_are_found_with_and_without_browser(fetcher: Fetcher, site: Site) -> None:
    markup = """<p>a<img src=o.jpg srcset="i/w_1,h_2/s.jpg 1x, i/w_3,h_4/l.jpg 2x" alt=Oak>
    <picture><source srcset="/w.webp 1600w"><img src=p.jpg alt=Pine></picture><img src=pixel.gif width=1 height=1>"""
    base = FetchOptions(base_url="https://a.example/b/")
    pages = [await fetcher.fetch(Target.html(markup), base.model_copy(update={"render": how})) for how in (True, False)]
    addresses = ["b/o.jpg", "b/i/w_3,h_4/l.jpg", "b/p.jpg", "w.webp"]
    for page in pages:
        assert [link.href for link in clean(page).links] == [f"https://a.example/{address}" for address in addresses]
    framed = clean(
        await fetcher.fetch(site.page("<iframe srcdoc='<p>x<img srcset=\"/s.jpg 1x, /l.jpg 2x\">'></iframe>"))
    )
    assert [link.href for link in framed.links] == [site.url("/l.jpg")]


async def test_text_that_looks_like_markup_stays_text(fetcher: Fetcher) -> None:
    markup = "<p id=a></p><script>a.textContent = '</p><p hidden>&lt;1 & 2 > \"3\"'; a.title = '\"><p>x'</script>"
    document = clean(await fetcher.fetch(Target.html(markup), FetchOptions(render=True)))
    assert document.text == '</p><p hidden>&lt;1 & 2 > "3"'


async def test_a_page_cannot_forge_the_marks(fetcher: Fetcher) -> None:
    markup = "<p data-lookstruct-hidden=x>seen</p><b data-lookstruct-flow=block>1</b><i>2</i>"
    document = clean(await fetcher.fetch(Target.html(markup), FetchOptions(render=True)))
    assert document.text == "seen\n12"


async def test_a_page_of_too_many_elements_is_cut_with_a_note(fetcher: Fetcher) -> None:
    page = await fetcher.fetch(Target.html("<p>x</p>" * 50), FetchOptions(render=True, max_nodes=30))
    assert clean(page).text.count("x") < 50
    assert "more than 30 elements" in page.notes[0]


async def test_what_is_shown_in_another_order_is_read_as_shown(fetcher: Fetcher, site: Site) -> None:
    page = await fetcher.fetch(site.url("/order.html"))
    assert lines(clean(page)) == [
        "Order",
        "first second",
        "Total 12.00",
        "Net 100",
        "Tax 19",
        "Currency EUR",
        "Price 34.50",
        "Colour copper",
        "first second third",
        "plain",
    ]
    soup = BeautifulSoup(page.html, "lxml")
    assert all(len(soup.select(block.dom_path)) == 1 for block in clean(page).blocks)
