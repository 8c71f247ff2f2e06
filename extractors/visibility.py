"""Which elements a person cannot see.

With a browser, what it computed counts (`Page.hidden_paths`, or the marks its snapshot left in the HTML). Without one,
the element's own attributes do: `hidden`, a closed `dialog` or `details`, an inline style that hides, a class that by
convention keeps text for screen readers.

`aria-hidden` says the opposite, "seen but not read out", and mostly marks ornaments, which are left out. Two uses mark
real content, which stays: the visible twin of text for screen readers (a split price), and a whole page that a dialog
has put in the background.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from itertools import islice

from bs4.element import Tag

from lookstruct.extractors.htmltree import contains
from lookstruct.extractors.tags import BLOCKS, MARK_HIDDEN

_NUMBER_ZERO = r"0*\.?0*(?:px|r?em|%|pt)?\s*(?:!important\s*)?(?:;|$)"
_FAR = r"-\s*\d{3,}(?:\.\d+)?(?:px|r?em|%|pt|v[wh])"
_HIDING_STYLE = re.compile(
    rf"""
    (?:^|;)\s*(?:
      display\s*:\s*none
    | visibility\s*:\s*(?:hidden|collapse)
    | content-visibility\s*:\s*hidden
    | opacity\s*:\s*{_NUMBER_ZERO}
    | font-size\s*:\s*{_NUMBER_ZERO}
    | clip\s*:\s*rect\(\s*0
    | clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0)
    | transform\s*:\s*scale\(\s*0\s*[,)]
    | text-indent\s*:\s*{_FAR}
    | (?:left|top|right|margin-left|margin-top)\s*:\s*{_FAR}
    | (?:-webkit-text-fill-)?color\s*:\s*transparent
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_ZERO_SIZE = re.compile(rf"(?:^|;)\s*(?:max-)?(?:width|height)\s*:\s*{_NUMBER_ZERO}", re.IGNORECASE)
_CLIPS = re.compile(r"overflow(?:-[xy])?\s*:\s*(?:hidden|clip)", re.IGNORECASE)
_SCREEN_READER = re.compile(r"(?:^|\s)(?:sr-only|visually-?hidden|screen-reader-(?:text|only)|a-offscreen)(?:\s|$)")

_NEIGHBOURHOOD = 4  # nodes on either side among which the spoken twin of an aria-hidden element is sought


class Visibility:
    """Answers `hides(tag)` for the tags of one tree; `hidden` are the ids of tags that a browser found invisible."""

    def __init__(self, hidden: Set[int], *, computed: bool) -> None:
        self._hidden = hidden
        self._computed = computed
        self._by_style: Callable[[Tag], bool] = _never if computed else hidden_by_attributes

    def hides(self, tag: Tag) -> bool:
        """Whether `tag` and all that is in it are out of sight."""
        if not tag.attrs:
            return id(tag) in self._hidden or (tag.name == "dialog" and not self._computed)
        if self._out_of_sight(tag):
            return True
        return tag.attrs.get("aria-hidden") == "true" and not (self._has_spoken_twin(tag) or _holds_the_page(tag))

    def _out_of_sight(self, tag: Tag) -> bool:
        return id(tag) in self._hidden or MARK_HIDDEN in tag.attrs or self._by_style(tag)

    def _has_spoken_twin(self, tag: Tag) -> bool:
        if tag.name in BLOCKS:
            return False
        return any(self._out_of_sight(other) and other.get_text(strip=True) for other in _neighbours(tag))

    def opens(self, details: Tag) -> bool:
        """Whether the folded part of a `details` shows: it is open, or a browser has judged its parts one by one."""
        return self._computed or "open" in details.attrs


def _neighbours(tag: Tag) -> Iterator[Tag]:
    for siblings in (tag.previous_siblings, tag.next_siblings):
        yield from (
            other for other in islice(siblings, _NEIGHBOURHOOD) if isinstance(other, Tag) and other.name not in BLOCKS
        )


def _never(_: Tag) -> bool:
    return False


def hidden_by_attributes(tag: Tag) -> bool:
    """Whether the element's own attributes hide it, no stylesheet asked."""
    attrs = tag.attrs
    if "hidden" in attrs or (tag.name == "dialog" and "open" not in attrs):
        return True
    if "style" in attrs and hides(str(attrs["style"])):
        return True
    return "class" in attrs and _SCREEN_READER.search(str(attrs["class"])) is not None


def hides(style: str) -> bool:
    """Whether an inline style hides its element.

    >>> hides("color: red; display:none"), hides("opacity: 0.5"), hides("height:0;overflow:hidden"), hides("width: 0")
    (True, False, True, False)
    """
    if _HIDING_STYLE.search(style):
        return True
    return _CLIPS.search(style) is not None and _ZERO_SIZE.search(style) is not None


def _holds_the_page(tag: Tag) -> bool:
    return tag.name in ("main", "body") or contains(tag, ("main", "article", "h1"))


def visible_children(details: Tag) -> list[Tag]:
    """What a closed `details` shows: its first `summary`."""
    return [child for child in details.contents if isinstance(child, Tag) and child.name == "summary"][:1]
