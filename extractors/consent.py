"""Banners that ask for consent to cookies: found, so that they are never taken for the content.

A banner is known by its id or class, or by what it says: a button that accepts or refuses, beside a text about cookies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup
from bs4.element import Tag

from lookstruct.extractors.htmltree import contains, elements

NAMES = (
    r"(?:cookies?|consent|gdpr|ccpa|privacy)[-_ ]?(?:law[-_ ]?)?"
    r"(?:banner|consent|notice|notification|bar|pop-?up|policy|message|modal|dialog|overlay|prompt|wall|info|alert|"
    r"settings|manager|root|container|disclaimer)"
    r"|onetrust|cybotcookiebot|didomi|usercentrics|qc-cmp|truste|sp_message|cc-window|cmp(?:box|-container|wrapper)"
    r"|cookie-?(?:script|yes|first|hub)|klaro|iubenda-cs|borlabs|complianz"
)
"""What ids and classes of consent banners are called; these patterns hold in Python and in JavaScript alike."""
TOPIC = r"cookies?\b|kakor\b|informasjonskapsl|ciasteczk|クッキー|曲奇"
"""What the text of a banner is about."""
ACCEPT = (
    r"^\W*(?:(?:i |yes,? )?(?:accept|agree|allow|consent)|got it|ok(?:ay)?\b|understood|continue$|(?:alle[ns]? )?"
    r"(?:akzeptieren|zustimmen|annehmen|zulassen)|(?:alle )?cookies (?:akzeptieren|zulassen)|einverstanden|verstanden|"
    r"tout accepter|accepter|j'accepte|aceptar|acepto|permitir|accetta|accetto|aceitar|concordo|accepteren|akkoord|"
    r"godkänn|acceptera|godta|accepter alle|akceptuj|zgadzam|přijmout|同意|接受|すべて許可|同意する)"
)
REJECT = (
    r"^\W*(?:(?:i )?(?:reject|decline|refuse|deny|disagree)|no,? thanks|(?:only|use) (?:necessary|essential)|"
    r"(?:necessary|essential)(?: cookies)? only|continue without|(?:alle[ns]? )?(?:ablehnen|verweigern)|"
    r"nur (?:notwendige|erforderliche|essenzielle)|tout refuser|refuser|continuer sans|rechazar|rechazo|"
    r"solo necesarias|rifiuta|rejeitar|recusar|"
    r"weigeren|afwijzen|alleen noodzakelijke|avvisa|neka|avvis|afvis|odrzuć|odmítnout|拒绝|拒否)"
)
MOST_CHARS = 6000
"""A longer "banner" is the page itself under a misleading class."""

_NAMES = re.compile(NAMES, re.IGNORECASE)
_TOPIC = re.compile(TOPIC, re.IGNORECASE)
_PURPOSE = re.compile(
    r"web|\bsite|priva|consent|person|anal|adver|track|experience|setting|browser|datenschutz|einwillig|werb|"
    r"publicit|expérience|navega|pubblicit|perfil|netto|sivu|サイト|网站",
    re.IGNORECASE,
)  # what tells them from those that are baked
_CHOICE = re.compile(f"{ACCEPT}|{REJECT}", re.IGNORECASE)
_TAGS = frozenset({
    "div", "section", "aside", "dialog", "form", "footer", "header", "p", "span", "lookstruct-frame",
})  # fmt: skip
_CONTENT = frozenset({"main", "article", "h1"})
_BUTTONS = frozenset({"button", "a", "input"})
_LONGEST_BUTTON = 60
_LEAST_CHARS = 30  # beside the buttons: "Cookie settings" alone, in a footer, asks nothing
_MOST_UNNAMED_CHARS = 2500
_MOST_CLIMB = 6


def is_consent_banner(tag: Tag) -> bool:
    """Whether id or class say that `tag` asks for consent to cookies ("cookie recipes" do not)."""
    if tag.name not in _TAGS or not tag.attrs:
        return False
    names = f"{tag.attrs.get('id', '')} {tag.attrs.get('class', '')}"
    if len(names) < 2 or _NAMES.search(names) is None:
        return False
    return not contains(tag, _CONTENT) and len(tag.get_text()) <= MOST_CHARS


def unnamed_banners(soup: BeautifulSoup) -> list[Tag]:
    """The elements that ask for consent by what they say, whatever they are called.

    >>> html = "<div><p>Our site uses cookies to count its visitors.</p><button>Accept</button></div><p>x"
    >>> [tag.name for tag in unnamed_banners(BeautifulSoup(html, "lxml"))]
    ['div']
    """
    found = {id(banner): banner for button in _choices(soup) if (banner := _banner_around(button)) is not None}
    return list(found.values())


def _choices(soup: BeautifulSoup) -> Iterator[Tag]:
    """The buttons that accept or refuse something."""
    for tag in elements(soup):
        if tag.name in _BUTTONS or tag.attrs.get("role") == "button":
            said = str(tag.attrs.get("value", "")) if tag.name == "input" else tag.get_text()
            if len(said) <= _LONGEST_BUTTON and _CHOICE.search(said.strip()):
                yield tag


def _banner_around(button: Tag) -> Tag | None:
    """The nearest element around `button` that speaks of cookies beside its buttons; None if that is no banner."""
    tag = button.parent
    for _ in range(_MOST_CLIMB):
        if tag is None or tag.name not in _TAGS or contains(tag, _CONTENT):
            return None
        text = tag.get_text()
        if len(text) > _MOST_UNNAMED_CHARS:
            return None
        said = _beside_buttons(tag)
        if len(said) >= _LEAST_CHARS and _TOPIC.search(said) and _PURPOSE.search(said):
            return tag
        tag = tag.parent
    return None


def _beside_buttons(tag: Tag) -> str:
    text = tag.get_text()
    for button in (inner for inner in elements(tag) if inner.name == "button"):
        text = text.replace(button.get_text(), "", 1)
    return text.strip()
