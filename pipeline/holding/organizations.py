"""Document -> the names of companies that a page may show (`organizations`), as a closed list.

A small model that copies a shop's name takes its registration number along (`AEON CO. (M) BHD (126926-H)`), or begins
in the middle of it (`SDN BHD`). Here the choice is among whole lines without such numbers, what stands behind a label,
parts between commas, and, in a sentence, words that all begin with a capital letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

_MOST_CHARS = 80
"""Code points of a line that is a name; longer ones are sentences, in which names are looked for."""
_WORD_OF_NUMBER = r"(?:co|company|comp|reg|regd|roc|registration|business|number|no|id)[\s.:#]*"
_REGISTRATION = re.compile(
    rf"\s*[(\[]?\s*(?:{_WORD_OF_NUMBER})*[A-Z]{{0,3}}\d{{4,}}[\w/ -]{{0,12}}[)\]]?\W*$", re.IGNORECASE
)
_FORM = (
    r"(?:S/B|SDN\.? ?BHD|BHD|LTD|LIMITED|LLC|INC|CORP|PLC|GMBH|AG|KG|UG|S\.?A\.?S?|S\.?R\.?L|B\.?V|N\.?V|A/?S|AB|OY"
    r"|S\.?P\.?A|SP\. Z O\. ?O|PTE|PTY|CO)\.?"
)
_ENDS_WITH_FORM = re.compile(rf"(?:^|.*[\s)]){_FORM}\W*$", re.IGNORECASE)
_OF_FORMS = frozenset(
    (
        *("s", "b", "sdn", "bhd", "ltd", "limited", "llc", "inc", "corp", "plc", "gmbh", "ag", "kg"),
        *("ug", "a", "as", "sa", "sas", "srl", "r", "l", "bv", "nv", "v", "n", "ab"),
        *("oy", "spa", "p", "sp", "z", "o", "oo", "pte", "pty", "co", "m"),
    )
)
"""The words of legal forms, and the country in brackets between them."""
_LABEL = re.compile(r"[^:：\d]{2,24}[:：]\s*(?=\S)")
_PARTS = re.compile(r",\s+|\s[|·•–—]\s|\s-\s")
_CAPITALS = re.compile(r"[^\W\d_a-z][\w'’&.-]*(?:\s(?:&|and|of|de|und|et|[^\W\d_a-z][\w'’&.-]*))*")
_LETTERS = re.compile(r"[^\W\d_]")
_WORDS = re.compile(r"[^\W\d_]+")


def organizations(lines: Iterable[str]) -> tuple[str, ...]:
    """What may be the name of a company, in page order, each once.

    >>> organizations(["Welcome", "AEON CO. (M) BHD (126926-H)", "Tel: 03 92 81", "Issued by: Harrow Ltd"])
    ('Welcome AEON CO. (M) BHD', 'Welcome', 'AEON CO. (M) BHD', 'Tel: 03 92 81', 'Issued by: Harrow Ltd', 'Harrow Ltd')
    >>> organizations(["PASARAYA BORONG PINTAR", "SDN BHD"])
    ('PASARAYA BORONG PINTAR SDN BHD',)
    >>> organizations(["Thank you for shopping at Acme Stores, we hope to see you again at Acme Stores soon, we do."])
    ('Thank', 'Acme Stores')
    """
    named = [_trimmed(line) for line in lines]
    found = (name for above, below in pairwise([*named, ""]) for name in _names_of(above, below))
    return tuple(dict.fromkeys(name for name in found if not _is_only_form(name)))


def _is_only_form(text: str) -> bool:
    """Whether a text has no word that is more than a part of a legal form."""
    return all(word in _OF_FORMS for word in _WORDS.findall(text.casefold()))


def _trimmed(line: str) -> str:
    """A line that may be a name without the number at its end under which a company is registered."""
    if len(line) > _MOST_CHARS:
        return line.strip()
    short = _REGISTRATION.sub("", line).strip(" ,;:-")
    return short if _LETTERS.search(short) else line.strip()


def _names_of(line: str, below: str) -> Iterator[str]:
    """The names in a line; one whose legal form is in the next line has both, or may have both."""
    is_short = 0 < len(below) < _MOST_CHARS - len(line) and not _LABEL.match(below)
    goes_on = is_short and bool(_ENDS_WITH_FORM.match(below)) and not _ENDS_WITH_FORM.match(line)
    if goes_on:
        yield f"{line} {below}"
    if not (goes_on and _is_only_form(below)):
        yield from _names(line)


def _names(line: str) -> Iterator[str]:
    if len(line) > _MOST_CHARS:
        yield from _CAPITALS.findall(line)
        return
    yield line
    label = _LABEL.match(line)
    if label:
        yield _trimmed(line[label.end() :])
    parts = _PARTS.split(line)
    if len(parts) > 1:
        yield from map(_trimmed, parts)
