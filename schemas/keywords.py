"""What the grammar engine can hold the model to: JSON Schema keyword or format -> `Support`.

The tables state what llguidance 1.9 was seen to do, not what it says of itself; a test compiles every row and looks
at what the masks let through. This package never imports the engine: a schema is judged by these tables alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Support(Enum):
    """What happens to a keyword on the way to the grammar."""

    ENFORCED = "enforced"  # handed to the engine, which excludes every text that breaks it
    REWRITTEN = "rewritten"  # the engine refuses it or is too lax: stated in other keywords, or refused where it cannot
    ANNOTATION = "annotation"  # says nothing about the text: left out
    REFUSED = "refused"  # cannot be enforced: an error, or with lenient a note and a check after decoding


_E, _R, _A, _X = Support.ENFORCED, Support.REWRITTEN, Support.ANNOTATION, Support.REFUSED

_ANNOTATIONS = (
    *("$schema", "$id", "id", "$anchor", "$comment", "$defs", "$vocabulary", "definitions"),
    *("title", "description", "default", "examples", "example", "readOnly", "writeOnly", "deprecated"),
    *("contentMediaType", "contentEncoding", "contentSchema", "discriminator", "xml", "externalDocs", "nullable"),
)

KEYWORDS: Mapping[str, Support] = MappingProxyType(
    {
        # any value
        "type": _E,
        "enum": _E,
        "const": _R,  # an enum of one
        "anyOf": _E,
        "allOf": _R,  # merged: closed objects would exclude each other's properties
        "oneOf": _R,  # an anyOf where the branches exclude each other; the engine sees that only without $ref
        "$ref": _R,  # into one flat $defs
        "not": _X,
        "if": _X,
        "then": _X,
        "else": _X,
        # strings
        "minLength": _E,
        "maxLength": _E,
        "pattern": _E,  # but no look-around, back-reference or word boundary: see `unsupported_pattern`
        "format": _R,  # see FORMATS
        # numbers
        "minimum": _E,
        "maximum": _E,
        "exclusiveMinimum": _E,
        "exclusiveMaximum": _E,
        "multipleOf": _E,
        # arrays
        "items": _E,
        "prefixItems": _E,
        "additionalItems": _R,
        "minItems": _E,
        "maxItems": _E,
        "uniqueItems": _X,
        "contains": _X,
        "minContains": _X,
        "maxContains": _X,
        "unevaluatedItems": _X,
        # objects
        "properties": _E,
        "required": _E,
        "additionalProperties": _E,
        "patternProperties": _E,
        "propertyNames": _R,  # into patternProperties
        "minProperties": _R,  # the engine lets a key come twice, so above 1 it proves nothing
        "maxProperties": _R,
        "dependentRequired": _X,
        "dependentSchemas": _X,
        "dependencies": _X,
        "unevaluatedProperties": _R,  # false holds anyway: merged objects are closed
        # references that are resolved at run time
        "$dynamicRef": _X,
        "$dynamicAnchor": _X,
        "$recursiveRef": _X,
        "$recursiveAnchor": _X,
        # words about the schema
        **dict.fromkeys(_ANNOTATIONS, _A),
    }
)
"""Keyword -> support. Keywords that begin with "x-" are annotations too; others that are not listed are unknown."""

SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "span": "text that stands on the page",
        "line": "a whole line or cell of the page",
        "title": "what the page calls itself: the heading that its title repeats",
        "item": "a line of a list of the page; a list of them takes in the page's lists whole",
        "address": "a postal address that stands on the page, all its lines in one",
        "organization": "the name of a company that stands on the page, without its registration number",
        "byline": "a name from the line that says who wrote the page",
        "link": "the address of a link of the page",
        "date": "a date that stands on the page, in any notation",
        "datetime": "a date with a time of day that stands on the page",
        "number": "a number that stands on the page, in any notation",
        "duration": "a length of time that stands on the page",
        "currency": "the ISO 4217 code of a currency whose sign, code or name stands on the page",
        "computed": "counted, summed or chosen: not held to the page",
    }
)
"""Values of our keyword `x-source`: where on the page a value must come from."""

_YEAR = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][48]|[2468]0|[13579][26])00)"
_DATE = (
    "(?:"
    f"{_YEAR}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    f"|{_YEAR}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|{_YEAR}-02-(?:0[1-9]|1[0-9]|2[0-8])"
    f"|{_LEAP_YEAR}-02-29"
    ")"
)
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:[.][0-9]{1,6})?"
_ZONE = "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_LOOSE_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?"


@dataclass(frozen=True, slots=True)
class Format:
    """How a `format` reaches the engine: by its own name, by a pattern, by both (both hold), or as any string.

    `max_chars` bounds the text where neither does.
    """

    engine: str | None = None
    pattern: str | None = None
    max_chars: int | None = None

    @property
    def ends(self) -> bool:
        """Whether every text of this format is short by itself."""
        return self.max_chars is None and (self.engine is not None or self.pattern is not None)


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "date": Format("date", f"^{_DATE}$"),  # the engine alone allows 29 February in every year
        "date-time": Format("date-time", f"^{_DATE}T{_CLOCK}{_ZONE}$"),  # ... and second 60
        "time": Format("time", f"^{_CLOCK}{_ZONE}$"),
        "duration": Format("duration", max_chars=32),
        "email": Format("email", max_chars=254),
        "idn-email": Format(None, r"^[^\s@]+@[^\s@]+$", 254),
        "hostname": Format("hostname", max_chars=253),
        "ipv4": Format("ipv4"),
        "ipv6": Format("ipv6"),
        "uuid": Format("uuid"),
        **{f"uuid{n}": Format("uuid", f"^.{{14}}{n}.{{4}}[89abAB]") for n in range(1, 9)},
        "uri": Format("uri", max_chars=2083),
        "iri": Format(None, r"^[A-Za-z][A-Za-z0-9+.\-]*:[^\s<>\x22{}|\\^`]*$", 2083),
        "uri-reference": Format(None, r"^[!#-;=?-\[\]_a-z~%]*$", 2083),
        "iri-reference": Format(None, r"^[^\s<>\x22{}|\\^`]*$", 2083),
        "json-pointer": Format(None, "^(?:/(?:[^/~]|~[01])*)*$", 2083),
        # pydantic's words for types that take any string
        "password": Format(),
        "path": Format(),
        "file-path": Format(),
        "directory-path": Format(),
        "binary": Format(),
        "textarea": Format(),
    }
)
"""Format -> how it is enforced; a format that is not listed is refused."""

PYTHON_FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        **FORMATS,
        # What datetime and time parse: pages rarely state a zone or seconds, and a forced one is an invented one.
        "date-time": Format(None, f"^{_DATE}T{_LOOSE_CLOCK}{_ZONE}?$"),
        "time": Format(None, f"^{_LOOSE_CLOCK}{_ZONE}?$"),
    }
)
"""The same for schemas made from Python types, whose validators are laxer than the JSON Schema formats."""

_UNSUPPORTED_PATTERN = re.compile(r"\\(?:[1-9bBkZ])|\(\?(?:<?[=!]|>|P=|\()")
_ESCAPED_BACKSLASH = re.compile(r"\\\\")
_CHARACTER_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")


def unsupported_pattern(pattern: str) -> str | None:
    r"""The part of a regular expression that no finite automaton of the engine can follow, None if there is none.

    >>> unsupported_pattern(r"^(?!x)[\b]+$"), unsupported_pattern(r"\bword"), unsupported_pattern(r"^\\b$")
    ('(?!', '\\b', None)
    """
    plain = _CHARACTER_CLASS.sub("", _ESCAPED_BACKSLASH.sub("", pattern))
    found = _UNSUPPORTED_PATTERN.search(plain)
    return found.group() if found else None
