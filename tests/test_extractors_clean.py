"""HTML -> Document: what is read, in which order, and where it stands."""

from __future__ import annotations

from typing import Any

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from lookstruct.extractors.clean import clean
from lookstruct.extractors.htmltree import MAX_PATH_DEPTH, Paths, elements, marked_paths, parse
from lookstruct.schemas.document import BlockKind, Document, Page

URL = "https://shop.example/a/b.html"


def read(html: str, **page: Any) -> Document:
    return clean(Page(URL, URL, html, **page))


def text(html: str) -> list[str]:
    return read(html).text.split("\n")


def kinds(html: str) -> list[tuple[BlockKind, int, str]]:
    document = read(html)
    return [(block.kind, block.level, block.span.of(document.text)) for block in document.blocks]


# -- lines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("<p>a  \n\t b</p>", ["a b"]),
        ("<p>a</p>b<p>c</p>", ["a", "b", "c"]),
        ("a<br>b<br><br>c", ["a", "b", "c"]),
        ("<p>a <b>b</b> c</p>", ["a b c"]),
        ("<p>a<b> b </b>c</p>", ["a b c"]),
        ("<p>1&nbsp;226,00&#8239;€</p>", ["1 226,00 €"]),
        ("<p>to\u200btal\u00ad\ufeff</p>", ["total"]),
        ("<p>می\u200cخواهم</p>", ["می\u200cخواهم"]),
        ("a<hr>b", ["a", "b"]),
        ("<div>a<div>b</div>c</div>", ["a", "b", "c"]),
        ("<p></p><p> </p><div><span></span></div>x", ["x"]),
        ("<button>Buy</button><button>Save</button>", ["Buy Save"]),
    ],
)
def test_one_line_a_block_with_white_space_as_displayed(html: str, lines: list[str]) -> None:
    assert text(html) == lines


@pytest.mark.parametrize(
    ("html", "line"),
    [
        ("<span>Total</span><span>12</span>", "Total 12"),
        ("<span>Total:</span><span>12</span>", "Total: 12"),
        ("<span>Total</span><span>€12</span>", "Total €12"),
        ("<b>Size</b><i></i><b>XL</b>", "Size XL"),
        ("<span>5</span><span>Reviews</span>", "5 Reviews"),
        ("<span>1</span><span>.226</span> €", "1.226 €"),
        ("<span>€</span><span>68</span><span>,50</span>", "€68,50"),
        ("<span>12:</span><span>30</span>", "12:30"),
        ("<span>H</span><span>ello</span>", "Hello"),
        ("<b>H</b>ello", "Hello"),
        ("H<sub>2</sub>O, x<sup>2</sup>", "H2O, x2"),
        ("<span>12</span><sup>99</sup>", "12 99"),
    ],
)
def test_inline_neighbours_are_glued_only_where_they_are_one_word(html: str, line: str) -> None:
    assert text(html) == [line]


def test_pre_keeps_its_white_space_and_its_links() -> None:
    document = read("<pre>\n  a  <a href=x>b</a>\n\n   c  \n\n</pre>d")
    assert document.text == "  a  b\n\n   c\nd"
    assert document.blocks[0].kind is BlockKind.PRE
    assert [link.span.of(document.text) for link in document.links] == ["b"]


def test_headings_and_list_items_carry_their_level() -> None:
    html = "<h1>a</h1><h3>b</h3><div role=heading aria-level=4>c</div><ul><li>d<ol><li><p>e</p></ol><li>f</ul>"
    assert kinds(html) == [
        (BlockKind.HEADING, 1, "a"),
        (BlockKind.HEADING, 3, "b"),
        (BlockKind.HEADING, 4, "c"),
        (BlockKind.LIST_ITEM, 1, "d"),
        (BlockKind.LIST_ITEM, 2, "e"),
        (BlockKind.LIST_ITEM, 1, "f"),
    ]


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("<dl><dt>Date<dd>1 May<dt>Place:<dd>Bonn</dl>", ["Date: 1 May", "Place: Bonn"]),
        ("<dl><dt>a<dt>b<dd>c<dd>d</dl>", ["a; b: c; d"]),
        ("<dl><div><dt>a</dt><dd>b</dd></div><div><dt>c</dt><dd>d</dd></div></dl>", ["a: b", "c: d"]),
        ("<dl><dt>a<dd><ul><li>b<li>c</ul></dl>", ["a: b; c"]),
        ("<dl><dt>a</dl><p>b", ["a", "b"]),
        ("<dl><dd>b</dl>", ["b"]),
        ("<dl><dt>a<dd><table><tr><th>b<th>c<tr><td>1<td>2</table></dl>", ["a", "b | c", "1 | 2"]),
        (f"<dl><dt>a<dd><p>{'b' * 200}</p><p>{'c' * 200}</p></dl>", [f"a: {'b' * 200}", "c" * 200]),
        ("<dl><dt>a<dd><dl><dt>b<dd>c</dl><dt>d<dd>e</dl>", ["a: b: c", "d: e"]),
    ],
)
def test_terms_stay_with_their_descriptions(html: str, lines: list[str]) -> None:
    assert text(html) == lines


@pytest.mark.parametrize(
    ("html", "line"),
    [
        ("<label>Name <input value=Bob></label>", "Name: Bob"),
        ("<label>Name: <input value=Bob></label>", "Name: Bob"),
        ("<select><option>a<option selected>b</select>", "b"),
        ("<select><option>a<option>b</select>", "a"),
        ("<select multiple><option selected>a<option>b<option selected>c</select>", "a, c"),
        ("<textarea>note</textarea>", "note"),
        ("<input type=checkbox checked> yes <input type=radio> no", "[x] yes no"),
        ("<input value=Jan> <input value=2024>", "Jan 2024"),
        ("<input type=submit value=Send>", "Send"),
    ],
)
def test_form_values_read_with_their_labels(html: str, line: str) -> None:
    assert kinds(html) == [(BlockKind.FORM, 0, line)]


def test_what_a_form_does_not_show_is_not_read() -> None:
    html = "x<input type=hidden value=a><input type=password value=b><input placeholder=c><datalist><option>d"
    assert text(html) == ["x"]


def test_image_text_is_read_where_the_image_stands() -> None:
    assert kinds("<p><img alt='A lamp'></p><p>by <img alt=ACME> ltd") == [
        (BlockKind.IMAGE, 0, "A lamp"),
        (BlockKind.PARAGRAPH, 0, "by ACME ltd"),
    ]


def test_an_icon_whose_list_item_says_the_same_is_not_read() -> None:
    html = "<ul><li><img alt=Thyme> 1 sprig of thyme<li><img alt='Sel ou sel fin'> Sel<li><img alt=Lamp> 40 EUR</ul>"
    assert text(html) == ["1 sprig of thyme", "Sel", "Lamp 40 EUR"]


def test_code_and_fallbacks_are_dropped_and_svg_text_is_not() -> None:
    html = (
        "<script>a</script><style>b</style><noscript>c</noscript><template>d</template><!-- e --><video>f</video>"
        "<canvas>g</canvas><iframe>h</iframe><svg><title>i</title><text>j</text></svg><object>k</object>"
    )
    assert text(html) == ["j"]


def test_elements_that_the_parser_leaves_in_the_head_are_read() -> None:
    assert text("<title>t</title><nav>a</nav><main>b</main>") == ["t", "a", "b"]


# -- links -----------------------------------------------------------------------------------------------------------


def test_links_are_absolute_and_cover_their_text() -> None:
    document = read("<base href='/x/'><p>go <a href='y?z#w'> to <b>y</b></a>.<a href='mailto:a@b.example'>mail</a>")
    assert [(link.span.of(document.text), link.href) for link in document.links] == [
        ("to y", "https://shop.example/x/y?z#w"),
        ("mail", "mailto:a@b.example"),
    ]


def test_a_link_over_several_lines_covers_each() -> None:
    document = read("<a href=p><h3>Lamp</h3><p>12 EUR</p></a>")
    assert [(link.span.of(document.text), link.href) for link in document.links] == [
        ("Lamp", "https://shop.example/a/p"),
        ("12 EUR", "https://shop.example/a/p"),
    ]


def test_a_link_without_text_keeps_its_place() -> None:
    document = read("<p>a</p><a href=p><img></a><p>b</p><a href=q></a>")
    assert [(link.span.start, len(link.span), link.href[-2:]) for link in document.links] == [
        (2, 0, "/p"),
        (3, 0, "/q"),
    ]


@pytest.mark.parametrize("href", ["javascript:x()", "JAVA\nSCRIPT:x", "data:text/html,x", "", " ", "http://[bad"])
def test_links_that_lead_nowhere_are_text_only(href: str) -> None:
    document = read(f'<a href="{href}">x</a>')
    assert (document.text, document.links) == ("x", ())


def test_links_in_table_cells_and_descriptions_keep_their_spans() -> None:
    document = read(
        "<table><tr><th>k</th><td>a <a href=u>v</a></td><td><ul><li>x<li><a href=w>y</a></ul></td></tr></table>"
        "<dl><dt>t<dd>s <a href=z>r</a></dl>"
    )
    assert document.text == "k: a v | x; y\nt: s r"
    assert [link.span.of(document.text) for link in document.links] == ["v", "y", "r"]


def pictures(html: str) -> list[tuple[str, str]]:
    document = read(html)
    return [(link.span.of(document.text), link.href[len("https://shop.example/") :]) for link in document.links]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>a <img src=o.jpg alt=Oak> b", [("Oak", "a/o.jpg")]),
        ("<p>a <img src=/o.jpg> b", [("", "o.jpg")]),
        ("<p>a<img src=o.jpg srcset='s.jpg 100w, /l.jpg 900w,m.jpg 400w'>", [("", "a/o.jpg"), ("", "l.jpg")]),
        ("<p>a<img src=o.jpg srcset='o.jpg, t.jpg 2x'>", [("", "a/o.jpg"), ("", "a/t.jpg")]),
        ("<p>a<img srcset='i/w_1,h_2/s.jpg 1x, i/w_3,h_4/l.jpg 1.5x'>", [("", "a/i/w_3,h_4/l.jpg")]),
        ("<p>a<picture><source srcset='w.webp 1600w'><img src=o.jpg></picture>", [("", "a/o.jpg"), ("", "a/w.webp")]),
        ("<p>a<img src='data:image/gif;base64,R0lG' data-src=late.jpg>", [("", "a/late.jpg")]),
        ("<p>a<img src='data:image/gif;base64,R0lG' srcset='data:image/gif;base64,R0lG 2x'>", []),
        ("<p>a<img src=pixel.gif width=1 height=1>", []),
        ("<p>a<a href=p><img src=o.jpg alt=Oak></a>", [("Oak", "a/o.jpg"), ("Oak", "a/p")]),
        ("<ul><li><img src=t.jpg alt=Thyme> 1 sprig of thyme</ul>", [("", "a/t.jpg")]),
        ("<p hidden><img src=o.jpg></p>a", []),
    ],
)
def test_where_images_are_is_among_the_links(html: str, found: list[tuple[str, str]]) -> None:
    assert pictures(html) == found
    assert all(link.is_image == (not link.href.endswith("/p")) for link in read(html).links)


@pytest.mark.parametrize("name", ["source", "track", "embed", "bgsound", "wbr"])
def test_what_follows_an_element_without_an_end_is_read(name: str) -> None:
    assert text(f"<p>a <{name} src=x> b</p>c") == ["a b", "c"]


def test_an_image_says_nothing_about_how_words_meet() -> None:
    assert text("<p>H<img src=a.gif>O") == ["HO"]


# -- the page as a whole ---------------------------------------------------------------------------------------------


def test_the_title_comes_first_unless_a_heading_repeats_it() -> None:
    document = read("<html lang=' de-CH '><title> My\n page </title><p>x")
    assert (document.title, document.lang, document.text) == ("My page", "de-CH", "My page\nx")
    assert document.blocks[0].kind is BlockKind.TITLE
    assert read("<title>Lamp</title><h1>Lamp</h1>").text == "Lamp"
    assert read("<svg><title>icon</title></svg><p>x").title == ""


def test_no_text_is_an_empty_document() -> None:
    document = read("")
    assert (document.text, document.blocks, document.links, document.lang) == ("", (), (), None)


@pytest.mark.parametrize(
    "html",
    [
        "<nav>f</nav>",
        "<aside><a href=x>f</a></aside>",
        "<div role=complementary><a href=x>f</a></div>",
        "<div role=navigation>f</div>",
        "<main>m</main><header>f</header>",
        "<main>m</main><footer><p>f</p></footer>",
        "<footer><a href=x>f</a></footer>",
        "<div id=onetrust-banner-sdk><p>f</p></div>",
        "<div class='x cookie-notice'>f</div>",
    ],
)
def test_the_frame_of_the_page_is_marked_and_kept(html: str) -> None:
    document = read(html)
    assert [block.span.of(document.text) for block in document.blocks if block.boilerplate] == ["f"]


@pytest.mark.parametrize(
    "html",
    [
        "<header><h1>Invoice 7</h1>ACME</header><footer>IBAN DE00</footer>",
        "<aside><b>Price</b> 379.99 <a href=x>buy</a></aside>",
        "<header><h1>Title</h1></header><main>c</main>",
        "<header><h1>Title</h1><a href=x>a long link to somewhere else</a></header><main>c</main>",
        "<main><header>c</header></main>",
        "<article><footer>c</footer></article>",
        "<div class='cookie recipe'>c</div>",
        "<body class='has-cookie-banner'><main>c</main>",
        "<div class=cookie-banner-open><h1>c</h1></div>",
    ],
)
def test_content_is_not_taken_for_the_frame(html: str) -> None:
    assert not any(block.boilerplate for block in read(html).blocks)


# -- hidden text -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attributes",
    [
        "hidden",
        "hidden=until-found",
        "aria-hidden=true",
        "style='display:none'",
        "style='color:red; DISPLAY : NONE !important'",
        "style='visibility:hidden'",
        "style='opacity:0'",
        "style='opacity: 0.0;'",
        "style='font-size:0px'",
        "style='position:absolute;left:-9999px'",
        "style='text-indent:-100em'",
        "style='height:0;overflow:hidden'",
        "style='clip:rect(0,0,0,0)'",
        "style='clip-path:inset(50%)'",
        "style='transform:scale(0)'",
        "style='color:transparent'",
        "class='x sr-only'",
        "data-lookstruct-hidden=display",
    ],
)
def test_hidden_elements_are_left_out_and_counted(attributes: str) -> None:
    document = read(f"<p>seen</p><div {attributes}>not <b>seen</b></div>")
    assert (document.text, document.n_hidden_chars) == ("seen", len("not seen"))


@pytest.mark.parametrize(
    "style",
    [
        "opacity:0.5",
        "opacity:01",
        "height:0",
        "overflow:hidden;height:100px",
        "left:-9px",
        "font-size:0.8em",
        "width:0",
    ],
)
def test_styles_that_hide_nothing_hide_nothing(style: str) -> None:
    assert text(f"<p style='{style}'>seen") == ["seen"]


def test_hidden_text_is_kept_on_request() -> None:
    page = Page(URL, URL, "<p hidden>a</p><details><summary>b</summary>c</details><p aria-hidden=true>d</p>")
    assert clean(page).text == "b"
    document = clean(page, include_hidden=True)
    assert (document.text, document.n_hidden_chars) == ("a\nb\nc\nd", 0)


def test_zero_width_characters_are_counted_as_hidden() -> None:
    assert read("<p>a\u200b\u200bb\U000e0041</p>").n_hidden_chars == 3


def test_a_closed_details_shows_its_summary() -> None:
    assert text("<details><summary>a</summary>b<p>c</p></details><details open><summary>d</summary>e</details>") == [
        "a",
        "d",
        "e",
    ]


def test_the_visible_twin_of_spoken_text_is_kept() -> None:
    html = "<p><span class=sr-only>12.50 euro</span><span aria-hidden=true>12,50</span><span aria-hidden=true>*</span>"
    assert text("<p>" + html) == ["12,50*"]


def test_a_page_behind_a_dialog_is_kept() -> None:
    assert text("<div aria-hidden=true><main>content</main></div><div role=dialog>OK?</div>") == ["content", "OK?"]


def test_what_a_browser_computed_overrules_the_attributes() -> None:
    html = "<p>a</p><p>b <i>c</i></p><p style='display:none'>d</p>"
    document = read(
        html, hidden_paths=frozenset({"html > body > p:nth-of-type(2) > i", "html > body > p:nth-of-type(9)"})
    )
    assert document.text == "a\nb\nd"
    assert document.n_hidden_chars == 1


# -- offsets and paths -----------------------------------------------------------------------------------------------

_WORDS = st.text(st.sampled_from("ab1 \n.é漢€\u200b\u00a0<&\U0001f6d2"), max_size=6)
_TAGS = [
    *["p", "div", "span", "b", "a", "ul", "ol", "li", "dl", "dt", "dd", "pre", "h2", "nav", "section", "br", "img"],
    *["table", "tr", "td", "th", "thead", "tbody", "caption", "input", "label", "select", "option", "textarea", "sup"],
    *["details", "summary", "my-tag", "o:p", "svg", "text"],
]
_ATTRIBUTES = ["", " href=/x", " hidden", " colspan=2", " rowspan=3", " alt='q r'", " value=v", " style=opacity:0"]


def _escaped(raw: str) -> str:
    return raw.replace("&", "&amp;").replace("<", "&lt;")


def _element(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parts = st.tuples(st.sampled_from(_TAGS), st.sampled_from(_ATTRIBUTES), st.lists(children, max_size=4))
    return parts.map(lambda part: f"<{part[0]}{part[1]}>{''.join(part[2])}</{part[0]}>")


_TREES = st.lists(st.recursive(_WORDS.map(_escaped), _element, max_leaves=25), max_size=6).map("".join)


@given(_TREES, st.booleans())
@settings(max_examples=300, deadline=None)
def test_offsets_and_paths_hold_on_any_tree(html: str, include_hidden: bool) -> None:
    page = Page(URL, URL, html)
    document = clean(page, include_hidden=include_hidden)
    soup = BeautifulSoup(html, "lxml")
    ends = 0
    for block in document.blocks:
        line = block.span.of(document.text)
        assert line
        assert line == line.rstrip()
        assert "\n" not in line or block.kind is BlockKind.PRE
        assert block.span.start == ends
        ends = block.span.end + 1
        assert len(soup.select(block.dom_path)) == 1
        last = block.span.start
        for cell in block.cells:
            assert last <= cell.span.start <= cell.span.end <= block.span.end
            last = cell.span.end
    assert ends == len(document.text) + bool(document.blocks)
    for link in document.links:
        assert link.span.end <= len(document.text)
        assert "\n" not in link.span.of(document.text) or any(block.kind is BlockKind.PRE for block in document.blocks)


@given(_TREES)
@settings(max_examples=200, deadline=None)
def test_with_hidden_text_included_no_word_is_lost(html: str) -> None:
    document = clean(Page(URL, URL, html.replace("details", "div").replace("select", "div")), include_hidden=True)
    expected = parse(html.replace("details", "div").replace("select", "div"))
    for dropped in expected.find_all(["svg", "textarea", "rp"]):
        dropped.decompose()
    for letter in "é漢\U0001f6d2":
        assert document.text.count(letter) >= expected.get_text().count(letter)


@given(_TREES)
@settings(max_examples=200, deadline=None)
def test_both_path_functions_agree(html: str) -> None:
    soup, paths = parse(html), Paths()
    outermost = [
        tag for tag in elements(soup) if "hidden" in tag.attrs and not any("hidden" in up.attrs for up in tag.parents)
    ]
    assert marked_paths(html, "hidden") == {paths.of(tag) for tag in outermost}
    assert all(paths.find(soup, paths.of(tag)) is tag for tag in elements(soup))


def test_each_parent_is_numbered_once_however_many_children(monkeypatch: pytest.MonkeyPatch) -> None:
    from lookstruct.extractors import htmltree

    numbered: list[int] = []
    original = htmltree.numbered
    monkeypatch.setattr(htmltree, "numbered", lambda parent: numbered.append(id(parent)) or original(parent))
    document = read("<ul>" + "<li>x" * 3000 + "</ul><table>" + "<tr><td>a<td>b" * 1000 + "</table>")
    assert len(document.blocks) == 4000
    assert len(numbered) == len(set(numbered)) <= 5


def test_a_very_deep_page_is_read_to_the_bottom() -> None:
    document = read("<div>" * 5000 + "deep" + "</div>" * 5000 + "<p>after")
    assert document.text == "deep\nafter"
    assert document.blocks[0].dom_path.count(" > ") == MAX_PATH_DEPTH - 1
    assert document.blocks[0].dom_path.startswith("html > body > div > div")


def test_a_large_text_and_many_attributes_are_read_whole() -> None:
    assert len(read("<p>" + "word " * 3_000_000).text) == 5 * 3_000_000 - 1


@pytest.mark.parametrize("inner", ["<h2>a\nb</h2>", "<p>a\nb</p>"])
def test_lines_inside_a_pre_stay_lines_whatever_holds_them(inner: str) -> None:
    document = read(f"<pre>{inner}</pre>")
    assert (document.text, [block.kind for block in document.blocks]) == ("a\nb", [BlockKind.PRE])
