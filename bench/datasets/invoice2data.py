"""invoice-x/invoice2data, tests/compare: PDF invoices and what their templates read from them."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bench.datasets.sample import Dataset, Kind, Sample, known, part_of, read_json
from lookstruct.extractors.inputs.pdf import read_pdf
from lookstruct.schemas.builtin.invoice import Invoice


def samples(root: Path) -> Iterator[Sample]:
    """Every invoice that has a JSON file beside it; those of one issuer are in one half."""
    folder = root / "tests/compare"
    for path in sorted([*folder.glob("*.pdf"), *folder.glob("*.txt")]):
        gold = path.with_suffix(".json")
        values = read_json(gold) if gold.is_file() else []
        if len(values) == 1:
            issuer = values[0].get("issuer", path.stem)
            yield Sample(
                path=path.relative_to(root).as_posix(),
                group=issuer.split()[0].casefold(),
                gold=invoice(values[0]),
                html=partial(_page, path),
            )


def invoice(values: Mapping[str, Any]) -> dict[str, Any]:
    """Their values under our names; an issuer that is not a full name is the template's word, compared all the same.

    >>> invoice({"issuer": "OYO", "amount": 1939.0, "invoice_number": "IBZY2087"})
    {'invoice_number': 'IBZY2087', 'seller_name': 'OYO', 'total': 1939.0}
    """
    return known(
        {
            "invoice_number": values.get("invoice_number"),
            "issue_date": str(values.get("date", ""))[:10],
            "seller_name": values.get("partner_name") or values.get("issuer"),
            "subtotal": values.get("amount_untaxed"),
            "tax": values.get("amount_tax"),
            "total": values.get("amount"),
        }
    )


def _page(path: Path) -> str:
    """The invoice as a page: a PDF as `extract` reads one, text with the spaces that it has between its columns."""
    if path.suffix == ".pdf":
        return read_pdf(path.read_bytes(), path.name).html
    return f"<html><body><pre>{html.escape(path.read_text(encoding='utf-8', errors='replace'))}</pre></body></html>"


DATASET = Dataset(
    name="invoice2data",
    repository="invoice-x/invoice2data",
    schema=part_of(Invoice, "invoice_number", "issue_date", "seller_name", "subtotal", "tax", "total"),
    kinds={"issue_date": Kind.DATE, "subtotal": Kind.NUMBER, "tax": Kind.NUMBER, "total": Kind.NUMBER},
    samples=samples,
)
