"""Fields in one line -> JSON Schema, for a schema that is not worth a file.

    title, price: float, tags: [str]
    name "the company, without its legal form", founded: date?, offices: [{city, phone?}]
    status: "open" | "closed" "whether one can still apply"

A field is a name, a type after a colon (text if there is none), `?` if the page may lack it (the value is then null),
and a description in quotes. Types are the words of `INLINE_TYPES`, `[T]` for a list, `{...}` for nested fields, or
quoted choices joined by `|`. Fields are separated by commas or line breaks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from lookstruct.schemas.errors import SchemaError

Node = dict[str, Any]

INLINE_TYPES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "str": {"type": "string"},
        "string": {"type": "string"},
        "text": {"type": "string"},
        "int": {"type": "integer"},
        "integer": {"type": "integer"},
        "float": {"type": "number"},
        "number": {"type": "number"},
        "bool": {"type": "boolean"},
        "boolean": {"type": "boolean"},
        "date": {"type": "string", "format": "date"},
        "datetime": {"type": "string", "format": "date-time"},
        "time": {"type": "string", "format": "time"},
        "duration": {"type": "string", "format": "duration"},
        "email": {"type": "string", "format": "email"},
        "url": {"type": "string", "format": "uri", "x-source": "link"},
        "verbatim": {"type": "string", "x-source": "span"},
        "line": {"type": "string", "x-source": "line"},
        "title": {"type": "string", "x-source": "title"},
        "item": {"type": "string", "x-source": "item"},
        "organization": {"type": "string", "x-source": "organization"},
        "byline": {"type": "string", "x-source": "byline"},
        "address": {"type": "string", "x-source": "address"},
        "list": {"type": "array", "items": {"type": "string"}},
    }
)
"""What the words mean; `verbatim` is text that stands on the page as it is, `line` a whole line of it."""

_TOKEN = re.compile(r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<name>[^\W\d][\w-]*)|(?P<mark>[\[\]{},:?|]))')
_BREAK = re.compile(r"[ \t]*\r?\n\s*")


def parse_inline(text: str) -> Node:
    """The JSON Schema of an inline text; SchemaError says at which column it stops making sense.

    >>> parse_inline("title, price: float?")["properties"]
    {'title': {'type': 'string'}, 'price': {'anyOf': [{'type': 'number'}, {'type': 'null'}]}}
    >>> parse_inline('tags: [str] "topics"')["properties"]
    {'tags': {'type': 'array', 'items': {'type': 'string'}, 'description': 'topics'}}
    """
    reader = _Reader(text)
    node = reader.fields(end=None)
    return {"title": "Record", **node}


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def fields(self, end: str | None) -> Node:
        """Fields up to the mark `end`, or to the end of the text."""
        properties: dict[str, Node] = {}
        self._skip_separators()
        while not self._closes(end):
            name = self._take("name", "a field name")
            if name in properties:
                raise self._error(f"the field '{name}' comes twice")
            properties[name] = self._field()
            if not self._skip_separators() and not self._closes(end):
                raise self._error("expected a comma")
        if not properties:
            raise self._error("expected a field name")
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def _field(self) -> Node:
        optional = self._skip("?")
        node = self._type() if self._skip(":") else {"type": "string"}
        optional = self._skip("?") or optional
        if optional:
            node = {"anyOf": [node, {"type": "null"}]}
        if self._peek("string") is not None:
            node = {**node, "description": self._string("a description")}
        return node

    def _type(self) -> Node:
        if self._skip("["):
            node = {"type": "array", "items": self._type()}
            self._expect("]")
            return node
        if self._skip("{"):
            node = self.fields(end="}")
            self._expect("}")
            return node
        if self._peek("string") is not None:
            return self._choices()
        return self._word()

    def _word(self) -> Node:
        word = self._take("name", "a type")
        found = INLINE_TYPES.get(word.lower())
        if found is None:
            near = get_close_matches(word.lower(), INLINE_TYPES, 1)
            hint = f"did you mean {near[0]}" if near else f"the types are {', '.join(INLINE_TYPES)}"
            raise self._error(f"'{word}' is not a type; {hint}")
        return dict(found)

    def _choices(self) -> Node:
        members = [self._string("a choice")]
        while self._skip("|"):
            members.append(self._string("a choice"))
        return {"enum": members}

    def _string(self, what: str) -> str:
        """A string with JSON's escapes; it may run over lines."""
        written = self._take("string", what)
        try:
            return str(json.loads(written, strict=False))
        except ValueError:
            raise self._error(f"{written} has a backslash that escapes nothing; write two for one") from None

    def _peek(self, kind: str) -> str | None:
        found = _TOKEN.match(self._text, self._at)
        return found.group(kind) if found else None

    def _take(self, kind: str, what: str) -> str:
        found = _TOKEN.match(self._text, self._at)
        if found is None or found.group(kind) is None:
            raise self._error(f"expected {what}")
        self._at = found.end()
        return found.group(kind)

    def _skip(self, mark: str) -> bool:
        found = _TOKEN.match(self._text, self._at)
        if found is None or found.group("mark") != mark:
            return False
        self._at = found.end()
        return True

    def _expect(self, mark: str) -> None:
        if not self._skip(mark):
            raise self._error(f"expected '{mark}'")

    def _skip_separators(self) -> bool:
        """Whether there was a comma or a line break between fields; several count as one."""
        start = self._at
        while True:
            found = _BREAK.match(self._text, self._at)
            if found:
                self._at = found.end()
            elif not self._skip(","):
                return self._at > start

    def _closes(self, end: str | None) -> bool:
        rest = self._text[self._at :].lstrip()
        return rest == "" if end is None else rest.startswith(end)

    def _error(self, what: str) -> SchemaError:
        at = self._at + len(self._text[self._at :]) - len(self._text[self._at :].lstrip())
        return SchemaError(
            f"The inline schema stops making sense at column {at + 1}: {what} (in {self._text!r});"
            " write fields as in 'title, price: float, tags: [str]'."
        )
