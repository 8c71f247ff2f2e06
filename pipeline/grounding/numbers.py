"""Text -> the numbers in it, money and percentages among them, whatever locale they are written in.

A form with one meaning is read as it stands and votes for its decimal mark; a form with two (`1.226`) is decided by
those votes, then by the page's language, and is flagged where neither settles it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise

from lookstruct.pipeline.grounding.currencies import SIGNS, CurrencyMark, currencies, fraction_digits
from lookstruct.pipeline.grounding.locales import NEUTRAL, Conventions
from lookstruct.pipeline.grounding.scales import scale_after
from lookstruct.pipeline.grounding.separators import Reading, readings
from lookstruct.pipeline.grounding.siblings import NO_COLUMNS, Ballot, Columns
from lookstruct.pipeline.grounding.spans import Cover
from lookstruct.pipeline.grounding.text import WIDE_SPACE, glued, plain
from lookstruct.schemas.document import Span

AMBIGUOUS = "ambiguous-number"
RANGE_LOW, RANGE_HIGH = "range-low", "range-high"
_MAX_DIGITS = 30

_SPACED = re.compile(r"[0-9]{1,3}([ \u00a0])[0-9]{3}(?:\1[0-9]{3}){0,5}(?![0-9])(?:[.,][0-9]+)?(?![.,']?[0-9])")
_IDENTIFIER = re.compile(r"(?<![0-9A-Za-z_])[0-9A-Za-z_]+(?:[-/][0-9A-Za-z_]+){2,}")
_FRACTIONS = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_RUN = re.compile(rf"[0-9]+(?:[.,'][0-9]+)*|[{_FRACTIONS}]")
_FRACTION = re.compile(rf"[ \u00a0]?([{_FRACTIONS}])")
_WORD_WITH_DIGIT = re.compile(r"[^\W\d_]+[0-9_]")
_NO_CENTS = re.compile(r"[.,](?:--|[-–—])(?![0-9])")
_SPLIT_CENTS = re.compile(r"(?:[ \u00a0]|[ \u00a0][.,][ \u00a0]?)([0-9]{2})(?![0-9.,%]|[ \u00a0]?[^\W\d_])")
_PERCENT = re.compile(r"[ \u00a0]?[%‰]")
_FIELD_END = re.compile(r"[ \u00a0]?(?:\Z|[\n|])")
_BETWEEN_RANGE = re.compile(r"[-–—~〜～]|[ \u00a0](?:[-–—~〜～]|to|bis|à|a|al|tot|do|до|til|till)[ \u00a0]")


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


@dataclass(slots=True)
class _Form:
    """A number as written, before it is decided what it means."""

    span: Span
    readings: tuple[Reading, ...]
    negative: bool = False
    currency: CurrencyMark | None = None
    currency_first: bool = False
    percent: bool = False
    factor: Decimal = Decimal(1)
    flags: list[str] = field(default_factory=list)
    others: list[Decimal] = field(default_factory=list)


def find_numbers(
    text: str, conventions: Conventions = NEUTRAL, *, columns: Columns = NO_COLUMNS, skip: Iterable[Span] = ()
) -> tuple[Number, ...]:
    """Every number in `text`, in order; none that overlaps a span of `skip` (dates, phones, addresses).

    >>> [str(number.value) for number in find_numbers("1.234,56 and 7.000 and -,89 in A4, v1.2.3")]
    ['1234.56', '7000', '-0.89']
    """
    scanner = _Scanner(plain(text), conventions, Cover(skip))
    forms = _with_ranges(list(scanner.forms()), scanner.text)
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


class _Scanner:
    """Goes through a text once and yields the forms in it."""

    def __init__(self, text: str, conventions: Conventions, skip: Cover) -> None:
        self.text = text
        self._conventions = conventions
        self._currencies = currencies(conventions)
        self._skip = skip
        self._read_to = 0  # what stands before belongs to earlier numbers
        self._identifiers = Cover(Span(*found.span()) for found in _IDENTIFIER.finditer(text))

    def forms(self) -> Iterator[_Form]:
        while (found := _RUN.search(self.text, self._read_to)) is not None:
            form = None if self._is_other(found.start(), found.end()) else self._form(found.start(), found.end())
            self._read_to = found.end()
            if form is not None:
                self._read_to = max(form.span.end, form.currency.span.end if form.currency else 0)
                yield form

    def _is_other(self, start: int, end: int) -> bool:
        """Whether the digits belong to something that is no number."""
        if self._skip.touches(start, end) or self._identifiers.touches(start, end) or end - start > _MAX_DIGITS:
            return True
        before, after = self._char(start - 1), self._char(end)
        if before == ":" and self._char(start - 2).isdigit():
            return True
        if after == ":" and self._char(end + 1).isdigit():
            return True
        if before in "-/@" and before and glued(self._char(start - 2) or " ") and not self._char(start - 2).isdigit():
            return True
        if before and glued(before) and not self._is_times(start - 1) and self._touching_currency(start) is None:
            return True
        return bool(_WORD_WITH_DIGIT.match(self.text, end)) or after == "_"

    def _char(self, at: int) -> str:
        return self.text[at : at + 1] if at >= 0 else ""

    def _is_times(self, at: int) -> bool:
        """Whether the letter at `at` is the x of `x12` or `2x3`."""
        return self.text[at] == "x" and not self._char(at - 1).isalpha()

    def _touching_currency(self, start: int) -> CurrencyMark | None:
        mark = self._currencies.before(self.text, start, amount=True)
        return mark if mark is not None and mark.span.end == start else None

    def _form(self, start: int, end: int) -> _Form | None:
        start = self._with_leading_mark(start)
        if (spaced := _SPACED.match(self.text, start)) is not None and self._belongs(spaced):
            end = spaced.end()
        meanings = self._meanings(self.text[start:end])
        if not meanings:
            return None
        form = _Form(Span(start, end), meanings)
        self._read_tail(form)
        self._read_currency(form)
        self._read_sign(form)
        self._read_split_cents(form)
        return form

    def _meanings(self, written: str) -> tuple[Reading, ...]:
        if written in _FRACTIONS:
            return (Reading(_fraction(written)),)
        return readings(written.replace(WIDE_SPACE, " "))

    def _with_leading_mark(self, start: int) -> int:
        """`,89`: the mark belongs to the number unless something stands before it."""
        before, first = self._char(start - 2), self._char(start - 1) if start > self._read_to else ""
        if first not in ".," or not first or not (not before or before.isspace() or before in SIGNS + "(-–|"):
            return start
        return start - 1

    def _belongs(self, spaced: re.Match[str]) -> bool:
        """Whether groups with spaces between are one number: `1 234` is two where nobody groups by spaces."""
        written = spaced[0]
        if written[0] == "0" or self._skip.touches(*spaced.span()):
            return False
        if spaced[1] == WIDE_SPACE or self._conventions.groups_by_space:
            return True
        if self._conventions.name is None and ("," in written or written.count(" ") > 1):
            return True
        before = self._currencies.before(self.text, spaced.start(), amount=True)
        return before is not None or self._currencies.after(self.text, spaced.end(), amount=True) is not None

    def _read_tail(self, form: _Form) -> None:
        """What follows the digits: a fraction, a dash for no cents, a scale, a percent sign."""
        start, end = form.span.start, form.span.end
        if start > self._read_to and self._char(start - 1) == "%":  # Turkish and Basque put it first
            self._read_percent(form)
            start -= 1
        if (fraction := _FRACTION.match(self.text, end)) is not None:
            part = _fraction(fraction[1])
            form.readings = tuple(replace(reading, value=reading.value + part) for reading in form.readings)
            end = fraction.end()
        elif (dash := _NO_CENTS.match(self.text, end)) is not None:
            end = dash.end()
        elif (percent := _PERCENT.match(self.text, end)) is not None:
            self._read_percent(form)
            end = percent.end()
        form.span = Span(start, end)

    def _read_percent(self, form: _Form) -> None:
        form.percent = True
        form.others += [reading.value / 100 for reading in form.readings]

    def _read_currency(self, form: _Form) -> None:
        """The currency beside it; a code after the number is more exact than a `$` before it."""
        amount = any(reading.decimal for reading in form.readings)
        before = self._currencies.before(self.text, form.span.start, amount=amount)
        if before is None and self._char(form.span.start - 1) in ("-", "–"):
            before = self._currencies.before(self.text, form.span.start - 1, amount=amount)
        if before is not None and before.span.start < self._read_to:
            before = None  # it stands behind the number before
        self._read_scale(form, money=before is not None)
        after = None if form.percent else self._currencies.after(self.text, form.span.end, amount=amount)
        exact = after is not None and len(after.span) == 3 and before is not None and before.shared
        form.currency = after if before is None or exact else before
        form.currency_first = before is not None
        if form.currency is not None and form.currency.shared:
            form.flags.append("ambiguous-currency")

    def _read_scale(self, form: _Form, *, money: bool) -> None:
        scale = scale_after(self.text, form.span.end, self._conventions, money=money)
        if scale is not None:
            form.factor, form.span = scale[0], Span(form.span.start, scale[1].end)
            form.flags.append("scaled")
            form.others += [reading.value for reading in form.readings]

    def _read_sign(self, form: _Form) -> None:
        """A minus before the digits or before their currency, or after an amount (`12,50-`)."""
        first = form.span.start
        if self._is_minus(first - 1):
            form.negative, form.span = True, Span(first - 1, form.span.end)
            return
        mark = form.currency
        if mark is not None and mark.span.end <= first and self._is_minus(mark.span.start - 1):
            form.negative = True
            return
        end, money = form.span.end, mark is not None or any(reading.decimal for reading in form.readings)
        if money and self._char(end) == "-" and not (self._char(end + 1).strip() and self._char(end + 1) not in "|)"):
            form.negative, form.span = True, Span(first, end + 1)
        elif money:
            self._read_brackets(form)

    def _read_brackets(self, form: _Form) -> None:
        """`(12.50)` is negative where it fills a line or a cell, and may be so elsewhere."""
        spans = (form.span, form.currency.span if form.currency else form.span)
        start, end = min(span.start for span in spans) - 1, max(span.end for span in spans)
        if self._char(start) != "(" or self._char(end) != ")":
            return
        before = self.text[max(0, start - 2) : start].rstrip(" \u00a0")
        begins = before.endswith(("|", "\n", ":")) or (start < 2 and not before)
        form.negative = begins and _FIELD_END.match(self.text, end + 1) is not None
        form.others += [-reading.value for reading in form.readings]

    def _is_minus(self, at: int) -> bool:
        """Whether the character at `at` is a minus sign, and not a dash of a range, a word or a list."""
        if at < self._read_to:
            return False
        char, before = self._char(at), self._char(at - 1)
        if char == "-" and before and before in SIGNS:
            return not self._char(at - 2).isdigit()  # $-5, but not 5€-7€
        if char == "-":
            return not before or not (before.isalnum() or before in ")]}%-")
        return char == "–" and not self.text[max(0, at - 2) : at].strip()

    def _read_split_cents(self, form: _Form) -> None:
        """`€ 68 50`, `€ 68 ,50`: a price whose parts the page sets apart."""
        whole = self.text[form.span.start : form.span.end].lstrip("-")
        if form.currency is None or not form.currency_first or not whole.isdigit():
            return
        cents = _SPLIT_CENTS.match(self.text, form.span.end)
        if cents is None or fraction_digits(form.currency.code) != 2:
            return
        form.others += [reading.value for reading in form.readings]
        form.readings = tuple(Reading(Decimal(f"{reading.value}.{cents[1]}")) for reading in form.readings)
        form.span = Span(form.span.start, cents.end())
        form.flags.append("split-price")


def _fraction(char: str) -> Decimal:
    """The value of a fraction sign, thirds and the like to four places."""
    return Decimal(str(round(unicodedata.numeric(char), 4)))


def _with_ranges(forms: list[_Form], text: str) -> list[_Form]:
    """Flags both ends of each range (`3–5`, `10 to 20 €`); the low end takes over the currency of the high one."""
    for low, high in pairwise(forms):
        gap_start = max(low.span.end, low.currency.span.end if low.currency else 0)
        gap_end = high.currency.span.start if high.currency and high.currency_first else high.span.start
        if gap_start > gap_end or not _BETWEEN_RANGE.fullmatch(text, gap_start, gap_end):
            continue
        low.flags.append(RANGE_LOW)
        high.flags.append(RANGE_HIGH)
        low.currency = low.currency or high.currency
        low.percent = low.percent or high.percent
    return forms


def _vote(form: _Form, ballot: Ballot[str], columns: Columns) -> None:
    """An unmistakable form says which decimal mark the page uses; amounts of money say it louder."""
    if len(form.readings) == 1 and (mark := form.readings[0].decimal) is not None:
        ballot.vote(mark, columns.at(form.span.start), 3 if form.currency else 1)


def _decided(form: _Form, page_mark: str | None, conventions: Conventions) -> Number:
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


def _choose(form: _Form, page_mark: str | None, conventions: Conventions) -> tuple[Reading, bool]:
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


def _foreign_price(form: _Form, conventions: Conventions) -> bool:
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


def outside(numbers: Sequence[Number], cover: Cover) -> tuple[Number, ...]:
    """The numbers that touch none of the covered spans."""
    return tuple(number for number in numbers if not cover.touches(number.span.start, number.span.end))
