"""How to reach a person or a company."""

from __future__ import annotations

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import PageUrl, Verbatim, VerbatimLine


class Contact(BaseModel):
    """A person or company and how to reach them."""

    name: Verbatim = Field(description="Name of the person or company")
    job_title: Verbatim | None = Field(default=None, description="Position, such as Head of Sales")
    works_for: Verbatim | None = Field(default=None, description="Company, if a person is named")
    email: Verbatim | None = Field(default=None, description="E-mail address")
    telephone: Verbatim | None = Field(default=None, description="Phone number as written")
    fax_number: Verbatim | None = Field(default=None, description="Fax number as written")
    street_address: Verbatim | None = Field(default=None, description="Street and house number")
    postal_code: Verbatim | None = Field(default=None, description="Postal code or ZIP")
    address_locality: Verbatim | None = Field(default=None, description="Town or city")
    address_country: Verbatim | None = Field(default=None, description="Country")
    opening_hours: list[VerbatimLine] = Field(description="Opening hours, one line each")
    url: PageUrl | None = Field(default=None, description="Address of the website")
