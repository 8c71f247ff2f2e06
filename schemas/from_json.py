"""A JSON Schema as the user's own type: is it one, and does a value fit it?"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError as NotASchema
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for

from lookstruct.schemas.errors import InvalidRecord, SchemaError
from lookstruct.schemas.flatten import pointer_step, shown


def check_json_schema(schema: Any) -> None:
    """SchemaError if `schema` breaks the rules of its own draft (2020-12 where it names none)."""
    if not isinstance(schema, dict):
        raise SchemaError(
            f"The JSON Schema is {type(schema).__name__}, not an object; expected {{'type': 'object', ...}}."
        )
    validator = validator_for(schema, Draft202012Validator)
    try:
        validator.check_schema(schema)
    except NotASchema as exc:
        at = "".join(f"/{pointer_step(str(step))}" for step in exc.absolute_path)
        raise SchemaError(f"The JSON Schema is invalid at {shown(at)}: {exc.message}.") from exc


def json_validator(schema: Any) -> Callable[[Any], Any]:
    """A check that returns the value itself; InvalidRecord lists where and why it does not fit."""
    kind = validator_for(schema, Draft202012Validator)
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER)

    def check(data: Any) -> Any:
        faults = sorted(validator.iter_errors(data), key=lambda e: list(map(str, e.absolute_path)))
        if not faults:
            return data
        listed = "; ".join(f"{_pointer(best_match([f]))}: {f.message}" for f in faults)
        raise InvalidRecord(f"The record does not fit the schema: {listed}.", json.dumps(data, ensure_ascii=False))

    return check


def _pointer(error: Any) -> str:
    return shown("".join(f"/{pointer_step(str(step))}" for step in error.absolute_path))
