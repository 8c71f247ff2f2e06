"""A home that is for sale or to let."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import Computed, Currency, PageDate, PageNumber, Verbatim, VerbatimLine

Offer = Literal["Sale", "Rent"]
AreaUnit = Literal["m2", "sqft"]


class RealEstateListing(BaseModel):
    """A listing of a house, flat or plot."""

    name: Verbatim = Field(description="Headline of the listing")
    address: Verbatim | None = Field(default=None, description="Address or place of the property")
    offer: Computed[Offer] | None = Field(default=None, description="Whether it is for sale or to let")
    price: PageNumber | None = Field(default=None, description="Asking price, or the rent for one month")
    price_currency: Currency | None = Field(default=None, description="Three-letter code of the currency, such as EUR")
    property_type: Verbatim | None = Field(default=None, description="Kind of property, such as Flat or House")
    number_of_rooms: PageNumber | None = Field(default=None, description="Number of rooms, if stated")
    number_of_bedrooms: PageNumber | None = Field(default=None, description="Number of bedrooms")
    number_of_bathrooms: PageNumber | None = Field(default=None, description="Number of bathrooms")
    floor_size: PageNumber | None = Field(default=None, description="Living area, as a number")
    floor_size_unit: Computed[AreaUnit] | None = Field(default=None, description="Unit of the living area")
    date_posted: PageDate | None = Field(default=None, description="The day it was listed or can be moved into")
    amenities: list[VerbatimLine] = Field(description="Listed features, one line each")
    description: VerbatimLine | None = Field(default=None, description="The first paragraph that describes it")
