"""A till slip: something was paid."""

from __future__ import annotations

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import Currency, OrganizationName, PageDate, PageNumber, PostalAddress, Verbatim


class ReceiptItem(BaseModel):
    """One thing that was bought."""

    description: Verbatim = Field(description="What was bought, as printed")
    quantity: PageNumber | None = Field(default=None, description="How many")
    total: PageNumber | None = Field(default=None, description="Amount paid for it, without currency")


class Receipt(BaseModel):
    """A receipt: where, when and for what money was paid."""

    seller_name: OrganizationName = Field(description="The shop or company, usually the first line")
    seller_address: PostalAddress | None = Field(default=None, description="Address of the shop, all its lines joined")
    receipt_number: Verbatim | None = Field(default=None, description="Number of the receipt or transaction")
    purchase_date: PageDate | None = Field(default=None, description="The day of the purchase")
    items: list[ReceiptItem] = Field(description="Everything that was bought, in order")
    subtotal: PageNumber | None = Field(default=None, description="Sum before tax")
    tax: PageNumber | None = Field(default=None, description="Amount of tax or VAT, not its percentage")
    total: PageNumber = Field(description="The amount to pay in the end, after rounding")
    currency: Currency | None = Field(default=None, description="Three-letter code of the currency, such as EUR")
    payment_method: Verbatim | None = Field(default=None, description="How it was paid, such as Cash or Visa")
