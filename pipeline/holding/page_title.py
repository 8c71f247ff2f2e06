"""Document -> what the page calls itself (`page_title`): the heading that its title repeats, without the site's name;
and that name (`site_name`).

Of 258 recipes and articles 222 have such a heading, and for 196 of them it is the name of the dish or the headline.
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

    If one of the first level is part of it, that one: what is longer says more than the name.

    >>> from lookstruct.schemas.document import Span
    >>> text = "Leek soup | Spoon & Fork\\nLeek soup\\nSpoon"
    >>> made = [Block(BlockKind.HEADING, Span(25, 34), "h1", 1), Block(BlockKind.HEADING, Span(35, 40), "h2", 2)]
    >>> page_title(Document("", text, tuple(made), title="Leek soup | Spoon & Fork"), made)
    'Leek soup'
    """
    title = _plain(document.title)
    parts = [_plain(part) for part in _PARTS.split(document.title)]
    found = [(level, text) for level, text in _headings(document, blocks) if _repeats(_plain(text), title, parts)]
    longest = max((text for _, text in found), key=lambda text: len(_plain(text)), default=None)
    return next((text for level, text in found if level == 1 and _plain(text) in _plain(longest or "")), longest)


def site_name(document: Document, blocks: Sequence[Block]) -> str | None:
    """What the title ends with and is not the page's own name: the site's; None where the title has one part.

    >>> from lookstruct.schemas.document import Span
    >>> made = [Block(BlockKind.HEADING, Span(25, 34), "h1", 1)]
    >>> title = "Leek soup | Spoon & Fork"
    >>> site_name(Document("", f"{title}\\nLeek soup", tuple(made), title=title), made)
    'Spoon & Fork'
    """
    own = page_title(document, blocks)
    parts = [part.strip() for part in _PARTS.split(document.title)]
    is_site = own is not None and len(parts) > 1 and _plain(parts[-1]) not in ("", _plain(own))
    return parts[-1] if is_site and parts[-1] in document.text else None


def _headings(document: Document, blocks: Sequence[Block]) -> Iterator[tuple[int, str]]:
    for block in blocks:
        is_large = block.kind is BlockKind.HEADING and block.level <= _LARGE
        if is_large and not any(step.partition(":")[0] in _APART for step in block.dom_path.split(" > ")):
            yield block.level, block.span.of(document.text).strip()


def _repeats(heading: str, title: str, parts: Sequence[str]) -> bool:
    return bool(heading) and (heading in parts or (len(heading) >= _ENOUGH and heading in title))


def _plain(text: str) -> str:
    """Letters and digits alone."""
    return "".join(filter(str.isalnum, normalize("NFKC", text).casefold()))
