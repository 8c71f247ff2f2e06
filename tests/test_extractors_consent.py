"""What asks for consent to cookies is marked as such, and is never shown to the model."""

from __future__ import annotations

import pytest

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.view import worth_showing
from lookstruct.schemas.document import Document, Page

NOTICE = "<p>This website uses cookies to measure what is read.</p>"


def read(html: str) -> Document:
    return clean(Page("", "https://a.example/", html))


def consent(document: Document) -> list[str]:
    return [block.span.of(document.text) for block in document.blocks if block.consent]


def shown(document: Document) -> list[str]:
    return [block.span.of(document.text) for block in worth_showing(document)]


@pytest.mark.parametrize(
    "button",
    [
        "<button>Accept all cookies</button>",
        "<button>Got it!</button>",
        "<div role=button>OK</div>",
        "<a href=#>I agree</a>",
        "<input type=button value='Alle akzeptieren'>",
        "<button>Tout refuser</button>",
        "<button>同意する</button>",
    ],
)
def test_a_note_about_cookies_with_a_choice_is_a_banner_whatever_it_is_called(button: str) -> None:
    document = read(f"<div class=x7><div>{NOTICE}</div><div>{button}</div></div><p>Tea 3.50</p>")
    assert "This website uses cookies to measure what is read." in consent(document)
    assert shown(document) == ["Tea 3.50"]


@pytest.mark.parametrize(
    "html",
    [
        "<div><p>Oat cookies, thirty of them, to be eaten warm.</p><button>OK</button></div>",
        f"<div>{NOTICE}<a href=/policy>Read our policy</a></div>",
        f"<main><div>{NOTICE}</div><h1>Cookie policy</h1><button>Accept</button></main>",
        "<footer><button>Accept cookies</button></footer>",
        "<form><p>I have read the terms of this website in full.</p><button>Accept</button></form>",
    ],
)
def test_other_texts_are_not_taken_for_banners(html: str) -> None:
    assert consent(read(html)) == []


def test_a_banner_is_not_shown_even_where_little_else_is_left() -> None:
    document = read(f"<div id=cookie-banner>{NOTICE * 9}</div><nav>Home</nav>")
    assert shown(document) == ["Home"]


def test_a_banner_inside_a_footer_is_marked_too() -> None:
    assert consent(read("<main>x</main><footer>f<div class=cookie-notice>c</div></footer>")) == ["c"]
