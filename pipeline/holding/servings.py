"""Text -> for how many it is, as the page says it (`servings`): `Serves 4`, `6 portions`, `voor 2 personen`.

A small model asked for a yield takes any figure: a rating, calories, minutes. Where a short line says it in words, in
the page's language, these are the choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lookstruct.decoding.guessing.field_words import words

_ASKED = frozenset(("yield", "yields", "serving", "servings", "serves", "portion", "portions"))
_MOST_CHARS = 60
"""Code points of a line that states it."""
_UNITS = (
    *(
        "servings?",
        "serves?",
        "portions?",
        "portion(?:en|er|s)?",
        "port",
        "persons?",
        "people",
        "personen",
        "personer",
        "personnes?",
    ),
    *("pers", "makes", "yields?", "personas?", "pessoas?", "persone", "persona", "porci[oó]n(?:es)?"),
    *(
        "porç(?:ão|ões)",
        "porzion[ei]",
        "raciones",
        "comensales",
        "convives",
        "couverts",
        "annosta",
        "henkilölle",
        "porce",
    ),
    *(
        "porcí",
        "porcie",
        "porcji",
        "porcje",
        "porcija",
        "porcij[ae]",
        "osob[yě]?",
        "osób",
        "osoby",
        "adag",
        "főre",
        "fő",
    ),
    *(
        "kişilik",
        "porsiyon",
        "порци[яийю]",
        "персон[ыа]?",
        "порції?",
        "порцій",
        "stücke?",
        "stuks",
        "pieces",
        "pièces",
        "μερίδες",
        "άτομα",
        "personnes?",
    ),
)
_UNIT = rf"(?<!\w)(?:{'|'.join(_UNITS)})(?!\w)|人分|人份|인분"
_COUNT = r"\d{1,3}(?:\s?(?:[-–—]|to|or|à|a|ou|bis|oder|tot|of|till|до)\s?\d{1,3})?(?![\d.,:/]|\s?%)"
_AFTER = re.compile(rf"(?<![\d.,:/])(?<![\d.,:/] ){_COUNT}[\s-]{{0,2}}(?:{_UNIT})", re.IGNORECASE)
_BEFORE = re.compile(
    rf"(?:(?:makes|yields?)\W{{0,3}}{_COUNT}(?: [^\W\d_]+){{0,2}}(?: \([^()]{{1,30}}\))?"
    rf"|(?:{_UNIT})\W{{0,3}}(?:for|für|pour|per|para|voor|til)?\s?{_COUNT})",
    re.IGNORECASE,
)


def asks_servings(key: str) -> bool:
    """Whether a field is for how many something is.

    >>> asks_servings("recipe_yield"), asks_servings("servings"), asks_servings("served_on")
    (True, True, False)
    """
    return bool(words(key) & _ASKED)


def servings(lines: Iterable[str]) -> tuple[str, ...]:
    """What the short ones among `lines` say, each once.

    >>> servings(["Serves 4 | Easy", "voor 2 personen", "Portions: 6-8", "4 / 5", "材料（2人分）"])
    ('Serves 4', '2 personen', 'Portions: 6-8', '2人分')
    """
    short = (line for line in lines if len(line) <= _MOST_CHARS)
    return tuple(dict.fromkeys(found for line in short for found in _stated(line)))


def _stated(line: str) -> Iterator[str]:
    found = next(_AFTER.finditer(line), None) or next(_BEFORE.finditer(line), None)
    if found is not None:
        yield found[0]
