"""Document + Schema -> Record, with a model: prompt, decode, validate, ground. No I/O; one call at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.request import Completion, Hints, Options
from lookstruct.pipeline.evidence import evidence_of
from lookstruct.pipeline.metadata.differences import differences, flagged
from lookstruct.pipeline.prompt import Prompt, Prompter
from lookstruct.pipeline.question import MetadataUse, Question, ask
from lookstruct.pipeline.validate import validate
from lookstruct.schemas.record import Record

if TYPE_CHECKING:
    from lookstruct.decoding.certificate import Certificate
    from lookstruct.schemas.document import Document
    from lookstruct.schemas.loader import Schema


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
    """Reads records from documents with one model.

    `free` lets values that the schema holds to the page be written freely, `metadata` says what the page's own
    metadata is used for. `certify` checks what was written: it gets the prompt's ids and the completion, and the
    grammar and options as `grammar` and `options`.
    """

    def __init__(
        self,
        decoder: Decoder,
        tokenizer: Any,
        *,
        options: Options | None = None,
        max_page_tokens: int = 8192,
        meta: Mapping[str, Any] | None = None,
        free: bool = False,
        metadata: MetadataUse = "draft",
        certify: Callable[..., Certificate] | None = None,
    ) -> None:
        self._decoder = decoder
        self._prompter = Prompter(tokenizer)
        self._options = options or Options()
        self._max_page_tokens = max_page_tokens
        self._meta = dict(meta or {})
        self._free = free
        self._metadata: MetadataUse = metadata
        self._certify = certify

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
        question = ask(
            document,
            schema,
            self._prompter,
            budget=self._budget,
            max_page_tokens=self._max_page_tokens,
            free=self._free,
            metadata=self._metadata,
        )
        completion = self._decoder.generate(
            question.prompt.ids,
            grammar=question.grammar,
            hints=question.hints,
            options=self._options,
            on_text=on_text,
            cancel=cancel,
        )
        on_completion(completion)
        result = validate(completion.text, schema, finish_reason=completion.finish_reason)
        certificate = self._certificate(question, completion)
        differing = differences(result.data, question.facts.guess) if question.facts.guess is not None else {}
        return Record(
            value=result.value,
            data=result.data,
            evidence=flagged(evidence_of(result.data, document, schema, completion, question.facts.found), differing),
            raw=completion.text,
            stats=completion.stats,
            url=document.url,
            meta={**self._meta, **certificate, **_meta(document, schema, question, completion, differing)},
        )

    def _certificate(self, question: Question, completion: Completion) -> dict[str, Any]:
        """Whether plain decoding would have written the same, where that is to be known; a note if it would not."""
        if self._certify is None:
            return {}
        found = self._certify(question.prompt.ids, completion, grammar=question.grammar, options=self._options)
        if not found.holds:
            completion.stats.notes.append(
                f"The certificate does not hold: plain decoding would write another token number "
                f"{found.first_difference}, by a margin of {found.margin:.1e}; in float32 one under 1e-04 is rounding."
            )
        facts = asdict(found)
        facts["least_margin"] = found.least_margin if isfinite(found.least_margin) else None
        return {"certificate": facts}

    @property
    def _budget(self) -> int:
        """How many tokens the prompt may have: the context less the answer's share, which is at most half of it."""
        context = self._decoder.max_context
        return context - min(self._options.max_new_tokens, context // 2)


def _meta(
    document: Document, schema: Schema, question: Question, completion: Completion, differing: Mapping[str, Any]
) -> dict[str, Any]:
    """What is to be known about one record beside its values."""
    return {
        "schema": schema.name,
        "title": document.title,
        "finish_reason": completion.finish_reason,
        **({"metadata_differs": differing} if differing else {}),
        "notes": list(_notes(document, schema, question.prompt, completion)),
    }


def _notes(document: Document, schema: Schema, prompt: Prompt, completion: Completion) -> Iterator[str]:
    """What the user should be told, each as one sentence."""
    yield from schema.notes
    if prompt.n_chars_cut:
        yield (
            f"The page is too long: its last {prompt.n_chars_cut} of {len(document.text)} characters were left out; "
            "raise prompt.max_page_tokens or use a model with a longer context."
        )
    if document.n_hidden_chars:
        yield f"{document.n_hidden_chars} characters of hidden text were left out."
    if completion.finish_reason == "closed":
        yield "The record was closed early at the token limit and may be incomplete; raise --max-new-tokens."
    yield from completion.stats.notes
