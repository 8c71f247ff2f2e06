"""A JSON Schema as the user's own type: is it one, and does a value fit it?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for

from lookstruct.schemas.errors import InvalidRecord, SchemaError
from lookstruct.schemas.json_values import pointer_step, shown

_extend: Callable[..., type[Validator]] = extend  # untyped in jsonschema's stubs


_REGEX_ONLY = FormatChecker(formats=())


@_REGEX_ONLY.checks("regex", raises=re.error)
def _is_regex(pattern: object) -> bool:
    r"""Whether a pattern is one, Unicode classes included: Python cannot read \p{Lu}, the engine can."""
    return isinstance(pattern, str) and bool(re.compile(re.sub(r"\\[pP](\{[^}]*\}|.)", r"\\w", pattern)))


def check_json_schema(schema: Any) -> None:
    """SchemaError if `schema` breaks the rules of its own draft (2020-12 where it names none)."""
    if not isinstance(schema, dict):
        raise SchemaError(
            f"The JSON Schema is {type(schema).__name__}; expected an object with 'type' or 'properties'."
        )
    kind = validator_for(schema, Draft202012Validator)
    fault = best_match(kind(kind.META_SCHEMA, format_checker=_REGEX_ONLY).iter_errors(schema))
    if fault is not None:
        raise SchemaError(f"The JSON Schema is invalid at {_pointer(fault)}: {fault.message}.")


def make_validator(schema: Any) -> Validator:
    """A validator of the schema's own draft that counts decimals exactly.

    >>> make_validator({"multipleOf": 0.01}).is_valid(4.35)
    True
    """
    kind = _exact(validator_for(schema, Draft202012Validator))
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def json_check(schema: Any) -> Callable[[Any], Any]:
    """A check that returns the value itself; InvalidRecord lists where and why it does not fit."""
    validator = make_validator(schema)

    def check(data: Any) -> Any:
        faults = sorted(validator.iter_errors(data), key=_pointer)
        if not faults:
            return data
        listed = "; ".join(f"{_pointer(fault)}: {fault.message}" for fault in faults)
        raise InvalidRecord(f"The record does not fit the schema: {listed}.", json.dumps(data, ensure_ascii=False))

    return check


@cache
def _exact(kind: type[Validator]) -> type[Validator]:
    return _extend(kind, {"multipleOf": _multiple_of, "pattern": _pattern})


def _multiple_of(validator: Validator, step: float, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """In decimals: by floats 4.35 would be no multiple of 0.01."""
    if validator.is_type(value, "number") and Decimal(str(value)) % Decimal(str(step)) != 0:
        yield ValidationError(f"{value!r} is not a multiple of {step}")


def _pattern(validator: Validator, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    r"""As far as Python can read it: a pattern such as \p{Lu} is held by the grammar alone."""
    try:
        fits = not validator.is_type(value, "string") or re.search(pattern, value) is not None
    except re.error:
        fits = True
    if not fits:
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _pointer(error: ValidationError) -> str:
    return shown("".join(f"/{pointer_step(str(step))}" for step in error.absolute_path))
