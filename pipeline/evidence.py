"""A record's values -> where each stands on the page, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.grounding.align import ground
from lookstruct.pipeline.grounding.confidence import leaf_confidence, with_confidence

if TYPE_CHECKING:
    from lookstruct.decoding.request import Completion
    from lookstruct.pipeline.grounding.found import Found
    from lookstruct.schemas.document import Document
    from lookstruct.schemas.loader import Schema
    from lookstruct.schemas.record import Evidence


def evidence_of(
    data: Any, document: Document, schema: Schema, completion: Completion, found: Found
) -> Mapping[str, Evidence]:
    """JSON pointer of each leaf of `data` -> its evidence; the confidence comes from the tokens that spell it."""
    evidence = ground(document, data, schema.json_schema, found)
    if not completion.pieces:  # a decoder that does not tell its tokens
        return evidence
    return with_confidence(evidence, leaf_confidence(completion.pieces, completion.logprobs, evidence))
