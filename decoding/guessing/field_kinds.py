"""Schema place -> the kind of field it is, and how a candidate of the page would be written there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from lookstruct.decoding.guessing.field_words import words
from lookstruct.decoding.guessing.json_text import dumps, number_forms, string
from lookstruct.decoding.guessing.page_values import time_forms
from lookstruct.decoding.guessing.schema_walk import Path, SchemaNode
from lookstruct.decoding.request import Candidate

FITS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "date": {"date": 1.0},
        "number": {"price": 1.0, "number": 0.7, "percent": 0.15},
        "integer": {"number": 1.0, "price": 0.3, "percent": 0.1},
        "email": {"email": 1.0},
        "url": {"url": 1.0},
        "phone": {"phone": 1.0},
        "duration": {"duration": 1.0},
        "time": {"time": 1.0},
        "code": {"code": 1.0, "cell": 0.7, "line": 0.1, "heading": 0.1, "phone": 0.1},
        "line": {"cell": 0.7, "line": 1.0, "heading": 0.4},
        "text": {"cell": 0.85, "line": 0.7, "heading": 0.75, "code": 0.2, "time": 0.1, "price": 0.05},
    }
)
"""For each kind of field, how well each kind of candidate fits it."""
_PRICED = {("price", True): 1.5, ("number", True): 0.4, ("price", False): 0.6, ("number", False): 1.2}
"""How a number's kind fits, by whether the field's name speaks of prices."""
_BY_FORMAT = {
    "date": "date",
    "date-time": "date",
    "time": "time",
    "email": "email",
    "uri": "url",
    "url": "url",
    "duration": "duration",
}
_BY_SOURCE = {"date": "date", "datetime": "date", "duration": "duration", "link": "url", "line": "line", "item": "line"}
_BY_NAME = {"email": "email", "phone": "phone", "fax": "phone", "time": "time", "link": "url", "image": "url"}
_CODES = frozenset({"number", "sku", "isbn", "ean", "gtin", "iban", "postal", "zip"})
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T|$)")
_FEW = 24  # members up to which an enum is a closed list of words rather than the page's own values


def field_name(path: Path) -> frozenset[str]:
    """The words of the innermost key of a path."""
    return words(next((step for step in reversed(path) if isinstance(step, str)), ""))


def field_kind(node: SchemaNode, name: frozenset[str]) -> str:
    """A key of `FITS` by type, format, source and name; "" for containers, booleans and closed lists.

    >>> field_kind(SchemaNode(types=frozenset({"string"}), sole="string", format="date"), words("issued"))
    'date'
    >>> field_kind(SchemaNode(types=frozenset({"string"}), sole="string"), words("customer_email"))
    'email'
    """
    if node.enum and len(node.enum) <= _FEW and node.source in ("", "computed"):
        return ""
    if node.sole == "integer":
        return "integer"
    if node.only("integer", "number"):
        return "number"
    if node.sole != "string" and not (node.enum and all(isinstance(value, str) for value in node.enum)):
        return ""
    told = _BY_FORMAT.get(node.format) or _BY_SOURCE.get(node.source)
    by_name = next((kind for word, kind in _BY_NAME.items() if word in name), None)
    return told or by_name or ("code" if name & _CODES else "text")


def fit(kind: str, candidate: Candidate, name: frozenset[str]) -> float:
    """How well a candidate's kind fits a field's, 0 where it does not at all."""
    found = FITS[kind].get(candidate.kind, 0.0)
    return found * _PRICED.get((candidate.kind, "price" in name), 1.0) if kind == "number" else found


def ways_to_write(candidate: Candidate, node: SchemaNode) -> tuple[bytes, ...]:
    """The ways the candidate may be written as a value of this type, likeliest first; () if it cannot be one."""
    if node.only("integer", "number"):
        forms = number_forms(candidate.text, integer=node.sole == "integer")
        return tuple(form.encode() for form in forms)
    if candidate.kind == "time":
        return tuple(string(form) for form in time_forms(candidate.text))
    if node.source == "link" and "://" not in candidate.text:
        return ()
    if node.format in ("date", "date-time") and not _DATE.match(candidate.text):
        return ()
    if node.format == "date":
        return (string(candidate.text[:10]),)
    if node.format == "date-time" and "T" not in candidate.text:
        return (string(candidate.text + "T00:00:00"),)
    return (string(candidate.text),)


def allowed(raws: tuple[bytes, ...], members: frozenset[bytes]) -> tuple[bytes, ...]:
    """Those of `raws` that a closed list has, a number also in the list's own notation."""
    if raws and raws[0][:1] != b'"':
        raws = (*raws, *(dumps(float(raw)) for raw in raws[:1]))
    return tuple(dict.fromkeys(raw for raw in raws if raw in members))
