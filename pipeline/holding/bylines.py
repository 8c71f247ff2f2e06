"""Document -> the names that its bylines give (`bylines`): `By Ann Lee and Bo Chi | 3 May`, `Autor: Jan Novák`, a link
to an author's page, a name beside the date.

A small model that is asked for authors names everybody whom the text is about. Where the page says who wrote it, its
answer is held to what stands there.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile

from lookstruct.pipeline.values.dates import Moment
from lookstruct.pipeline.values.month_names import month_number, weekday_number
from lookstruct.schemas.document import Block, BlockKind, Document, Span

_MOST_CHARS = 160
"""Code points of a line that may say who wrote the page."""
_MOST_WORDS = 5
_TOGETHER = 3
"""Blocks in which the names of all authors stand."""
_BY = r"by|von|vom|par|por|door|av|af|od|przez|di|de|da|от"
_AUTHOR = (
    r"koch/köchin|chef|责任编辑|作者|記者|记者|著者|authors?|autor(?:en|in|es|a)?|auteure?s?|autor[ei]|författare|forfatter|автор|writers?|words|texte?|texto|testo"
    r"|written by|geschrieben von|écrit par|escrito por|scritto da|geschreven door"
)
_PUBLISHED = (
    r"posted|published|written|reported|recipe|story|article|created|made|verfasst|gemaakt|recept|receita criada"
    r"|(?:blog )?beitrag|veröffentlicht|geschrieben|erstellt|publié|écrit|publicado"
    r"|escrito|pubblicato|scritto|geplaatst|gepubliceerd|geschreven|opublikowan[oey]|napisan[oey]|ein beitrag|rezept"
)
_LABELLED = re.compile(rf"(?:^|[|·•–—】-]\s*)(?:{_AUTHOR})\s*[:：]?\s+(?=\S)", re.IGNORECASE)
_OPENED = re.compile(rf"^[^\w@]*(?:(?:{_PUBLISHED})\s+)?(?:{_BY})\s*[:：]?\s+(?=\S)", re.IGNORECASE)
_ALONE = re.compile(rf"(?:{_BY}|{_AUTHOR})\s*[:：]?", re.IGNORECASE)
_NICKNAME = re.compile(r"(?:by|von|par|por|door|av|af)\s+\S+", re.IGNORECASE)
_INSIDE = re.compile(rf"(?<=[\s|·•,])(?:{_BY})\s+(?=\S)", re.IGNORECASE)
_AFTER = re.compile(rf"\b(?:{_PUBLISHED})\b", re.IGNORECASE)
_AND = re.compile(r"\s*(?:,|;|/|&|\+|(?<!\w)(?:and|und|et|y|e|en|och|og|i|a)(?!\w))\s*")
_END = re.compile(r"\s*(?:[|•·()\[\]\n:：!?…]|\s[–—-]\s|(?<!\w)\d|\.\s*$)")
_PARTICLES = frozenset(
    (
        *("de", "del", "della", "di", "da", "dos", "du", "la", "le", "van", "von", "der"),
        *("den", "ter", "ten", "al", "el", "bin", "ibn", "y", "af", "av", "zu"),
    )
)
_NO_NAME = frozenset(
    (
        *("published", "updated", "posted", "modified", "last", "on", "at", "in", "with", "for", "from"),
        *("photo", "photos", "photography", "foto", "image", "view", "more", "all", "about", "the", "am", "im"),
        *("vom", "mehr", "alle", "weitere", "beiträge", "artikel", "posts", "articles", "tous", "plus", "voir"),
        *("ver", "más", "signaler", "kopieren", "teilen", "aus", "permanentlink", "newer", "older", "post"),
        *("home", "powered", "website", "facebook", "twitter", "instagram", "download", "share", "email", "no"),
        *("comments", "jump", "recipe", "recipes", "rezept", "print", "see", "profile", "star", "read", "min"),
        *("minutes", "news", "blog", "contact", "kontakt", "menu", "search", "if", "this", "these", "method"),
        *("cooking"),
    )
)
"""Words, small letters, that end a name or show that a text is none."""
_AUTHOR_PAGE = re.compile(
    r"/(?:authors?|autor(?:en|es|in)?|auteurs?|autore|writers?|redakteur\w*|contributors?)/[^/]", re.I
)


def bylines(document: Document, blocks: Sequence[Block], moments: Sequence[Moment]) -> tuple[str, ...]:
    """The names, in page order; () where no line says who wrote the page.

    >>> from lookstruct.schemas.document import Span
    >>> block = Block(BlockKind.PARAGRAPH, Span(0, 26), "p")
    >>> bylines(Document("", "Posted by Ann Lee & Bo Chi", (block,)), (block,), ())
    ('Ann Lee', 'Bo Chi')
    """
    dated = _dated(blocks, moments)
    numbers = range(len(blocks))
    places = (link for link in document.links if not link.is_image and _AUTHOR_PAGE.search(link.href))
    linked = [(_block_at(blocks, link.span.start), link.span.of(document.text)) for link in places]
    ways: tuple[list[tuple[int, str]], ...] = (
        [(n, name) for n in numbers for name in _stated(document, blocks, n, n in dated)],
        [(n, name) for n, name in linked if _is_name(name)],
        [(n, name) for n, dates in dated.items() for name in _beside(document, blocks, n, dates)],
    )
    top = next((n for n in numbers if blocks[n].kind is BlockKind.HEADING and blocks[n].level == 1), 0)
    return next((found for way in ways if (found := _first_together(way, top))), ())


def _first_together(named: Sequence[tuple[int, str]], top: int) -> tuple[str, ...]:
    """Of names with the numbers of their blocks the first below the page's heading, and those right behind it: further
    down stand the authors of other pages."""
    first = next((number for number, _ in named if number >= top - _TOGETHER), named[0][0] if named else 0)
    return tuple(dict.fromkeys(name for number, name in named if first <= number <= first + _TOGETHER))


def _block_at(blocks: Sequence[Block], offset: int) -> int:
    return max(0, bisect_right([block.span.start for block in blocks], offset) - 1)


def _dated(blocks: Sequence[Block], moments: Sequence[Moment]) -> dict[int, Sequence[Span]]:
    """The numbers of short blocks that have dates, and where these stand."""
    spans = sorted((moment.span for moment in moments), key=_start)
    short = ((number, block.span) for number, block in enumerate(blocks) if len(block.span) <= _MOST_CHARS)
    found = (
        (n, spans[bisect_left(spans, s.start, key=_start) : bisect_left(spans, s.end, key=_start)]) for n, s in short
    )
    return {number: dates for number, dates in found if dates}


def _start(span: Span) -> int:
    return span.start


def _stated(document: Document, blocks: Sequence[Block], number: int, is_dated: bool) -> Iterator[str]:
    """The names behind "by", "Author:" and their like, in the same line or in the next."""
    block = blocks[number]
    text = block.span.of(document.text)
    if len(text) > _MOST_CHARS:
        return
    if _ALONE.fullmatch(text) and number + 1 < len(blocks):
        yield from _names(blocks[number + 1].span.of(document.text)[:_MOST_CHARS], may_be_nickname=False)
    for line in text.split("\n"):
        markers = [*_LABELLED.finditer(line), *_OPENED.finditer(line)]
        if block.kind is not BlockKind.HEADING and (is_dated or _AFTER.search(line)):
            markers += _INSIDE.finditer(line)
        for marker in markers:
            is_all = block.kind is BlockKind.PARAGRAPH and _NICKNAME.fullmatch(line) is not None
            may_be_nickname = is_dated or is_all or marker.re is not _OPENED or _AFTER.search(line) is not None
            yield from _names(line[marker.end() :], may_be_nickname)


def _names(text: str, may_be_nickname: bool) -> Iterator[str]:
    """The names that a text begins with, joined by "and" or commas."""
    end = _END.search(text)
    said = text[: end.start()] if end else text
    if end and end[0].strip().isdigit():
        said = _without_day(said)
    for part in _AND.split(said):
        words = list(takewhile(_is_of_name, part.split()))
        while words and words[-1].casefold() in _PARTICLES:
            words.pop()
        if not words and may_be_nickname and part.isidentifier() and part not in _PARTICLES | _NO_NAME:
            words = [part]
        name = " ".join(words[:_MOST_WORDS]).strip(" .,")
        if len(name) < 2:
            return
        yield name


def _without_day(text: str) -> str:
    """A text before a figure without the months and weekdays at its end: `Ann Lee, Friday, May` 3."""
    words = text.split()
    while words and _is_day(words[-1].strip(".,")):
        words.pop()
    return " ".join(words).rstrip(",")


def _is_day(word: str) -> bool:
    return month_number(word, None) is not None or weekday_number(word, None) is not None


def _is_of_name(word: str) -> bool:
    """Whether a word may be part of a name: it begins with a capital, or it is a "van"."""
    if word.casefold() in _PARTICLES:
        return True
    return word.casefold().strip(".,:") not in _NO_NAME and word[0].isalpha() and not word[0].islower()


def _beside(document: Document, blocks: Sequence[Block], number: int, dates: Sequence[Span]) -> Iterator[str]:
    """A name before or after the date of a line, or the line above or below, if that is a name of two words or more."""
    block = blocks[number]
    before = document.text[block.span.start : dates[0].start].strip(" \n,|·•–—-/")
    after = document.text[dates[-1].end : block.span.end].strip(" \n,|·•–—-/")
    around = [before, after]
    for other in (number - 1, number + 1):
        if 0 <= other < len(blocks) and blocks[other].kind not in (BlockKind.HEADING, BlockKind.TITLE):
            around.append(blocks[other].span.of(document.text).strip())
    yield from (text for text in around if _is_name(text))


def _is_name(text: str) -> bool:
    """Whether a text is two to five words of a name and nothing else.

    >>> _is_name("Ronja Beck"), _is_name("Ludwig van Beethoven"), _is_name("News"), _is_name("See all of them")
    (True, True, False, False)
    """
    words = text.split()
    return (
        2 <= len(words) <= _MOST_WORDS
        and not _OPENED.match(text)
        and not (text.isupper() and len(words) > 2)
        and all(map(_is_of_name, words))
        and all(word.strip(".").replace("-", "").replace("'", "").replace("’", "").isalpha() for word in words)
    )
