"""A book in a shop, library or catalogue."""

from __future__ import annotations

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import Byline, Currency, PageDate, PageInteger, PageNumber, Verbatim, VerbatimLine


class Book(BaseModel):
    """A book."""

    name: Verbatim = Field(description="Title of the book, without its subtitle and binding")
    alternative_headline: Verbatim | None = Field(default=None, description="Subtitle")
    author: list[Byline] = Field(description="Names of the authors")
    isbn: Verbatim | None = Field(default=None, description="ISBN as written; the longer one if there are two")
    publisher: Verbatim | None = Field(default=None, description="Publishing house")
    date_published: PageDate | None = Field(default=None, description="The day it was published")
    number_of_pages: PageInteger | None = Field(default=None, description="Number of pages")
    book_format: Verbatim | None = Field(default=None, description="Binding, such as Paperback or Hardcover")
    in_language: Verbatim | None = Field(default=None, description="Language, such as English")
    price: PageNumber | None = Field(default=None, description="The price to pay now, without currency sign")
    price_currency: Currency | None = Field(default=None, description="Three-letter code of the currency, such as EUR")
    description: VerbatimLine | None = Field(default=None, description="The first paragraph that describes it")
