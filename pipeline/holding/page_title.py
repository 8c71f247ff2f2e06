"""Document -> what the page calls itself (`page_title`): the heading that its title repeats, without the site's name.

Of 251 recipes and articles 225 have such a heading, and for 205 of them it is the name of the dish or the headline.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unicodedata import normalize

from lookstruct.schemas.document import Block, BlockKind, Document

_LARGE = 3
"""The smallest level of a heading that may name the page."""
_ENOUGH = 6
"""Letters and digits of a heading that may stand anywhere in the title; a shorter one is a whole part of it."""
_PARTS = re.compile(r"\s+[|·•–—-]\s+|[:|]\s+")
_APART = ("footer", "nav")


def page_title(document: Document, blocks: Sequence[Block]) -> str | None:
    """The longest heading of `blocks` that the document's title repeats, as it stands there; None if there is none.

    >>> from lookstruct.schemas.document import Span
    >>> text = "Leek soup | Spoon & Fork\\nLeek soup\\nSpoon"
    >>> made = [Block(BlockKind.HEADING, Span(25, 34), "h1", 1), Block(BlockKind.HEADING, Span(35, 40), "h2", 2)]
    >>> page_title(Document("", text, tuple(made), title="Leek soup | Spoon & Fork"), made)
    'Leek soup'
    """
    title = _plain(document.title)
    parts = {_plain(part) for part in _PARTS.split(document.title)}
    found = (text for text in _headings(document, blocks) if _repeats(_plain(text), title, parts))
    return max(found, key=lambda text: len(_plain(text)), default=None)


def _headings(document: Document, blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        is_large = block.kind is BlockKind.HEADING and block.level <= _LARGE
        if is_large and not any(step.partition(":")[0] in _APART for step in block.dom_path.split(" > ")):
            yield block.span.of(document.text).strip()


def _repeats(heading: str, title: str, parts: set[str]) -> bool:
    return bool(heading) and (heading in parts or (len(heading) >= _ENOUGH and heading in title))


def _plain(text: str) -> str:
    """Letters and digits alone."""
    return "".join(filter(str.isalnum, normalize("NFKC", text).casefold()))
