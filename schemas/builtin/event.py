"""Something that takes place."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import (
    Computed,
    Currency,
    PageDate,
    PageNumber,
    PageUrl,
    PostalAddress,
    Verbatim,
    VerbatimLine,
)

EventStatus = Literal["Scheduled", "Postponed", "Rescheduled", "Cancelled", "MovedOnline"]


class Event(BaseModel):
    """A concert, talk, fair, course or match."""

    name: Verbatim = Field(description="Name of the event")
    start_date: PageDate | None = Field(default=None, description="The day it begins")
    start_time: Verbatim | None = Field(default=None, description="Time of day it begins, as written, such as 19:30")
    end_date: PageDate | None = Field(default=None, description="The day it ends")
    end_time: Verbatim | None = Field(default=None, description="Time of day it ends, as written")
    location_name: Verbatim | None = Field(default=None, description="Name of the place, such as a hall or a club")
    location_address: PostalAddress | None = Field(default=None, description="Address of the place")
    organizer: Verbatim | None = Field(default=None, description="Who organises it")
    performers: list[Verbatim] = Field(description="Who performs or speaks")
    price: PageNumber | None = Field(default=None, description="Price of the cheapest ticket, 0 if it is free")
    price_currency: Currency | None = Field(default=None, description="Three-letter code of the currency, such as EUR")
    event_status: Computed[EventStatus] | None = Field(default=None, description="Whether it takes place as planned")
    description: VerbatimLine | None = Field(default=None, description="The first paragraph that describes it")
    url: PageUrl | None = Field(default=None, description="Where tickets are sold or more is told")
