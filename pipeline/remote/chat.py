"""One question to an OpenAI-compatible server -> its answer (`Chat`), with retries; every failure in one sentence."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from lookstruct.schemas.errors import ContextOverflow, ModelError, ModelNotFound, UsageError

AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
"""Statuses after which another attempt may do better."""
LONGEST_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the text, why it ended ("stop", "length"), and the server's own count of tokens."""

    text: str
    finish: str
    n_prompt: int = 0
    n_new: int = 0
    n_cached: int = 0


class Chat:
    """A model on a server; may be asked from several threads at once. `sleep` waits between attempts."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str | None = None,
        timeout_s: float = 300.0,
        retries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise UsageError(f"--base-url {base_url!r} is no web address; write one like http://127.0.0.1:8000/v1.")
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._model, self._retries, self._sleep = model, retries, sleep
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.Client(timeout=httpx2.Timeout(timeout_s, connect=10.0), headers=headers)

    def ask(
        self,
        prompt: str,
        *,
        schema: Mapping[str, Any] | None,
        name: str = "record",
        options: Mapping[str, Any],
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Answer | None:
        """The answer to `prompt`, held to `schema` by the server; None if it was cancelled between two attempts.

        ModelError if the server cannot be had or refuses, ModelNotFound if it has no such model.
        """
        body: dict[str, Any] = {"model": self._model, "messages": [{"role": "user", "content": prompt}], **options}
        if schema is not None:
            held = {"name": name, "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": held}
        for attempt in range(self._retries + 1):
            if cancelled():
                return None
            response, fault = self._send(body)
            if response is not None and response.is_success:
                return _answer(response, self._url)
            if response is not None and response.status_code not in AGAIN:
                raise self._refused(response)
            if attempt < self._retries:
                self._sleep(_wait_s(attempt, response))
        raise ModelError(f"The server {self._url} gave no answer in {self._retries + 1} attempts ({fault}); see to it.")

    def _send(self, body: Mapping[str, Any]) -> tuple[httpx2.Response | None, str]:
        """The response, or None and why there is none."""
        try:
            response = self._client.post(self._url, json=body)
        except httpx2.HTTPError as exc:
            return None, str(exc) or type(exc).__name__
        return response, f"status {response.status_code}: {_reason(response)}"

    def _refused(self, response: httpx2.Response) -> ModelError:
        reason = _reason(response)
        if response.status_code == 404:
            return ModelNotFound(f"The server {self._url} has no model {self._model!r} ({reason}); check --model.")
        if response.status_code in (401, 403):
            return ModelError(f"The server {self._url} wants a key ({reason}); set LOOKSTRUCT_API_KEY to one.")
        if "context" in reason.lower() and "length" in reason.lower():
            return ContextOverflow(f"The page is too long for the server's model ({reason}); lower --context.")
        return ModelError(f"The server {self._url} refused with status {response.status_code} ({reason}).")

    def close(self) -> None:
        """Lets go of connections."""
        self._client.close()


def _answer(response: httpx2.Response, url: str) -> Answer:
    try:
        body = response.json()
        choice = body["choices"][0]
        usage = body.get("usage") or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        text = choice["message"].get("content") or ""
        counts = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0), int(cached)
        return Answer(str(text), str(choice.get("finish_reason") or "stop"), *counts)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as exc:
        raise ModelError(
            f"The server {url} answered with something that is no chat completion ({response.text[:80]!r}); "
            "check --base-url, which ends in /v1 at most servers."
        ) from exc


def _reason(response: httpx2.Response) -> str:
    """What the server says went wrong."""
    try:
        error = response.json().get("error")
        text = error.get("message") if isinstance(error, dict) else error
    except (ValueError, AttributeError):
        text = None
    return " ".join(str(text or response.text or response.reason_phrase).split())[:300]


def _wait_s(attempt: int, response: httpx2.Response | None) -> float:
    """As long as the server asks for, else doubled each time, with some chance in it: many should not come at once."""
    asked = response.headers.get("Retry-After", "") if response is not None else ""
    if asked.replace(".", "", 1).isdigit():
        return min(float(asked), LONGEST_WAIT_S)
    return min(0.5 * float(2**attempt) * (1 + random.random()), LONGEST_WAIT_S)
