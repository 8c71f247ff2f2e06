"""A job that is open."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import Computed, Currency, PageDate, PageNumber, Verbatim, VerbatimItem

EmploymentType = Literal[
    "FULL_TIME", "PART_TIME", "CONTRACTOR", "TEMPORARY", "INTERN", "VOLUNTEER", "PER_DIEM", "OTHER"
]
PayPeriod = Literal["HOUR", "DAY", "WEEK", "MONTH", "YEAR"]


class JobPosting(BaseModel):
    """A job advertisement."""

    title: Verbatim = Field(description="Title of the job, without the company or place")
    hiring_organization: Verbatim | None = Field(default=None, description="The company that hires")
    job_location: Verbatim | None = Field(default=None, description="Where the work is done, such as Berlin or Remote")
    employment_type: Computed[EmploymentType] | None = Field(default=None, description="Kind of employment")
    date_posted: PageDate | None = Field(default=None, description="The day it was published")
    valid_through: PageDate | None = Field(default=None, description="The last day to apply")
    salary_min: PageNumber | None = Field(default=None, description="Lowest pay, or the pay if only one is given")
    salary_max: PageNumber | None = Field(default=None, description="Highest pay")
    salary_currency: Currency | None = Field(default=None, description="Three-letter code of the currency, such as EUR")
    salary_unit: Computed[PayPeriod] | None = Field(default=None, description="What the pay is for: an hour, a year")
    responsibilities: list[VerbatimItem] = Field(description="Listed tasks, one line each")
    qualifications: list[VerbatimItem] = Field(description="Listed requirements, one line each")
    benefits: list[VerbatimItem] = Field(description="Listed benefits, one line each")
