"""Field types that say where on the page a value stands: ordinary pydantic types plus the keyword `x-source`.

>>> from pydantic import TypeAdapter
>>> TypeAdapter(Verbatim).json_schema()
{'maxLength': 300, 'minLength': 1, 'type': 'string', 'x-source': 'span'}
>>> TypeAdapter(PageDate).validate_python("2024-02-29")
datetime.date(2024, 2, 29)

With them a field can be held to the page while decoding: a `Verbatim` cannot be invented. Plain `str`, `float` and
`date` stay free.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, GetJsonSchemaHandler, StringConstraints
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from lookstruct.schemas.keywords import SOURCES

T = TypeVar("T")

_TIME = "(?:[0-9]{1,4}H(?:[0-9]{1,4}M(?:[0-9]{1,4}S)?)?|[0-9]{1,4}M(?:[0-9]{1,4}S)?|[0-9]{1,4}S)"
_DAYS = "(?:[0-9]{1,3}Y(?:[0-9]{1,2}M(?:[0-9]{1,3}D)?)?|[0-9]{1,3}M(?:[0-9]{1,3}D)?|[0-9]{1,4}D)"
_DURATION = f"^P(?:{_DAYS}(?:T{_TIME})?|T{_TIME}|[0-9]{{1,3}}W)$"


@dataclass(frozen=True, slots=True)
class Source:
    """Annotation that puts `x-source` into a field's JSON Schema; `kind` is a key of `keywords.SOURCES`.

    `extra` is added beside it, for what pydantic has no word for.
    """

    kind: str
    extra: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in SOURCES:
            raise ValueError(f"x-source is {self.kind!r}; expected one of {', '.join(SOURCES)}")

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), "x-source": self.kind, **dict(self.extra)}


Verbatim = Annotated[str, StringConstraints(min_length=1, max_length=300), Source("span")]
"""Text that stands on the page as it is: a name, a document number, an address. Short: longer texts are lines."""

VerbatimLine = Annotated[str, StringConstraints(min_length=1, max_length=2000), Source("line")]
"""A whole line, paragraph, list item or table cell of the page, never a rewrite of it."""

PageTitle = Annotated[str, StringConstraints(min_length=1, max_length=2000), Source("title")]
"""What the page calls itself: the heading that its title repeats, without the site's name; any whole line where there
is none. For the name of the one thing that a page is about, not for the items of a list."""

VerbatimItem = Annotated[str, StringConstraints(min_length=1, max_length=2000), Source("item")]
"""A `VerbatimLine` whose lists are the page's lists: once begun, one of them is taken in to its end, the parts under
small headings included. For ingredients and steps; where some items of a list are wanted and others not, take lines."""

PostalAddress = Annotated[str, StringConstraints(min_length=1, max_length=300), Source("address")]
"""A postal address: its lines up to the one with the postal code, and at most one beyond, joined by commas."""

OrganizationName = Annotated[str, StringConstraints(min_length=1, max_length=300), Source("organization")]
"""The name of a company or shop as a line of the page has it, whole, without the number of its registration."""

Byline = Annotated[str, StringConstraints(min_length=1, max_length=300), Source("byline")]
"""The name of an author, from the line that says who wrote the page; else the site, and in a list nobody."""

PageUrl = Annotated[str, StringConstraints(pattern="^https?://.{1,2000}$"), Source("link")]
"""The absolute address of a link of the page."""

PageDate = Annotated[date, Source("date")]
"""A date that stands on the page in some notation, as YYYY-MM-DD."""

PageDateTime = Annotated[datetime, Source("datetime")]
"""A date and time that stand on the page; with a time zone only if the page gives one."""

PageNumber = Annotated[float, Source("number")]
"""A number that stands on the page: 1.234,56 there is 1234.56 here."""

PageInteger = Annotated[int, Source("number")]
"""A whole number that stands on the page."""

Currency = Annotated[str, StringConstraints(pattern="^[A-Z]{3}$"), Source("currency")]
"""An ISO 4217 code; pages usually show a sign, so it is read off, not copied."""

Duration = Annotated[str, StringConstraints(pattern=_DURATION), Source("duration", (("format", "duration"),))]
"""A length of time in ISO 8601: "1 h 30 min" on the page is PT1H30M here."""

Computed = Annotated[T, Source("computed")]
"""`Computed[int]`: a value that is counted, summed or chosen, and so not held to the page."""


class Money(BaseModel):
    """An amount of money."""

    amount: PageNumber = Field(description="The amount, without currency sign or thousands separators")
    currency: Currency = Field(description="Three-letter currency code such as EUR, USD or GBP")


class Quantity(BaseModel):
    """A measured quantity."""

    value: PageNumber = Field(description="The number")
    unit: Verbatim | None = Field(default=None, description="The unit as written, such as g, cup or m²")
