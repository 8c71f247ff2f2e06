"""ReaderLM-v2 (Jina AI), 1.5B: HTML in a code fence, then the JSON Schema in another, as published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookstruct.pipeline.profiles.base import Profile, schema_text
from lookstruct.pipeline.profiles.html_view import show_html

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema

TASK = (
    "Extract the specified information from a list of news threads and present it in a structured JSON format."
    "\n```html\n"
)
"""The model was trained on these words, whatever the page is about."""


def _after(schema: Schema) -> str:
    return f"\n```\nThe JSON schema is as follows:```json\n{schema_text(schema)}\n```"


READERLM = Profile("readerlm-v2", "reader-?lm-?v2", lambda _: TASK, _after, view=show_html)
