"""NuExtract 1 and 1.5 (NuMind): an empty template and the text between the model's own marks, no chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookstruct.pipeline.profiles.base import Profile
from lookstruct.pipeline.profiles.template import empty, template_text

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema


def _before(schema: Schema) -> str:
    return f"{template_text(schema, empty)}\n### Text:\n"


NUEXTRACT1 = Profile(
    "nuextract-1.5", "nuextract", _before, lambda _: "", turn=("<|input|>\n### Template:\n", "\n\n<|output|>")
)
