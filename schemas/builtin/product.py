"""A thing that is for sale."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import Computed, Currency, PageInteger, PageNumber, PageUrl, Verbatim, VerbatimLine

Availability = Literal["InStock", "OutOfStock", "PreOrder", "BackOrder", "Discontinued"]


class Product(BaseModel):
    """A product page of a shop."""

    name: Verbatim = Field(description="Name of the product, without the shop's name")
    brand: Verbatim | None = Field(default=None, description="Brand or maker")
    sku: Verbatim | None = Field(default=None, description="Article number, SKU or model code")
    price: PageNumber | None = Field(default=None, description="The price to pay now, without currency sign")
    list_price: PageNumber | None = Field(default=None, description="The old or crossed-out price, if one is shown")
    price_currency: Currency | None = Field(default=None, description="Three-letter code of the currency, such as EUR")
    availability: Computed[Availability] | None = Field(default=None, description="Whether it can be bought now")
    rating_value: PageNumber | None = Field(default=None, description="Average rating of the customers")
    review_count: PageInteger | None = Field(default=None, description="Number of reviews or ratings")
    description: VerbatimLine | None = Field(default=None, description="The first paragraph that describes it")
    features: list[VerbatimLine] = Field(description="Listed features, one per line")
    image: PageUrl | None = Field(default=None, description="Address of the main picture")
