"""General chat models, and base models: the question in plain words, the page as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookstruct.pipeline.describe import describe
from lookstruct.pipeline.profiles.base import Profile

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema

TASK = """Read the web page below and fill in the fields of one {name}. Copy each value exactly from the page. If the \
page does not give a value, write null; never guess.

Fields:
{fields}

Web page:
"""
REMINDER = """

End of the page. Now fill in the fields listed at the top, as JSON. A field that the page does not mention is null."""


def task_text(schema: Schema) -> str:
    """The question, the same for every page."""
    return TASK.format(name=schema.name, fields=describe(schema.json_schema))


GENERAL = Profile("general", "", task_text, lambda _: REMINDER)
