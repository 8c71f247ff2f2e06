"""Page -> the words and names that a list of keywords would be made of: those of its headings, and those it repeats."""

from __future__ import annotations

import re
from collections import Counter

from lookstruct.decoding.guessing.page_text import PageText

MOST = 12
_READ = 40_000  # characters that are counted; a page's subject shows early
_WORD = re.compile(r"[^\W\d_]{4,}")
_NAME = re.compile(r"[^\W\d_a-z][\w'’-]+(?: [^\W\d_a-z][\w'’-]+){1,2}")
_LONG = 6  # letters from which on a word that is often repeated is hardly a particle
_OFTEN = 3
_HEADED = 3.0  # what a word of a heading counts beyond its repeats


def topics(page: PageText) -> list[str]:
    """Up to `MOST` of them, the likeliest first; words in small letters, names as they stand.

    >>> topics(PageText("# A ferry to Pender Point\\nThe ferry leaves Pender Point at noon."))
    ['Pender Point', 'ferry', 'pender', 'point']
    """
    text = page.text[:_READ]
    headed = " ".join(page.atom_text(line.first) for line in page.lines if line.marker.startswith("#"))
    words, names = Counter(_WORD.findall(text.lower())), Counter(_NAME.findall(text))
    scores = {name: 2.0 * n + _HEADED * (name in headed) for name, n in names.items() if n > 1}
    for word in dict.fromkeys(_WORD.findall(headed.lower())):
        scores[word] = words[word] + _HEADED
    for word, n in words.items():
        if n >= _OFTEN and len(word) >= _LONG:
            scores.setdefault(word, float(n))
    return sorted(scores, key=lambda topic: -scores[topic])[:MOST]
