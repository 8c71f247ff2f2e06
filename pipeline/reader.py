"""Document + Schema -> Record, with a model: plan, ask part by part, merge, validate. No I/O; one call at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.request import Completion, Hints, Options
from lookstruct.pipeline.chunks.chunk import Chunk, excerpt, found_in
from lookstruct.pipeline.chunks.merging import Merged, merge
from lookstruct.pipeline.chunks.part import Part, joined, whole
from lookstruct.pipeline.chunks.partial import missing, partial
from lookstruct.pipeline.chunks.plan import Plan, plan
from lookstruct.pipeline.chunks.reading import Reading
from lookstruct.pipeline.chunks.relevance import by_relevance
from lookstruct.pipeline.chunks.resuming import resumed
from lookstruct.pipeline.evidence import evidence_in, evidence_of
from lookstruct.pipeline.leaves import escape
from lookstruct.pipeline.metadata.differences import differences, flagged
from lookstruct.pipeline.profiles.general import GENERAL
from lookstruct.pipeline.prompt import Prompter
from lookstruct.pipeline.question import Facts, MetadataUse, ask, facts_of, own_data, remarks_for
from lookstruct.pipeline.validate import check, parse
from lookstruct.pipeline.view import worth_showing
from lookstruct.schemas.record import Record

if TYPE_CHECKING:
    from lookstruct.decoding.certificate import Certificate
    from lookstruct.pipeline.chunks.cutting import Fits
    from lookstruct.pipeline.learning.memory import Memory
    from lookstruct.pipeline.profiles.base import Profile
    from lookstruct.schemas.document import Document
    from lookstruct.schemas.loader import Schema


MOST_ANSWERS = 2
"""Answers for each chunk that may be read, those to the rest of a chunk included."""


class Decoder(Protocol):
    """What the pipeline asks of an engine; `decoding.engine.Engine` is one."""

    @property
    def max_context(self) -> int:
        """How many tokens prompt and answer may have together."""
        ...

    def generate(
        self,
        prompt_ids: Sequence[int],
        *,
        grammar: Grammar | None,
        hints: Hints = ...,
        options: Options = ...,
        on_text: Callable[[str], None] | None = None,
        cancel: Callable[[], bool] = ...,
    ) -> Completion:
        """The answer to the prompt; `on_text` gets it piece by piece, `cancel` is asked once a forward."""
        ...


class Reader:
    """Reads records from documents with one model, which is asked in the words of `profile`.

    A page of more than `max_page_tokens` is read in chunks, at most `max_chunks` of them. `free` lets values that the
    schema holds to the page be written freely, `metadata` says what the page's own metadata is used for. `certify`
    checks what was written: it gets the prompt's ids and the completion, and the grammar and options as `grammar` and
    `options`. `memory` has what earlier pages taught, and learns from each record.
    """

    def __init__(
        self,
        decoder: Decoder,
        tokenizer: Any,
        *,
        profile: Profile = GENERAL,
        options: Options | None = None,
        max_page_tokens: int = 8192,
        max_chunks: int = 16,
        meta: Mapping[str, Any] | None = None,
        free: bool = False,
        metadata: MetadataUse = "draft",
        certify: Callable[..., Certificate] | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._decoder = decoder
        self._options = options or Options()
        self._prompter = Prompter(tokenizer, profile, thinks=self._options.think > 0)
        self._max_page_tokens = max_page_tokens
        self._max_chunks = max_chunks
        self._meta = dict(meta or {})
        self._free = free
        self._metadata: MetadataUse = metadata
        self._certify = certify
        self._memory = memory

    def read(
        self,
        document: Document,
        schema: Schema,
        *,
        on_text: Callable[[str], None] | None = None,
        on_completion: Callable[[Completion], None] = lambda _: None,
        cancel: Callable[[], bool] = lambda: False,
    ) -> Record[Any]:
        """The record that `document` holds; InvalidRecord if none comes out, `on_completion` still gets the text."""
        facts = facts_of(document, schema, self._metadata)
        if self._memory is not None:
            expected = self._memory.guesses(document, schema, facts.found)
            facts = replace(facts, expected=expected, past=self._memory.tokens(document, schema))
        chunks = self._plan(document, schema, facts)
        reading = Reading(document, schema, facts, on_text, on_completion, cancel)
        parts = list(self._parts(reading, chunks))
        merged = self._completed(reading, parts, merge(parts))
        record = self._record(reading, merged, _page_notes(document, chunks, parts))
        if self._memory is not None and not reading.is_cut:
            self._memory.learn(record, document, schema, facts.found)
        return record

    def _plan(self, document: Document, schema: Schema, facts: Facts) -> Plan:
        """Which parts of the page are read."""
        remarks = remarks_for(document, schema, facts.found)
        data = own_data(facts, self._metadata)

        def fits_in(share: int) -> Fits:
            return self._prompter.fits(document, schema, self._budget, self._max_page_tokens, remarks, data, share)

        return plan(document, worth_showing(document), schema.json_schema, fits_in, self._max_chunks)

    def _parts(self, reading: Reading, chunks: Plan) -> Iterator[Part]:
        """What is read in each chunk; where an answer met the token limit, its chunk is read on from there."""
        waiting = deque(chunks.chunks)
        is_whole = chunks.is_whole
        while waiting:
            part = self._part(reading, waiting.popleft(), is_whole=is_whole)
            rest = resumed(part) if part.is_cut else None
            goes_on = rest is not None and reading.n_answers < MOST_ANSWERS * self._max_chunks
            reading.is_cut = reading.is_cut or (part.is_cut and not goes_on)
            if rest is not None:
                part, is_whole = rest[0], False
                waiting.extendleft(rest[1:] if goes_on else ())
            yield part

    def _completed(self, reading: Reading, parts: Sequence[Part], merged: Merged) -> Merged:
        """The record with the fields that must have a value and that no part would give one: each part could leave
        them to the others. They are asked for once more, where they most likely stand."""
        names = missing(merged.data, reading.schema.grammar_schema)
        if not names or reading.n_answers == 1:
            return merged
        fields = reading.schema.json_schema.get("properties", {})
        asked = {"properties": {name: fields.get(name, {}) for name in names}}
        best = by_relevance(reading.document, [part.chunk for part in parts], asked)[0]
        part = self._part(reading, parts[best].chunk, is_whole=False, schema=reading.schema)
        data = {**merged.data, **{name: part.data.get(name) for name in names}}
        begins = tuple(f"/{escape(name)}" for name in names)
        found = {at: one for at, one in part.evidence.items() if at.startswith(begins)}
        return replace(merged, data=data, evidence={**merged.evidence, **found})

    def _part(self, reading: Reading, chunk: Chunk, *, is_whole: bool, schema: Schema | None = None) -> Part:
        """What the model reads in one chunk. A field that another chunk may have can be null, unless `schema` is given
        and says otherwise."""
        document = reading.document if is_whole else excerpt(reading.document, chunk)
        facts = reading.facts if is_whole else replace(reading.facts, found=found_in(reading.facts.found, chunk))
        question = ask(
            document,
            schema or (reading.schema if is_whole else partial(reading.schema)),
            self._prompter,
            budget=self._budget,
            max_page_tokens=self._max_page_tokens,
            free=self._free,
            metadata=self._metadata,
            facts=facts,
        )
        completion = self._decoder.generate(
            question.prompt.ids,
            grammar=question.grammar,
            hints=question.hints,
            options=self._options,
            on_text=reading.text_listener(),
            cancel=reading.cancel,
        )
        reading.heard(completion)
        data = parse(completion.text, finish_reason=completion.finish_reason)
        if self._certify is not None:
            prompt_ids, grammar = question.prompt.ids, question.grammar
            reading.certificates.append(self._certify(prompt_ids, completion, grammar=grammar, options=self._options))
        return Part(
            chunk, question, completion, data, evidence_of(data, document, reading.schema, completion, facts.found)
        )

    def _record(self, reading: Reading, merged: Merged, notes: Iterable[str]) -> Record[Any]:
        """The validated record and all that is to be known beside it."""
        document, schema, facts = reading.document, reading.schema, reading.facts
        completion = joined(reading.completions)
        result = check(merged.data, completion.text, schema)
        evidence = evidence_in(result.data, document, schema, merged.evidence, facts.found)
        differing = differences(result.data, facts.guess) if facts.guess is not None else {}
        certificate = whole(reading.certificates) if reading.certificates else None
        completion.stats.notes += _fault(certificate)
        meta = {
            **self._meta,
            **({"certificate": _facts(certificate)} if certificate is not None else {}),
            "schema": schema.name,
            "title": document.title,
            "hidden_chars": document.n_hidden_chars,
            "finish_reason": "closed" if reading.is_cut else completion.finish_reason,
            **({"answers": reading.n_answers} if reading.n_answers > 1 else {}),
            **({"metadata_differs": differing} if differing else {}),
            **({"conflicts": merged.conflicts} if merged.conflicts else {}),
            "notes": [*schema.notes, *notes, *_answer_notes(reading, merged), *completion.stats.notes],
        }
        return Record(
            value=result.value,
            data=result.data,
            evidence=flagged(evidence, differing),
            raw=completion.text,
            stats=completion.stats,
            url=document.url,
            meta=meta,
        )

    @property
    def _budget(self) -> int:
        """How many tokens the prompt may have: the context less the answer's share, which is at most half of it."""
        context = self._decoder.max_context
        return context - min(self._options.max_new_tokens, context // 2)


def _page_notes(document: Document, chunks: Plan, parts: Sequence[Part]) -> Iterator[str]:
    """What the user should be told of the page, each as one sentence."""
    n_cut = chunks.n_chars_left_out + sum(part.question.prompt.n_chars_cut for part in parts)
    if n_cut:
        yield (
            f"The page is too long: the {n_cut} of its {len(document.text)} characters that seemed least relevant were "
            "left out; raise prompt.max_chunks or prompt.max_page_tokens."
        )
    if len(chunks.chunks) > 1:
        yield f"The page is long: it was read in {len(chunks.chunks)} parts."
    if document.n_hidden_chars:
        yield f"{document.n_hidden_chars} characters of hidden text were left out."


def _answer_notes(reading: Reading, merged: Merged) -> Iterator[str]:
    if reading.is_cut:
        yield "The record was closed early at the token limit and may be incomplete; raise --max-new-tokens."
    if merged.conflicts:
        names = ", ".join(pointer.removeprefix("/") for pointer in merged.conflicts)
        yield f"Parts of the page gave different values for {names}; meta.conflicts has those that were not taken."


def _fault(certificate: Certificate | None) -> Iterator[str]:
    """A note where a certificate does not hold."""
    if certificate is not None and not certificate.holds:
        yield (
            f"The certificate does not hold: plain decoding would write another token number "
            f"{certificate.first_difference}, by a margin of {certificate.margin:.1e}; in float32 one under 1e-04 is "
            "rounding."
        )


def _facts(certificate: Certificate) -> dict[str, Any]:
    facts = asdict(certificate)
    facts["least_margin"] = certificate.least_margin if isfinite(certificate.least_margin) else None
    return facts
