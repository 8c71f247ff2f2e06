"""Text -> the numbers in it, money and percentages among them, whatever locale they are written in.

A form with one meaning is read as it stands and votes for its decimal mark; a form with two (`1.226`) is decided by
those votes, then by the page's language, and is flagged where neither settles it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from lookstruct.pipeline.values.currencies import fraction_digits
from lookstruct.pipeline.values.locales import NEUTRAL, Conventions
from lookstruct.pipeline.values.number_forms import NumberForm, number_forms
from lookstruct.pipeline.values.separators import Reading
from lookstruct.pipeline.values.siblings import NO_COLUMNS, Ballot, Columns
from lookstruct.pipeline.values.spans import Cover
from lookstruct.pipeline.values.text import plain
from lookstruct.schemas.document import Span

AMBIGUOUS = "ambiguous-number"


@dataclass(frozen=True, slots=True)
class Number:
    """One number on the page.

    `span` covers digits and sign, `currency_span` the sign or name of its currency. `value` has as many decimals as
    were written. A percentage keeps its own value: 12% is 12, and 0.12 is among the `alternatives`, which are the
    other values that the same form can mean. `flags`: "ambiguous-number", "ambiguous-currency", "range-low",
    "range-high", "split-price", "scaled".
    """

    value: Decimal
    span: Span
    currency: str | None = None
    currency_span: Span | None = None
    percent: bool = False
    flags: tuple[str, ...] = ()
    alternatives: tuple[Decimal, ...] = ()

    @property
    def is_ambiguous(self) -> bool:
        """Whether neither the page nor its language settled what the digits mean."""
        return AMBIGUOUS in self.flags


def find_numbers(
    text: str, conventions: Conventions = NEUTRAL, *, columns: Columns = NO_COLUMNS, skip: Iterable[Span] = ()
) -> tuple[Number, ...]:
    """Every number in `text`, in order; none that overlaps a span of `skip` (dates, phones, addresses).

    >>> [str(number.value) for number in find_numbers("1.234,56 and 7.000 and -,89 in A4, v1.2.3")]
    ['1234.56', '7000', '-0.89']
    """
    forms = number_forms(plain(text), conventions, Cover(skip))
    ballot: Ballot[str] = Ballot()
    for form in forms:
        _vote(form, ballot, columns)
    return tuple(_decided(form, ballot.winner(columns.at(form.span.start)), conventions) for form in forms)


def parse_number(text: str, conventions: Conventions = NEUTRAL) -> Number | None:
    """The number that `text` is, with or without currency or unit around it; None if it holds none or several.

    >>> parse_number("1.226 €").value, parse_number("3 to 5")
    (Decimal('1226'), None)
    """
    found = find_numbers(text, conventions)
    return found[0] if len(found) == 1 else None


def _vote(form: NumberForm, ballot: Ballot[str], columns: Columns) -> None:
    """An unmistakable form says which decimal mark the page uses; amounts of money say it louder."""
    if len(form.readings) == 1 and (mark := form.readings[0].decimal) is not None:
        ballot.vote(mark, columns.at(form.span.start), 3 if form.currency else 1)


def _decided(form: NumberForm, page_mark: str | None, conventions: Conventions) -> Number:
    """The number that a form stands for; `page_mark` is the decimal mark of its siblings."""
    chosen, settled = _choose(form, page_mark, conventions)
    sign = -1 if form.negative else 1
    others = [reading.value * form.factor for reading in form.readings if reading is not chosen] + form.others
    return Number(
        value=_scaled(chosen.value, form.factor) * sign,
        span=form.span,
        currency=form.currency.code if form.currency else None,
        currency_span=form.currency.span if form.currency else None,
        percent=form.percent,
        flags=(*form.flags, *(() if settled else (AMBIGUOUS,))),
        alternatives=tuple(other * sign for other in others),
    )


def _scaled(value: Decimal, factor: Decimal) -> Decimal:
    """`value` times `factor`, without an exponent: 1.2 million is 1200000, and 68.50 keeps its zero."""
    product = value * factor
    return product.quantize(Decimal(1)) if factor != 1 and product == product.to_integral_value() else product


def _choose(form: NumberForm, page_mark: str | None, conventions: Conventions) -> tuple[Reading, bool]:
    """Which reading, and whether that is settled; of two, the first groups thousands, the second has decimals."""
    if len(form.readings) == 1:
        return form.readings[0], True
    thousands, decimals = form.readings
    if page_mark is not None:
        return (decimals if decimals.decimal == page_mark else thousands), True
    if form.currency is not None and _has_no_such_decimals(form.currency.code, decimals):
        return thousands, True
    if conventions.decimal is None:
        round_number = str(decimals.value).endswith("00")  # 140.000 is seldom 140
        likely = thousands if form.currency or decimals.decimal == "," or round_number else decimals
        return likely, False
    if decimals.decimal != conventions.decimal:
        return thousands, True
    return (thousands if _foreign_price(form, conventions) else decimals), False


_POINT_CURRENCIES = frozenset(
    ("USD", "GBP", "AUD", "CAD", "NZD", "HKD", "SGD", "INR", "CNY", "THB", "MXN", "ILS", "MYR", "PHP")
)
"""Currencies that no country of theirs writes with a decimal comma."""


def _has_no_such_decimals(code: str, decimals: Reading) -> bool:
    """Whether a currency rules out the reading with decimals: yen have none, pounds none after a comma."""
    return fraction_digits(code) == 0 or (code in _POINT_CURRENCIES and decimals.decimal == ",")


def _foreign_price(form: NumberForm, conventions: Conventions) -> bool:
    """Whether an amount is set as the page's language does not set it: then its marks are foreign too (`1.226 €`).

    Three decimals are no amount of money, but for fuel prices, which keep to their language.
    """
    if form.currency is None or fraction_digits(form.currency.code) == 3:
        return False
    return form.currency_first != conventions.symbol_first


def plain_number(value: Decimal) -> str:
    """A number as JSON writes it, its decimals kept.

    >>> plain_number(Decimal("1E+3")), plain_number(Decimal("68.50"))
    ('1000', '68.50')
    """
    return format(value, "f")
