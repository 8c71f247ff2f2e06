"""Which names a page gives as its authors'."""

import pytest

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.holding.bylines import bylines
from lookstruct.pipeline.values.found import find_all
from lookstruct.schemas.document import Page


def names(html: str) -> tuple[str, ...]:
    page = clean(Page("https://a.example/", "https://a.example/", html))
    return bylines(page, page.blocks, find_all(page).moments)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("By Ann Lee", ("Ann Lee",)),
        ("By Ann Lee and Bo Chi | 3 May 2024", ("Ann Lee", "Bo Chi")),
        ("By Ann Lee May 3, 2024", ("Ann Lee",)),
        ("Posted by Ann Lee on 3 May 2024", ("Ann Lee",)),
        ("Published 3 May 2024 by Ann Lee", ("Ann Lee",)),
        ("Author: Ann Lee", ("Ann Lee",)),
        ("Von Ludwig van Beethoven", ("Ludwig van Beethoven",)),
        ("Veröffentlicht am 12. Juni 2017 von gizzmo", ("gizzmo",)),
        ("Par Émile Zola, le 3 mai 2024", ("Émile Zola",)),
        ("Text: Jan Novák", ("Jan Novák",)),
        ("Ann Lee, 02.02.2022", ("Ann Lee",)),
        ("21. Jan 2022 // Dominik Ricker", ("Dominik Ricker",)),
        ("von flerche", ("flerche",)),
        ("Blog Beitrag von Margarita Koreneva", ("Margarita Koreneva",)),
        ("Koch/Köchin: Susanne Walter", ("Susanne Walter",)),
        ("【纠错】 责任编辑： 焦鹏", ("焦鹏",)),
        ("By Ann Lee. Permanentlink", ("Ann Lee",)),
        ("News, 02.02.2022", ()),
        ("de courgette", ()),
        ("2 euros par portion", ()),
        ("Stand by me", ()),
        ("A walk by Lake Geneva is best in spring.", ()),
    ],
)
def test_a_byline_gives_the_names_in_it_and_nothing_else(line: str, expected: tuple[str, ...]) -> None:
    assert names(f"<h1>News</h1><p>{line}</p><p>More of it.") == expected


def test_a_name_alone_above_or_below_the_date_is_a_byline() -> None:
    assert names("<h1>News</h1><ul><li>Ronja Beck</ul><p>16.11.2018<p>The pike swallows.") == ("Ronja Beck",)


def test_a_link_to_the_page_of_an_author_is_a_byline() -> None:
    assert names("<h1>News</h1><p><a href=/author/lee>Ann Lee</a> is in town.") == ("Ann Lee",)
    assert names("<h1>News</h1><p><a href=/author/lee>More posts</a>") == ()


def test_people_in_the_text_and_in_headings_are_no_authors() -> None:
    assert names("<h1>In the steps of Ann Lee</h1><p>Bo Chi met Ann Lee in a match by the lake on 3 May 2024.") == ()


def test_a_name_below_a_line_that_only_says_by_is_a_byline() -> None:
    assert names("<h1>Carta</h1><p>Por</p><p>Williams Perdomo @wperdomod</p>") == ("Williams Perdomo",)


def test_the_authors_of_other_pages_further_down_are_not_this_ones() -> None:
    teasers = "".join(f"<p>Teaser {n}</p><p>By Ed Fox{n * 'x'}</p>" for n in range(1, 6))
    assert names(f"<h1>Rain</h1><p>By Ann Lee</p><p>By Bo Chi</p><p>It rains.</p>{teasers}") == ("Ann Lee", "Bo Chi")
    assert names(f"{teasers}<p>Menu</p><p>Home</p><p>Search</p><h1>Rain</h1><p>By Ann Lee</p>") == ("Ann Lee",)
