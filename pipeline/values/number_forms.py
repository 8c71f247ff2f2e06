"""Text -> the numbers written in it (`NumberForm`), each with everything it can mean and what stands beside it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise

from lookstruct.pipeline.values.currencies import SIGNS, CurrencyMark, currencies, fraction_digits
from lookstruct.pipeline.values.locales import Conventions
from lookstruct.pipeline.values.scales import scale_after
from lookstruct.pipeline.values.separators import Reading, readings
from lookstruct.pipeline.values.spans import Cover
from lookstruct.pipeline.values.text import WIDE_SPACE, glued
from lookstruct.schemas.document import Span

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


@dataclass(slots=True)
class NumberForm:
    """A number as written, before it is decided what it means.

    `readings` are the meanings of its digits, `factor` multiplies them (`2 million`). `others` are values that the form
    may stand for besides (0.12 for 12%). `currency_first`: the currency stands before the number.
    """

    span: Span
    readings: tuple[Reading, ...]
    negative: bool = False
    currency: CurrencyMark | None = None
    currency_first: bool = False
    percent: bool = False
    factor: Decimal = Decimal(1)
    flags: list[str] = field(default_factory=list)
    others: list[Decimal] = field(default_factory=list)


def number_forms(text: str, conventions: Conventions, skip: Cover) -> list[NumberForm]:
    """The numbers written in `text` (as `text.plain` returns it), in order; none that touches `skip`."""
    return _with_ranges(list(_Scanner(text, conventions, skip).forms()), text)


class _Scanner:
    """Goes through a text once and yields the forms in it."""

    def __init__(self, text: str, conventions: Conventions, skip: Cover) -> None:
        self._text = text
        self._conventions = conventions
        self._currencies = currencies(conventions)
        self._skip = skip
        self._read_to = 0  # what stands before belongs to earlier numbers
        self._identifiers = Cover(Span(*found.span()) for found in _IDENTIFIER.finditer(text))

    def forms(self) -> Iterator[NumberForm]:
        while (found := _RUN.search(self._text, self._read_to)) is not None:
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
        return bool(_WORD_WITH_DIGIT.match(self._text, end)) or after == "_"

    def _char(self, at: int) -> str:
        return self._text[at : at + 1] if at >= 0 else ""

    def _is_times(self, at: int) -> bool:
        """Whether the letter at `at` is the x of `x12` or `2x3`."""
        return self._text[at] == "x" and not self._char(at - 1).isalpha()

    def _touching_currency(self, start: int) -> CurrencyMark | None:
        mark = self._currencies.before(self._text, start, amount=True)
        return mark if mark is not None and mark.span.end == start else None

    def _form(self, start: int, end: int) -> NumberForm | None:
        start = self._with_leading_mark(start)
        if (spaced := _SPACED.match(self._text, start)) is not None and self._belongs(spaced):
            end = spaced.end()
        meanings = self._meanings(self._text[start:end])
        if not meanings:
            return None
        form = NumberForm(Span(start, end), meanings)
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
        before = self._currencies.before(self._text, spaced.start(), amount=True)
        return before is not None or self._currencies.after(self._text, spaced.end(), amount=True) is not None

    def _read_tail(self, form: NumberForm) -> None:
        """What follows the digits: a fraction, a dash for no cents, a scale, a percent sign."""
        start, end = form.span.start, form.span.end
        if start > self._read_to and self._char(start - 1) == "%":  # Turkish and Basque put it first
            self._read_percent(form)
            start -= 1
        if (fraction := _FRACTION.match(self._text, end)) is not None:
            part = _fraction(fraction[1])
            form.readings = tuple(replace(reading, value=reading.value + part) for reading in form.readings)
            end = fraction.end()
        elif (dash := _NO_CENTS.match(self._text, end)) is not None:
            end = dash.end()
        elif (percent := _PERCENT.match(self._text, end)) is not None:
            self._read_percent(form)
            end = percent.end()
        form.span = Span(start, end)

    def _read_percent(self, form: NumberForm) -> None:
        form.percent = True
        form.others += [reading.value / 100 for reading in form.readings]

    def _read_currency(self, form: NumberForm) -> None:
        """The currency beside it; a code after the number is more exact than a `$` before it."""
        amount = any(reading.decimal for reading in form.readings)
        before = self._currencies.before(self._text, form.span.start, amount=amount)
        if before is None and self._char(form.span.start - 1) in ("-", "–"):
            before = self._currencies.before(self._text, form.span.start - 1, amount=amount)
        if before is not None and before.span.start < self._read_to:
            before = None  # it stands behind the number before
        self._read_scale(form, money=before is not None)
        after = None if form.percent else self._currencies.after(self._text, form.span.end, amount=amount)
        exact = after is not None and len(after.span) == 3 and before is not None and before.shared
        form.currency = after if before is None or exact else before
        form.currency_first = before is not None
        if form.currency is not None and form.currency.shared:
            form.flags.append("ambiguous-currency")

    def _read_scale(self, form: NumberForm, *, money: bool) -> None:
        scale = scale_after(self._text, form.span.end, self._conventions, money=money)
        if scale is not None:
            form.factor, form.span = scale[0], Span(form.span.start, scale[1].end)
            form.flags.append("scaled")
            form.others += [reading.value for reading in form.readings]

    def _read_sign(self, form: NumberForm) -> None:
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

    def _read_brackets(self, form: NumberForm) -> None:
        """`(12.50)` is negative where it fills a line or a cell, and may be so elsewhere."""
        spans = (form.span, form.currency.span if form.currency else form.span)
        start, end = min(span.start for span in spans) - 1, max(span.end for span in spans)
        if self._char(start) != "(" or self._char(end) != ")":
            return
        before = self._text[max(0, start - 2) : start].rstrip(" \u00a0")
        begins = before.endswith(("|", "\n", ":")) or (start < 2 and not before)
        form.negative = begins and _FIELD_END.match(self._text, end + 1) is not None
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
        return char == "–" and not self._text[max(0, at - 2) : at].strip()

    def _read_split_cents(self, form: NumberForm) -> None:
        """`€ 68 50`, `€ 68 ,50`: a price whose parts the page sets apart."""
        whole = self._text[form.span.start : form.span.end].lstrip("-")
        if form.currency is None or not form.currency_first or not whole.isdigit():
            return
        cents = _SPLIT_CENTS.match(self._text, form.span.end)
        if cents is None or fraction_digits(form.currency.code) != 2:
            return
        form.others += [reading.value for reading in form.readings]
        form.readings = tuple(Reading(Decimal(f"{reading.value}.{cents[1]}")) for reading in form.readings)
        form.span = Span(form.span.start, cents.end())
        form.flags.append("split-price")


def _fraction(char: str) -> Decimal:
    """The value of a fraction sign, thirds and the like to four places."""
    return Decimal(str(round(unicodedata.numeric(char), 4)))


def _with_ranges(forms: list[NumberForm], text: str) -> list[NumberForm]:
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
