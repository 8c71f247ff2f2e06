"""An image element -> where its pictures are: its `src`, and the largest that its `srcset`s offer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bs4.element import Tag

_CANDIDATE = re.compile(r"(\S*[^\s,])(?:\s+(\d+(?:\.\d+)?)[wx])?[^,]*(?:,|$)")
_LEAST_SIDE = 3  # pixels: smaller ones count visitors


def picture_addresses(image: Tag) -> list[str]:
    """The addresses as the page writes them, `src` first, each once; none for images of a pixel or two.

    A page that loads its images late says in `data-src` where they are.

    >>> from bs4 import BeautifulSoup
    >>> picture_addresses(BeautifulSoup('<img src=a.jpg srcset="b.jpg 1x, c.jpg 2x">', "lxml").img)
    ['a.jpg', 'c.jpg']
    """
    if any(_is_tiny(str(image.attrs.get(side, ""))) for side in ("width", "height")):
        return []
    own = [str(image.attrs.get(name, "")) for name in ("src", "data-src")]
    first = [address for address in own if address and not address.startswith("data:")][:1]
    return list(dict.fromkeys([*first, *_largest(_sets(image))]))


def _is_tiny(side: str) -> bool:
    return side.isdecimal() and int(side) < _LEAST_SIDE


def _sets(image: Tag) -> Iterator[str]:
    """The sets of the image, and of the `picture` around it."""
    yield str(image.attrs.get("srcset", ""))
    around = next((parent for parent in image.parents if parent.name != "source"), None)  # libxml2 nests them
    if around is not None and around.name == "picture":
        yield from (str(source.attrs.get("srcset", "")) for source in around.find_all("source"))


def _largest(sets: Iterator[str]) -> list[str]:
    """The candidate of all sets with the greatest width, or density, in its descriptor."""
    found = [
        (float(match.group(2) or 1), match.group(1))
        for one in sets
        for match in _CANDIDATE.finditer(one)
        if not match.group(1).startswith("data:")
    ]
    return [max(found, key=lambda candidate: candidate[0])[1]] if found else []
