"""Field names and page labels -> comparable words: `unitPrice`, `unit_price` and "Price per unit" share two.

>>> similarity(words("unit_price"), words("Unit price:")), similarity(words("telephone"), words("Tel."))
(1.0, 1.0)
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_EMPTY = frozenset({"the", "of", "a", "an", "in", "as", "or", "and", "is", "it", "for", "to", "by", "on", "at", "per"})
_SAME = {
    "qty": "quantity",
    "quantities": "quantity",
    "units": "quantity",
    "no": "number",
    "nr": "number",
    "num": "number",
    "id": "number",
    "ref": "number",
    "reference": "number",
    "code": "number",
    "tel": "phone",
    "telephone": "phone",
    "mobile": "phone",
    "mail": "email",
    "e": "email",
    "cost": "price",
    "rate": "price",
    "amount": "price",
    "desc": "description",
    "item": "description",
    "details": "description",
    "vat": "tax",
    "gst": "tax",
    "company": "organization",
    "employer": "organization",
    "organisation": "organization",
    "hiring": "organization",
    "vendor": "seller",
    "supplier": "seller",
    "issuer": "seller",
    "from": "seller",
    "buyer": "customer",
    "client": "customer",
    "recipient": "customer",
    "bill": "customer",
    "billed": "customer",
    "title": "name",
    "headline": "name",
    "heading": "name",
    "writer": "author",
    "authors": "author",
    "written": "author",
    "published": "publish",
    "publication": "publish",
    "posted": "publish",
    "issued": "issue",
    "begin": "start",
    "begins": "start",
    "starts": "start",
    "ends": "end",
    "until": "end",
    "place": "location",
    "venue": "location",
    "where": "location",
    "when": "date",
    "day": "date",
    "url": "link",
    "website": "link",
    "web": "link",
    "homepage": "link",
    "href": "link",
    "salary": "pay",
    "wage": "pay",
    "compensation": "pay",
    "serves": "yield",
    "servings": "yield",
    "makes": "yield",
    "cooking": "cook",
    "duration": "time",
    "manufacturer": "brand",
    "maker": "brand",
    "bedrooms": "bedroom",
    "beds": "bedroom",
    "bathrooms": "bathroom",
    "baths": "bathroom",
    "amenity": "feature",
    "amenities": "feature",
    "highlight": "feature",
    "specification": "feature",
    "method": "instruction",
    "step": "instruction",
    "direction": "instruction",
    "preparation": "instruction",
    "duty": "responsibility",
    "duties": "responsibility",
    "responsibilities": "responsibility",
    "requirement": "qualification",
    "skill": "qualification",
    "need": "qualification",
    "perk": "benefit",
    "offer": "benefit",
    "tag": "keyword",
    "topic": "keyword",
    "ean": "isbn",
    "stock": "availability",
    "available": "availability",
}


@lru_cache(maxsize=8192)
def words(text: str) -> frozenset[str]:
    """The meaning-bearing words of a name, label or description, lower case, common synonyms made one.

    >>> sorted(words("Qty. of items")), sorted(words("dueDate"))
    (['description', 'quantity'], ['date', 'due'])
    """
    found = (_plain(match.group().lower()) for match in _WORD.finditer(text))
    return frozenset(word for word in found if word not in _EMPTY)


def _plain(word: str) -> str:
    if word in _SAME:
        return _SAME[word]
    single = word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
    return _SAME.get(single, single)


_GENERIC = frozenset({"job", "product", "recipe", "event", "invoice", "order", "page", "item", "main"})
_GENERIC_WEIGHT = 0.3


def similarity(field: frozenset[str], label: frozenset[str], about: frozenset[str] = frozenset()) -> float:
    """How much a label reads like a field's name, 0 to 1; `about` are the words of the field's description.

    Words that name the record rather than the field count less.

    >>> round(similarity(words("due_date"), words("Due"), words("When it must be paid")), 2)
    0.67
    >>> similarity(words("job_location"), words("Job ID")) < 0.3, similarity(words("total"), words("Subtotal"))
    (True, 0.0)
    """
    if not field or not label:
        return 0.0
    both = field & label
    if not both:
        return 0.3 * len(about & label) / len(label) if about else 0.0
    shared, unsaid, extra = _weight(both), _weight(field - label), _weight(label - field - about)
    return shared / (shared + 0.5 * unsaid + 0.5 * extra)


def _weight(found: frozenset[str]) -> float:
    return sum(_GENERIC_WEIGHT if word in _GENERIC else 1.0 for word in found)
