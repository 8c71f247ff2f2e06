"""A field's key + a heading or label of the page -> whether it names what the field holds, in the page's language.

What every language calls an ingredient is no business of a model's: the list under `Zutaten` is `recipe_ingredient`,
the time beside `Cuisson` is `cook_time`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from lookstruct.decoding.guessing.field_words import words

MOST_CHARS = 40
"""Code points of a heading that names a section; longer ones say something else."""
_MOST_WORDS = 6
"""Words of a line that is no heading and opens a section all the same."""
_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "ingredient": (
        *("ingredi", "zutat", "benodigd", "dit heb je nodig", "skladnik", "malzeme", "ainekset", "hozzaval"),
        *("surovin", "sestavin", "sastojci", "potrebujeme", "what you need", "you will need", "you'll need"),
        *("koostisosad", "sastavdalas", "innihald", "radavidd", "du behover", "du trenger", "du skal bruge"),
        *("bahan", "nguyen lieu", "ингредиент", "інгредієнт", "продукты", "продукти", "съставки", "састојци"),
        *(
            "υλικα",
            "材料",
            "食材",
            "配料",
            "用料",
            "재료",
            "ส่วนผสม",
            "מצרכים",
            "רכיבים",
            "المقادير",
            "المكونات",
            "مواد لازم",
        ),
    ),
    "instruction": (
        *("instruc", "instruk", "istruzion", "instrukt", "how to make", "what to do", "procedure", "preparation"),
        *("zubereit", "anleitung", "so geht's", "so wird", "bereiding", "werkwijze", "aan de slag", "zo maak je"),
        *("preparac", "preparaz", "preparo", "elaborac", "procedim", "modo de", "mod de preparare", "etape"),
        *("la recette", "descriptif", "deroulement", "tillag", "gor sa", "sa gor du", "fremgang", "framgang"),
        *("slik gjor", "sadan gor", "valmist", "nain teet", "tyoohje", "wykonan", "przygotow", "postup", "priprav"),
        *("priprem", "elkeszit", "yapilis", "hazirlan", "pagatavosan", "gaminim", "adferd", "cara membuat", "cach lam"),
        *("приготовлен", "приготуван", "приготвян", "метод", "припрема", "εκτελεση", "παρασκευη", "οδηγιες"),
        *(
            "作り方",
            "手順",
            "做法",
            "步骤",
            "步驟",
            "만드는",
            "조리",
            "วิธีทำ",
            "הכנה",
            "אופן ההכנה",
            "طريقة",
            "طرز تهیه",
        ),
    ),
    "responsibility": (
        *("what you will do", "what you'll do", "you will be doing", "your role", "your task", "duties"),
        *("aufgaben", "deine rolle", "ihre rolle", "missions", "responsab", "funciones", "mansioni"),
    ),
    "qualification": (
        *("what we are looking for", "what we're looking for", "we look for", "what you bring", "what you'll bring"),
        *("who you are", "about you", "requirement", "skills", "qualifi", "anforderung", "dein profil", "ihr profil"),
        *("profil recherche", "requisit", "eisen"),
    ),
    "benefit": ("benefi", "wir bieten", "vorteil", "avantage", "nous offrons", "ofrecemos", "offriamo", "wij bieden"),
    "amenity": ("amenit", "features", "ausstattung", "equipement", "equipamiento", "dotazioni", "voorzieningen"),
    "feature": ("feature", "merkmal", "eigenschaft", "caracterist", "caratterist", "kenmerk", "highlight"),
}
"""What a field is called -> how the headings of other languages begin, small letters without accents."""
_TIMES: Mapping[str, tuple[str, ...]] = {
    "prep": (
        "prep",
        "vorbereit",
        "voorbereid",
        "forbered",
        "przygotow",
        "arbeitszeit",
        "подготов",
        "elokeszit",
        "pripr",
    ),
    "cook": (
        "cook",
        "bake",
        "kochzeit",
        "backzeit",
        "garzeit",
        "cuisson",
        "coccion",
        "cozimento",
        "cottura",
        "kooktijd",
    ),
    "total": ("total", "gesamt", "insgesamt", "totaal", "в целом", "razem"),
}
"""The same for the labels of lengths of time."""
_PATTERNS = {name: re.compile(rf"(?<!\w)(?:{'|'.join(stems)})") for name, stems in {**_SECTIONS, **_TIMES}.items()}
_GENERIC = frozenset(("time", "recipe", "job", "product", "page", "event", "list", "section", "all", "description"))
_VALUE = re.compile(r"[:：]\s*\S|[^\W\d]\d|\d\s*(?:m|h|s|min|std|hrs?|hours?|minut\w*|stunden?|uur)\b")
"""What shows that a line is a label with its value."""
_TIME = re.compile(r"(?<!\w)(?:time|temps|tiempo|tempo|czas|tid|doba)(?!\w)|zeit(?!\w)|tijd(?!\w)")


def names_field(key: str, label: str) -> bool:
    """Whether `label` says that below or beside it stands what `key` asks for.

    >>> [names_field("recipe_ingredient", text) for text in ("Ingredients", "Zutaten für 4 Personen", "Tips")]
    [True, True, False]
    >>> names_field("recipeInstructions", "Method"), names_field("instructions", "Preparation time")
    (True, False)
    >>> [names_field("cook_time", text) for text in ("Kochzeit", "Garlic", "Back to top")]
    [True, False, False]
    """
    return bool(_asked(key) & _named(label, key))


def is_named(key: str, names: Iterable[str]) -> bool:
    """Whether the nearest of some names that means anything says what `key` asks for.

    >>> is_named("ingredients", ("Pesto", "Ingredients")), is_named("ingredients", ("Method", "Ingredients"))
    (True, False)
    """
    for name in names:
        found = _named(name, key)
        if found & (_asked(key) | _SECTIONS.keys()):
            return bool(found & _asked(key))
    return False


def asks_for(key: str, section: str) -> bool:
    """Whether a field asks for what `section` names, one of `ingredient`, `instruction` and their like.

    >>> asks_for("recipe_ingredient", "ingredient"), asks_for("steps", "ingredient")
    (True, False)
    """
    return section in _asked(key)


def opens_section(line: str) -> bool:
    """Whether a line says nothing but what comes after it, heading or not.

    >>> [opens_section(text) for text in ("Ingredients:", "Zutaten für 4 Personen", "Step by step")]
    [True, True, True]
    >>> [opens_section(text) for text in ("Mix all ingredients", "Preparation: 25", "Préparation25 min")]
    [False, False, False]
    """
    first, *more = line.split() or [""]
    is_short = len(more) < _MOST_WORDS and not _VALUE.search(line)
    return is_short and bool(_named(first, "") & _SECTIONS.keys()) and bool(_named(line, "") & _SECTIONS.keys())


def is_other_section(heading: str, part: str) -> bool:
    """Whether a smaller heading names something that the larger one above it does not.

    >>> is_other_section("Ingredients", "Method"), is_other_section("Ingredients", "For the crust")
    (True, False)
    """
    named = _named(part, "") & _SECTIONS.keys()
    return bool(named) and not named & _named(heading, "")


def _asked(key: str) -> frozenset[str]:
    return words(key) - _GENERIC


def _named(label: str, key: str) -> frozenset[str]:
    """What a label may name: "5 ingredients" counts, and a length of time is named only where `key` asks for one."""
    if len(label) > MOST_CHARS or label[:1].isdigit():
        return frozenset()
    named, is_time = _meanings(label)
    return frozenset() if is_time and "time" not in words(key) else named


@lru_cache(maxsize=4096)
def _meanings(label: str) -> tuple[frozenset[str], bool]:
    """What a short label may name, and whether that is a length of time; a page asks it of each many times."""
    plain = _folded(label)
    stems = (name for name, pattern in _PATTERNS.items() if pattern.search(plain))
    return words(label).union(stems), _TIME.search(plain) is not None


def _folded(text: str) -> str:
    """Small letters without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in apart if not unicodedata.combining(one)).replace("ł", "l").replace("ø", "o")
