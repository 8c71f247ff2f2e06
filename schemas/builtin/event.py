"""Something that takes place."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import Computed, Currency, PageDateTime, PageNumber, PageUrl, Verbatim, VerbatimLine

EventStatus = Literal["Scheduled", "Postponed", "Rescheduled", "Cancelled", "MovedOnline"]


class Event(BaseModel):
    """A concert, talk, fair, course or match."""

    name: Verbatim = Field(description="Name of the event")
    start_date: PageDateTime | None = Field(default=None, description="When it begins: day and time")
    end_date: PageDateTime | None = Field(default=None, description="When it ends: day and time")
    location_name: Verbatim | None = Field(default=None, description="Name of the place, such as a hall or a club")
    location_address: VerbatimLine | None = Field(default=None, description="Address of the place")
    organizer: Verbatim | None = Field(default=None, description="Who organises it")
    performers: list[Verbatim] = Field(default_factory=list, description="Who performs or speaks")
    price: PageNumber | None = Field(default=None, description="Price of the cheapest ticket, 0 if it is free")
    price_currency: Currency | None = Field(default=None, description="Three-letter code of the currency, such as EUR")
    event_status: Computed[EventStatus] | None = Field(default=None, description="Whether it takes place as planned")
    description: VerbatimLine | None = Field(default=None, description="The first paragraph that describes it")
    url: PageUrl | None = Field(default=None, description="Where tickets are sold or more is told")
