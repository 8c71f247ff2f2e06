"""A decoder that reads exactly what its prompt shows, so that tests of chunks and merging need no model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tiny

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.request import Completion, FinishReason, Hints, Options
from lookstruct.pipeline.reader import Reader
from lookstruct.schemas.document import Document
from lookstruct.schemas.loader import load_schema
from lookstruct.schemas.record import Record, Stats

Answer = Callable[[str], Any]
"""What a perfect reader answers to the text of a page: a record, as far as the text has it."""


class ExactDecoder:
    """Answers with `answer(page text)`; an answer of more than `max_items` items is closed early, as at a limit."""

    def __init__(self, answer: Answer, *, max_context: int = 100_000, max_items: int | None = None) -> None:
        self.max_context = max_context
        self.pages: list[str] = []
        self.grammars: list[Grammar | None] = []
        self._answer = answer
        self._max_items = max_items

    def generate(
        self,
        prompt_ids: Sequence[int],
        *,
        grammar: Grammar | None = None,
        hints: Hints = Hints(),  # noqa: B008
        options: Options = Options(),  # noqa: B008
        on_text: Callable[[str], None] | None = None,
        cancel: Callable[[], bool] = lambda: False,
    ) -> Completion:
        del options, cancel
        self.pages.append(hints.page)
        self.grammars.append(grammar)
        record, finish = self._closed(self._answer(hints.page))
        text = json.dumps(record, ensure_ascii=False)
        if on_text is not None:
            on_text(text)
        pieces = [bytes([byte]) for byte in text.encode()]
        stats = Stats(prompt_tokens=len(prompt_ids), new_tokens=len(pieces), forwards=1, finish_reason=finish)
        return Completion(text, range(len(pieces)), [-0.001] * len(pieces), finish, stats, pieces=pieces)

    def _closed(self, record: Any) -> tuple[Any, FinishReason]:
        """The record as the token limit leaves it: the list cut, its last item and what follows closed in haste."""
        if self._max_items is None or not isinstance(record, dict):
            return record, "eos"
        for name, value in record.items():
            if isinstance(value, list) and len(value) > self._max_items:
                kept = [*value[: self._max_items], _hasty(value[self._max_items])]
                after = [key for key in record if list(record).index(key) > list(record).index(name)]
                return {**record, name: kept, **dict.fromkeys(after)}, "closed"
        return record, "eos"


def _hasty(item: Any) -> Any:
    """An item of which only the first field was written."""
    if not isinstance(item, Mapping):
        return item
    first = next(iter(item))
    return {key: item[key] if key == first else None for key in item}


def read(document: Document, schema: Any, decoder: ExactDecoder, **options: Any) -> Record[Any]:
    """The record that comes out of the whole pipeline with this decoder."""
    return Reader(decoder, tiny.tokenizer(), **options).read(document, load_schema(schema))


def find(pattern: str, text: str, kind: Callable[[str], Any] = str) -> Any:
    """The first group of a pattern in the text, None where it is not there."""
    found = re.search(pattern, text)
    return kind(found[1]) if found else None
