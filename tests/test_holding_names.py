"""What a page calls itself and its site, and the names of companies that it may show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.holding.organizations import organizations
from lookstruct.pipeline.holding.page_title import page_title, site_name
from lookstruct.schemas.document import Document, Page


def read(title: str, body: str) -> Document:
    return clean(Page("https://a.example/", "https://a.example/", f"<title>{title}</title>{body}"))


@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        ("Leek soup | Spoon & Fork", "<h1>Leek soup</h1>", "Leek soup"),
        ("LEEK SOUP - recipe", "<h1>Leek soup</h1>", "Leek soup"),
        ("Krimiblog: The worst video", "<h1>Krimiblog</h1><h2>The worst video</h2>", "The worst video"),
        ("Margarita recipe | Drinks", "<h1>Margarita</h1><h2>Margarita recipe</h2>", "Margarita"),
        ("Pie | Cake", "<h1>Pie</h1>", "Pie"),
        ("Apple pie and cake", "<h1>Pie</h1>", None),
        ("Leek soup", "<h1>Something else</h1>", None),
        ("Leek soup", "<h5>Leek soup</h5>", None),
        ("Leek soup", "<h1>Something else</h1><footer><h2>Leek soup</h2></footer>", None),
        ("", "<h1>Leek soup</h1>", None),
    ],
)
def test_a_page_is_called_as_the_heading_that_its_title_repeats(title: str, body: str, expected: str | None) -> None:
    page = read(title, body + "<p>Eat it.")
    assert page_title(page, page.blocks) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [("Leek soup | Spoon & Fork", "Spoon & Fork"), ("Leek soup", None), ("Spoon & Fork - Leek soup", None)],
)
def test_a_site_is_called_as_the_title_ends(title: str, expected: str | None) -> None:
    page = read(title, "<h1>Leek soup</h1><p>Eat it.")
    assert site_name(page, page.blocks) == expected


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (["AEON CO. (M) BHD (126926-H)"], "AEON CO. (M) BHD"),
        (["MOONLIGHT CAKE HOUSE SDN BHD 862725-U"], "MOONLIGHT CAKE HOUSE SDN BHD"),
        (["Acme Ltd (Company No. 0123456)"], "Acme Ltd"),
        (["POPULAR BOOK", "CO. (M) SDN BHD"], "POPULAR BOOK CO. (M) SDN BHD"),
        (["AIK HUAT HARDWARE", "ENTERPRISE SDN BHD"], "AIK HUAT HARDWARE ENTERPRISE SDN BHD"),
        (["Issued by: Harrow & Finch Ltd"], "Harrow & Finch Ltd"),
        (["Harrow & Finch Ltd, 12 High St, York"], "Harrow & Finch Ltd"),
        (
            ["Thank you very much for the order that you placed with Harrow & Finch on the third day of May."],
            "Harrow & Finch",
        ),
        (["Studio 54"], "Studio 54"),
    ],
)
def test_a_company_can_be_named_whole_and_without_its_registration(lines: list[str], name: str) -> None:
    assert name in organizations(lines)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["PASARAYA BORONG PINTAR", "SDN BHD"], "SDN BHD"),
        (["PASARAYA BORONG PINTAR", "SDN BHD"], "PASARAYA BORONG PINTAR"),
        (["AEON CO. (M) BHD (126926-H)"], "AEON CO. (M) BHD (126926-H)"),
        (["03-1234 5678"], "03-1234 5678"),
    ],
)
def test_a_legal_form_alone_or_a_number_is_no_company(lines: list[str], text: str) -> None:
    assert text not in organizations(lines)


@given(st.lists(st.text(max_size=100), max_size=4))
def test_every_name_of_a_company_stands_in_the_lines(lines: list[str]) -> None:
    joined = " ".join(line.strip() for line in lines)
    assert all(name in joined or all(word in joined for word in name.split()) for name in organizations(lines))
