"""A bill that asks for payment."""

from __future__ import annotations

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import Currency, PageDate, PageNumber, Verbatim


class InvoiceLine(BaseModel):
    """One row of the table of goods or services."""

    description: Verbatim = Field(description="What was sold, as written in the row")
    quantity: PageNumber | None = Field(default=None, description="How many, 1 if the row shows 1")
    unit_price: PageNumber | None = Field(default=None, description="Price of one, without currency")
    total: PageNumber = Field(description="Amount of the whole row, without currency")


class Invoice(BaseModel):
    """An invoice: who bills whom, for what, how much, and until when."""

    invoice_number: Verbatim = Field(description="The number or code that names this invoice")
    issue_date: PageDate | None = Field(default=None, description="The day the invoice was issued")
    due_date: PageDate | None = Field(default=None, description="The day until which it must be paid")
    seller_name: Verbatim = Field(description="The company that issued the invoice and gets the money")
    buyer_name: Verbatim | None = Field(default=None, description="The customer who must pay, after 'Bill to'")
    lines: list[InvoiceLine] = Field(description="Every row of the table, in order, without the totals")
    subtotal: PageNumber | None = Field(default=None, description="Sum of the rows before tax")
    tax: PageNumber | None = Field(default=None, description="Amount of tax or VAT, not its percentage")
    total: PageNumber = Field(description="The final amount to pay, tax included")
    currency: Currency | None = Field(default=None, description="Three-letter code of the currency, such as EUR")
