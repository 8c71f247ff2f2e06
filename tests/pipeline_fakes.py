"""Stand-ins for the browser and the model, for tests of what lies between them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.request import Completion, FinishReason, Hints, Options
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.target import Target
from lookstruct.pipeline.reader import Reader
from lookstruct.schemas.document import Page
from lookstruct.schemas.record import Stats

LAMP = "<title>Shop</title><h1>Brass lamp</h1><p>Price: 45.50 EUR<p>See <a href=/care>how to care</a>"
LAMP_JSON = '{"name": "Brass lamp", "price": 45.5}'
LAMP_SCHEMA = "name: str, price: float"


class Source:
    """Serves pages by target; counts how often it was opened and closed."""

    def __init__(self, html: str = LAMP, error: Exception | None = None, delay_s: float = 0.0) -> None:
        self.html, self.error, self.delay_s = html, error, delay_s
        self.opened = self.closed = 0
        self.fetched: list[str] = []
        self.options: list[FetchOptions | None] = []

    async def __aenter__(self) -> Self:
        self.opened += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed += 1

    async def fetch(self, target: Target | str, options: FetchOptions | None = None) -> Page:
        value = target if isinstance(target, str) else target.value
        self.fetched.append(value)
        self.options.append(options)
        await asyncio.sleep(self.delay_s)
        if self.error is not None:
            raise self.error
        given = isinstance(target, Target) and target.kind == "html"
        return Page("https://shop.example/lamp", "https://shop.example/lamp", value if given else self.html)


class Decoder:
    """Answers with the same text each time, and remembers what it was asked."""

    def __init__(
        self,
        text: str = LAMP_JSON,
        finish: FinishReason = "eos",
        max_context: int = 2048,
        steps: int = 1,
        step_s: float = 0.0,
    ) -> None:
        self.text, self.finish, self.max_context = text, finish, max_context
        self.steps, self.step_s = steps, step_s
        self.prompts: list[tuple[int, ...]] = []
        self.hints: list[Hints] = []
        self.options: list[Options] = []
        self.grammars: list[Grammar | None] = []
        self.running = self.most_running = 0
        self.was_cancelled = False

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
        self.prompts.append(tuple(prompt_ids))
        self.hints.append(hints)
        self.options.append(options)
        self.grammars.append(grammar)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return self._answer(on_text or (lambda _: None), cancel)
        finally:
            self.running -= 1

    def _answer(self, on_text: Callable[[str], None], cancel: Callable[[], bool]) -> Completion:
        for _ in range(self.steps):
            if cancel():
                self.was_cancelled = True
                return Completion("", [], [], "cancelled", Stats(finish_reason="cancelled"))
            time.sleep(self.step_s)
        on_text(self.text)
        stats = Stats(prompt_tokens=len(self.prompts[-1]), new_tokens=12, forwards=3, finish_reason=self.finish)
        return Completion(self.text, list(range(12)), [0.0] * 12, self.finish, stats)


def reader(decoder: Decoder, tokenizer: Any, **options: Any) -> Callable[[], Reader]:
    """What an extractor takes as `load_reader`."""
    return lambda: Reader(decoder, tokenizer, **options)
