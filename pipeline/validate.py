"""The model's text -> plain data and the user's own validated value, or an InvalidRecord that keeps the text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookstruct.schemas.errors import InvalidRecord
from lookstruct.schemas.nulls import prune_nulls

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema


@dataclass(frozen=True, slots=True)
class Validated:
    """`value` is what the schema's validation made of the text, `data` its plain JSON form."""

    data: Any
    value: Any


def validate(raw: str, schema: Schema, *, finish_reason: str = "") -> Validated:
    """Parses `raw`, removes nulls that the schema does not allow, and validates; InvalidRecord if any of it fails."""
    return check(parse(raw, finish_reason=finish_reason), raw, schema)


def parse(raw: str, *, finish_reason: str = "") -> Any:
    """The data that `raw` spells; InvalidRecord, with the reason, if it spells none."""
    try:
        return json.loads(raw)
    except ValueError as exc:
        raise InvalidRecord(_reason(exc, finish_reason), raw) from exc


def check(data: Any, raw: str, schema: Schema) -> Validated:
    """`data` without nulls that the schema does not allow, validated; an InvalidRecord carries `raw`."""
    data = prune_nulls(data, schema.json_schema)
    try:
        value = schema.validate(data)
    except InvalidRecord as exc:
        raise InvalidRecord(str(exc), raw) from exc
    return Validated(numbers_kept(prune_nulls(schema.dump(value), schema.json_schema), data), value)


def _reason(exc: ValueError, finish_reason: str) -> str:
    """Why the text is no JSON, and what to do."""
    if finish_reason == "cancelled":
        return "Decoding was cancelled before the record was complete."
    if finish_reason == "length":
        return "The record was cut off at the token limit; allow more with --max-new-tokens."
    return f"The model's text is no JSON ({exc}); a larger model or a simpler schema may do better."


def numbers_kept(dumped: Any, data: Any) -> Any:
    """`dumped` with numbers where the model wrote numbers: pydantic dumps a Decimal as text, which the schema forbids.

    >>> numbers_kept({"total": "12.50", "code": "7"}, {"total": 12.5, "code": "7"})
    {'total': 12.5, 'code': '7'}
    """
    if isinstance(dumped, dict) and isinstance(data, dict):
        return {key: numbers_kept(value, data.get(key)) for key, value in dumped.items()}
    if isinstance(dumped, list) and isinstance(data, list) and len(dumped) == len(data):
        return [numbers_kept(value, was) for value, was in zip(dumped, data, strict=True)]
    is_number = isinstance(data, int | float) and not isinstance(data, bool)
    return _number(dumped) if is_number and isinstance(dumped, str) else dumped


def _number(text: str) -> Any:
    """The number that `text` spells, or the text where it spells none."""
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text
