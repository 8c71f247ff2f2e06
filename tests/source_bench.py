"""What the tests of draft sources share: a page, a schema, and a way to ask a source at a place in a text."""

from __future__ import annotations

from typing import Any, cast

from lookstruct.decoding.cursor import JsonReader
from lookstruct.decoding.request import Candidate, Hints, Options
from lookstruct.decoding.sources.arrays import Arrays
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest, DraftSource
from lookstruct.decoding.sources.page_copy import PageCopy
from lookstruct.decoding.sources.records import Records
from lookstruct.decoding.sources.schema_seeds import SchemaSeeds
from lookstruct.decoding.sources.typed_values import TypedValues

TEXT_SOURCES: tuple[type[DraftSource], ...] = (SchemaSeeds, PageCopy, TypedValues, Arrays, Records)

STRING: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
DATE: dict[str, Any] = {"type": "string", "format": "date"}


def optional(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def record(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields)}


def array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


INVOICE = record(
    invoice_number=STRING,
    issue_date=optional(DATE),
    due_date=optional(DATE),
    seller_name=STRING,
    lines=array(record(description=STRING, quantity=NUMBER, unit_price=NUMBER, total=NUMBER)),
    total=NUMBER,
    currency=optional(STRING),
)

INVOICE_PAGE = """# Invoice 2025-0147 | Ledgerleaf

# Invoice
Invoice number: HF-2025-0147
Issue date: 14 March 2025
Due date: 13 April 2025

## From
Harrow & Finch Ltd
Unit 4, Paintworks Yard

Description | Quantity | Unit price | Amount
Brand workshop, half day | 1 | £950.00 | £950.00
Packaging design, 250 g "retail" bag | 3 | £680.00 | £2,040.00
Landing page for the spring blend | 2 | £725.00 | £1,450.00
Print proofing on site (hours) | 6.5 | £72.00 | £468.00

Total due: £4,908.00
"""

INVOICE_RECORD = (
    '{"invoice_number": "HF-2025-0147", "issue_date": "2025-03-14", "due_date": "2025-04-13", '
    '"seller_name": "Harrow & Finch Ltd", "lines": ['
    '{"description": "Brand workshop, half day", "quantity": 1, "unit_price": 950.00, "total": 950.00}, '
    '{"description": "Packaging design, 250 g \\"retail\\" bag", "quantity": 3, '
    '"unit_price": 680.00, "total": 2040.00}, '
    '{"description": "Landing page for the spring blend", "quantity": 2, "unit_price": 725.00, "total": 1450.00}, '
    '{"description": "Print proofing on site (hours)", "quantity": 6.5, "unit_price": 72.00, "total": 468.00}], '
    '"total": 4908.00, "currency": "GBP"}'
)


def request(
    schema: dict[str, Any] | None = None,
    page: str = "",
    *,
    guesses: tuple[Any, ...] = (),
    candidates: tuple[Candidate, ...] = (),
    sources: tuple[str, ...] | None = None,
) -> DraftRequest:
    """A request; text-speaking sources never look at its vocabulary."""
    hints = Hints(page=page, schema=schema, guesses=guesses, candidates=candidates)
    return DraftRequest(cast(Any, None), hints, Options(sources=sources))


def context(text: str | bytes, *, json: bool = True) -> DraftContext:
    data = text.encode() if isinstance(text, str) else text
    reader = JsonReader()
    reader.feed(data)
    return DraftContext(data, (), reader.cursor if json else None)


def ask(source: type[DraftSource], text: str | bytes, asked: DraftRequest, *, json: bool = True) -> list[Draft]:
    """The drafts of a fresh instance after `text`."""
    return list(source(asked).propose(context(text, json=json)))


def texts(drafts: list[Draft]) -> list[str]:
    return [draft.text.decode() for draft in drafts]


def begins(drafts: list[Draft], start: str) -> bool:
    """Whether some draft begins with `start`."""
    return any(text.startswith(start) for text in texts(drafts))


def agreement(left: bytes, right: bytes) -> int:
    """How many bytes both begin with."""
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def steps(truth: str, asked: DraftRequest, sources: tuple[type[DraftSource], ...] = TEXT_SOURCES) -> list[int]:
    """Bytes that come out of each step of an ideal decoder: the longest right draft, and one byte of its own."""
    data, instances, at = truth.encode(), [source(asked) for source in sources], 0
    taken: list[int] = []
    while at < len(data):
        now = context(data[:at])
        drafts = [draft.text for source in instances for draft in source.propose(now)]
        best = max((agreement(draft, data[at:]) for draft in drafts), default=0)
        taken.append(min(best + 1, len(data) - at))
        at += best + 1
    return taken
