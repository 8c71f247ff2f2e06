"""NuExtract 2 and later (NuMind): a template with the type of each value, then the text, in one user turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookstruct.pipeline.profiles.base import Profile
from lookstruct.pipeline.profiles.template import template_text, typed

if TYPE_CHECKING:
    from lookstruct.schemas.loader import Schema


def _before(schema: Schema) -> str:
    """What the model's own chat template makes of its argument `template`, written out."""
    return f"# Template:\n{template_text(schema, typed)}\n# Context:\n"


NUEXTRACT = Profile("nuextract", r"nuextract[-_ ]?v?([2-9]|\d\d)", _before, lambda _: "")
