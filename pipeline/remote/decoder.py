"""The pipeline's `Decoder` on a server: prompt ids back to text, the schema as `response_format`, text back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.request import Completion, FinishReason, Hints, Options
from lookstruct.pipeline.remote.chat import Answer, Chat
from lookstruct.pipeline.remote.text_tokens import text_of
from lookstruct.schemas.record import Stats

NOTE = "The server holds answers to the schema, not to the page: values that stand nowhere on it are marked as such."
_FINISH: Mapping[str, FinishReason] = {"length": "length", "stop": "eos"}


class RemoteDecoder:
    """Asks a server. Drafts and grammars stay at home: the schema goes along, the rest is the server's."""

    def __init__(self, chat: Chat, *, max_context: int = 32768) -> None:
        self._chat = chat
        self.max_context = max_context

    def generate(
        self,
        prompt_ids: Sequence[int],
        *,
        grammar: Grammar | None,
        hints: Hints = Hints(),  # noqa: B008
        options: Options = Options(),  # noqa: B008
        on_text: Callable[[str], None] | None = None,
        cancel: Callable[[], bool] = lambda: False,
    ) -> Completion:
        """The server's answer; a token limit that is met gives the finish reason "length"."""
        schema = sendable(hints.schema) if grammar is not None and hints.schema is not None else None
        start = perf_counter()
        answer = self._chat.ask(text_of(prompt_ids), schema=schema, options=_options(options), cancelled=cancel)
        if answer is None:
            return Completion("", [], [], "cancelled", Stats(finish_reason="cancelled"))
        if on_text is not None:
            on_text(answer.text)
        finish = _FINISH.get(answer.finish, "stop")
        return Completion(answer.text, [], [], finish, _stats(answer, finish, perf_counter() - start))


def sendable(schema: Any) -> Any:
    """The schema without our own keywords (`x-source`), objects closed: what strict structured outputs ask for.

    >>> sendable({"type": "object", "properties": {"x-ray": {"type": "string", "x-source": "line"}}})
    {'type': 'object', 'properties': {'x-ray': {'type': 'string'}}, 'additionalProperties': False}
    """
    if isinstance(schema, list):
        return [sendable(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {key: _sendable(key, value) for key, value in schema.items() if not key.startswith("x-")}
    if "properties" in kept:
        kept.setdefault("additionalProperties", False)
    return kept


def _sendable(key: str, value: Any) -> Any:
    """The value of a keyword; under `properties` and `$defs` names are the user's, under `enum` all is."""
    if key in ("properties", "$defs", "patternProperties") and isinstance(value, Mapping):
        return {name: sendable(one) for name, one in value.items()}
    return value if key in ("enum", "const", "default", "examples") else sendable(value)


def _options(options: Options) -> dict[str, Any]:
    """Those options that every server knows."""
    chosen: dict[str, Any] = {"temperature": options.temperature, "max_tokens": options.max_new_tokens}
    if options.temperature > 0:
        chosen |= {"seed": options.seed, "top_p": options.top_p}
    return chosen | ({"stop": list(options.stop)} if options.stop else {})


def _stats(answer: Answer, finish: str, decode_s: float) -> Stats:
    return Stats(
        prompt_tokens=answer.n_prompt,
        cached_prompt_tokens=answer.n_cached,
        new_tokens=answer.n_new,
        decode_s=decode_s,
        model_s=decode_s,
        finish_reason=finish,
    )
