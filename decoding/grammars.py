"""What a user says the text must look like (a type, a schema, a regular expression) -> `Grammar`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lookstruct.decoding.constraint import Grammar
from lookstruct.schemas.errors import SchemaError
from lookstruct.schemas.keywords import FORMATS, PYTHON_FORMATS
from lookstruct.schemas.loader import Schema, load_schema
from lookstruct.schemas.prepare import prepare

_ONE = ("items", "additionalItems", "additionalProperties", "contains")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_MAPS = ("properties", "patternProperties", "$defs", "definitions")
"""Keywords that hold one schema, a list of schemas, schemas by name."""


def as_grammar(spec: Any) -> Grammar | None:
    """None for None (anything may be written), a `Grammar` as it is, else what `spec` describes.

    `spec` is a regular expression compiled by `re` or whatever `load_schema` takes. SchemaError if it cannot be
    enforced.

    >>> as_grammar(re.compile("[0-9]+")).kind, as_grammar("name: str").kind
    ('regex', 'json')
    """
    if spec is None or isinstance(spec, Grammar):
        return spec
    return _from_pattern(spec) if isinstance(spec, re.Pattern) else json_grammar(spec)


def json_grammar(spec: Any) -> Grammar:
    """JSON that is valid in the user's own type as it stands.

    Extraction writes null for what a page lacks, even where the type wants it left out, and takes it back afterwards.
    Here nobody takes it back: such a property is written with a value of its own type.
    """
    schema = load_schema(spec)
    formats = FORMATS if isinstance(spec, Mapping | str | Path | Schema) else PYTHON_FORMATS
    return Grammar.json_schema(prepare(all_required(schema.json_schema), formats=formats).schema)


def all_required(schema: Any) -> Any:
    """The JSON Schema with every listed property required.

    >>> all_required({"properties": {"a": {"type": "string"}}})["required"]
    ['a']
    """
    if not isinstance(schema, Mapping):
        return schema
    made = dict(schema)
    for key in made.keys() & {*_ONE}:
        made[key] = all_required(made[key])
    for key in made.keys() & {*_LISTS}:
        if isinstance(made[key], list):
            made[key] = [all_required(sub) for sub in made[key]]
    for key in made.keys() & {*_MAPS}:
        made[key] = {name: all_required(sub) for name, sub in made[key].items()}
    if "properties" in made:
        possible = [name for name, sub in made["properties"].items() if sub is not False]
        made["required"] = list(dict.fromkeys((*possible, *made.get("required", ()))))
    return made


def _from_pattern(pattern: re.Pattern[Any]) -> Grammar:
    text = pattern.pattern
    if not isinstance(text, str) or pattern.flags & ~re.UNICODE:
        raise SchemaError(f"{pattern!r} has flags or is of bytes; compile a text pattern and write its flags into it.")
    return Grammar.regex(text)
