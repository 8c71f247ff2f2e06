"""The schemas that come with the package, by name. A new one is a file beside this and a line in `BUILTIN`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import BaseModel

from lookstruct.schemas.builtin.article import Article
from lookstruct.schemas.builtin.book import Book
from lookstruct.schemas.builtin.contact import Contact
from lookstruct.schemas.builtin.event import Event
from lookstruct.schemas.builtin.invoice import Invoice
from lookstruct.schemas.builtin.job_posting import JobPosting
from lookstruct.schemas.builtin.product import Product
from lookstruct.schemas.builtin.real_estate_listing import RealEstateListing
from lookstruct.schemas.builtin.receipt import Receipt
from lookstruct.schemas.builtin.recipe import Recipe

_MODELS: tuple[type[BaseModel], ...] = (
    Invoice,
    Receipt,
    Product,
    Recipe,
    JobPosting,
    Article,
    Event,
    RealEstateListing,
    Book,
    Contact,
)

BUILTIN: Mapping[str, type[BaseModel]] = MappingProxyType({model.__name__: model for model in _MODELS})
"""Name -> model, in the order in which they are listed to people."""
