"""Schematron (Inference.net), 3B and 8B on Llama 3: a JSON Schema, the cleaned HTML, and a reminder, as published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookstruct.pipeline.profiles.base import Profile, schema_text
from lookstruct.pipeline.profiles.html_view import show_html

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema

TASK = (
    "You are going to be given a JSON schema following the standardized JSON Schema format. You are going to be given "
    "a HTML page and you are going to apply the schema to the HTML page however you see it as applicable and return "
    "the results in a JSON object. The schema is as follows:"
)


def _before(schema: Schema) -> str:
    return f"{TASK}\n\n{schema_text(schema)}\n\nHere is the HTML page:\n\n"


SCHEMATRON = Profile(
    "schematron",
    "schematron",
    _before,
    lambda _: "\n\nMAKE SURE ITS VALID JSON.",
    system="You are a helpful assistant",
    view=show_html,
)
