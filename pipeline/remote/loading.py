"""Settings -> a reader whose model is on a server."""

from __future__ import annotations

import os

from lookstruct.pipeline.profiles import choose_profile
from lookstruct.pipeline.reader import Reader
from lookstruct.pipeline.remote.chat import Chat
from lookstruct.pipeline.remote.decoder import NOTE, RemoteDecoder
from lookstruct.pipeline.remote.text_tokens import TextTokens
from lookstruct.pipeline.settings import ModelSettings, Settings
from lookstruct.schemas.errors import UsageError

KEYS = ("LOOKSTRUCT_API_KEY", "OPENAI_API_KEY")
"""Environment variables that may hold the server's key, the first one wins."""


def remote_reader(settings: Settings) -> Reader:
    """A reader that asks the server of `settings.engine`; UsageError where that is not described whole."""
    check_server(settings)
    wanted, name = settings.engine, settings.model.name
    key = next((found for variable in KEYS if (found := os.environ.get(variable))), None)
    chat = Chat(wanted.base_url or "", name, key=key, timeout_s=wanted.timeout_s, retries=wanted.retries)
    return Reader(
        RemoteDecoder(chat, max_context=wanted.context),
        TextTokens(),
        profile=choose_profile(settings.model.profile, name),
        options=settings.decode.options(),
        max_page_tokens=settings.prompt.max_page_tokens,
        max_chunks=settings.prompt.max_chunks,
        free=settings.schemas.free,
        metadata=settings.prompt.metadata,
        meta={"model": name, "engine": "openai", "base_url": wanted.base_url, "model_notes": [NOTE]},
    )


def check_server(settings: Settings) -> None:
    """UsageError unless a server and its model are named."""
    if settings.engine.base_url is None:
        raise UsageError("--engine openai needs a server: add --base-url, for example http://127.0.0.1:8000/v1.")
    if settings.model.name == ModelSettings().name:
        raise UsageError("--engine openai needs the name of a model that the server has: add --model NAME.")
    if settings.decode.think:
        raise UsageError("--think is for models that run here: on a server, thinking is the server's own setting.")
    Chat(settings.engine.base_url, settings.model.name).close()
