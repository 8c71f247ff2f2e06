"""Schemas of example pages that no built-in schema fits."""

from __future__ import annotations

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import PageDate, PageInteger, PageNumber, Verbatim, VerbatimLine


class Station(BaseModel):
    """One row of the table of stops."""

    station: Verbatim = Field(description="Name of the stop")
    line: Verbatim = Field(description="Letter of its line")
    zone: PageInteger = Field(description="Fare zone")
    opened: PageInteger = Field(description="Year in which it was opened")
    step_free: bool = Field(description="Whether it can be reached without steps")
    boardings: PageInteger = Field(description="Passengers who board on a weekday")


class StationTable(BaseModel):
    """The stops of a tram network."""

    stations: list[Station] = Field(description="Every row of the table, in order")


class ListedEvent(BaseModel):
    """One entry of a programme."""

    name: Verbatim = Field(description="Name of the event")
    date: PageDate = Field(description="The day it takes place")
    start_time: Verbatim | None = Field(default=None, description="Time of day it begins, as written")
    location: Verbatim | None = Field(default=None, description="Building and room, as written")
    price: PageNumber | None = Field(default=None, description="Ticket or fee, if one is named")


class EventList(BaseModel):
    """A programme of several events."""

    events: list[ListedEvent] = Field(description="Every event, in order")


class Question(BaseModel):
    """One question of a FAQ with its answer."""

    question: VerbatimLine = Field(description="The question")
    answer: VerbatimLine = Field(description="The whole answer")


class Faq(BaseModel):
    """A page of frequently asked questions."""

    questions: list[Question] = Field(description="Every question with its answer, in order")
