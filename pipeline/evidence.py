"""A record's values -> where each stands on the page, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.grounding.align import ground
from lookstruct.pipeline.grounding.confidence import leaf_confidence, with_confidence
from lookstruct.pipeline.leaves import leaves

if TYPE_CHECKING:
    from lookstruct.decoding.request import Completion
    from lookstruct.pipeline.values.found import Found
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
    thought = sum(map(len, completion.pieces)) - len(completion.text.encode("utf-8", "surrogatepass"))
    told = leaf_confidence(completion.pieces, completion.logprobs, evidence, start=max(0, thought))
    return with_confidence(evidence, told)


def evidence_in(
    data: Any, document: Document, schema: Schema, known: Mapping[str, Evidence], found: Found
) -> dict[str, Evidence]:
    """The evidence of each leaf of a validated record: what is `known`, and of what validation added its own."""
    pointers = [pointer for pointer, _ in leaves(data)]
    added = {} if all(pointer in known for pointer in pointers) else ground(document, data, schema.json_schema, found)
    return {pointer: known[pointer] if pointer in known else added[pointer] for pointer in pointers}
