"""One alternative of a schema (`Flat`) -> the grammar's node for a string, a number or an enum.

A small model can repeat itself without end, so strings and numbers are bounded where the user has set no bound:
`MAX_CHARS` a string, `MAX_INTEGER` an integer, `MAX_NUMBER` with `DECIMALS` digits after the point a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Decimal
from math import inf, isfinite
from typing import Any

from lookstruct.schemas.flat import Flat, ImpossibleSchema
from lookstruct.schemas.from_json import make_validator
from lookstruct.schemas.json_values import json_type, meet_types, shown
from lookstruct.schemas.keywords import Format

MAX_CHARS = 2000
MAX_INTEGER = 9_000_000_000_000_000_000
MAX_NUMBER = 1_000_000_000_000_000
DECIMALS = 9


Node = dict[str, Any]
Refuse = Callable[[str, str, str], None]
"""Called with a keyword that cannot be enforced, where it stands, and why; returns if that is to be let pass."""

_PAIRS = (
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minimum", "maximum"),
)


def string_node(flat: Flat, formats: Mapping[str, Format], refuse: Refuse, at: str) -> Node:
    """A string, bounded in length unless its format ends by itself or the user gave a pattern.

    A bound beside a pattern would cost a millisecond a mask and more (measured), so a pattern has to end by itself:
    `^[A-Z]{1,20}$` rather than `^[A-Z]+$`. `x-format` is the format's name where the engine does not know it and the
    pattern stands for it.
    """
    limits = pick(flat.limits, "minLength", "maxLength")
    patterns, bound = list(flat.patterns), MAX_CHARS
    ends = bool(patterns)
    node: Node = {"type": "string"}
    form = _format(flat, formats, refuse, at)
    if form is not None:
        node["format" if form.engine else "x-format"] = form.engine or flat.formats[0]
        patterns += [form.pattern] if form.pattern else []
        bound = min(bound, form.max_chars or bound)
        ends = ends or form.ends
    if "maxLength" not in limits and not ends:
        limits["maxLength"] = max(bound, limits.get("minLength", 0))
    return {**node, **_repeatable("pattern", patterns), **limits}


def _format(flat: Flat, formats: Mapping[str, Format], refuse: Refuse, at: str) -> Format | None:
    for name in flat.formats[1:]:
        refuse("format", at, f"'{name}' meets '{flat.formats[0]}' there")
    known = formats.get(flat.formats[0]) if flat.formats else None
    if flat.formats and known is None:
        refuse("format", at, f"the engine does not know '{flat.formats[0]}'")
    return known


def number_node(flat: Flat, kind: str, at: str) -> Node:
    """A number with a bounded number of digits; exponents are excluded by the bounds, as no page writes them."""
    _check_range(flat, kind, at)
    limits = pick(flat.limits, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    bound = MAX_INTEGER if kind == "integer" else MAX_NUMBER
    low = max(limits.get("minimum", -bound), limits.get("exclusiveMinimum", -bound))
    high = min(limits.get("maximum", bound), limits.get("exclusiveMaximum", bound))
    if "minimum" not in limits and "exclusiveMinimum" not in limits and high > -bound:
        limits["minimum"] = -bound
    if "maximum" not in limits and "exclusiveMaximum" not in limits and low < bound:
        limits["maximum"] = bound
    multiples = list(flat.multiples)
    if kind == "number" and not multiples and high - low > 10**-6:
        multiples = [10**-DECIMALS]
    return {"type": kind, **limits, **_repeatable("multipleOf", multiples)}


def enum_node(flat: Flat, at: str) -> Node:
    """The members that keep the conditions beside the enum."""
    beside = {
        **flat.limits,
        **_repeatable("pattern", list(flat.patterns)),
        **_repeatable("multipleOf", list(flat.multiples)),
    }
    fits = make_validator(beside).is_valid
    kinds = flat.kinds()
    members = [v for v in flat.enum or () if meet_types(frozenset({json_type(v)}), kinds) and fits(v)]
    if not members:
        raise ImpossibleSchema(f"No member of the enum at {shown(at)} fits the other keywords beside it.")
    return {"enum": members, **({"x-source": flat.source} if flat.source else {})}


def pick(limits: Mapping[str, Any], *keys: str) -> Node:
    """Those of the limits that are set."""
    return {key: limits[key] for key in keys if key in limits}


def check_limits(limits: Mapping[str, Any], at: str) -> None:
    """ImpossibleSchema where a lower limit lies above its upper one."""
    for low, high in _PAIRS:
        if low in limits and high in limits and limits[low] > limits[high]:
            raise ImpossibleSchema(f"{low} {limits[low]} is above {high} {limits[high]} at {shown(at)}.")


def _check_range(flat: Flat, kind: str, at: str) -> None:
    """ImpossibleSchema where no number of the kind lies between the limits."""
    bottom = max(flat.limits.get("minimum", -inf), flat.limits.get("exclusiveMinimum", -inf))
    top = min(flat.limits.get("maximum", inf), flat.limits.get("exclusiveMaximum", inf))
    steps = [Decimal(str(step)) for step in flat.multiples] + ([Decimal(1)] if kind == "integer" else [])
    open_end = bottom == flat.limits.get("exclusiveMinimum") or top == flat.limits.get("exclusiveMaximum")
    empty = bottom > top or (bottom == top and open_end)
    if isfinite(bottom) and isfinite(top) and not empty:
        empty = any(_misses(step, flat.limits, bottom, top) for step in steps)
    if empty:
        raise ImpossibleSchema(f"No {kind} lies between the limits {bottom} and {top} at {shown(at)}.")


def _misses(step: Decimal, limits: Mapping[str, Any], bottom: float, top: float) -> bool:
    """Whether no multiple of `step` lies between the limits."""
    low, high = Decimal(str(bottom)), Decimal(str(top))
    first = (low / step).to_integral_value(ROUND_CEILING) * step
    if first == low and bottom == limits.get("exclusiveMinimum"):
        first += step
    return first > high or (first == high and top == limits.get("exclusiveMaximum"))


def _repeatable(key: str, values: list[Any]) -> Node:
    """One keyword that must hold for several values: the engine intersects what stands in allOf."""
    if not values:
        return {}
    rest = [{key: value} for value in values[1:]]
    return {key: values[0], **({"allOf": rest} if rest else {})}
