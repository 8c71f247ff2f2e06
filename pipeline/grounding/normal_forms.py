"""What stands on the page in a notation of its own -> the same in normal form, to be shown beside it.

A small model that copies "21 August" under an ISO date mask is trapped after its first digits; with 2024-08-21 beside
it on the page there is something right to copy. Only what differs from its normal form is remarked on.
"""

from __future__ import annotations

from collections.abc import Iterator

from lookstruct.pipeline.grounding.found import Found
from lookstruct.pipeline.grounding.numbers import plain_number
from lookstruct.pipeline.view import Remark
from lookstruct.schemas.document import Document


def normal_forms(document: Document, found: Found) -> Iterator[Remark]:
    """Remarks for dates that are not in ISO form and for numbers whose decimal mark is not a point."""
    for moment in found.moments:
        readings = [v for v in (moment.value, *moment.alternatives) if v not in moment.span.of(document.text)]
        if moment.kind == "date" and readings:
            yield Remark(moment.span.end, f" ({' or '.join(dict.fromkeys(readings))})")
    for number in found.numbers:
        written, plain = number.span.of(document.text), plain_number(number.value)
        if "," in written and plain.lstrip("-") != written.replace(",", "").lstrip("-+\u2212"):
            yield Remark(number.span.end, f" ({plain})")
