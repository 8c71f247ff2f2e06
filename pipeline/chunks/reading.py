"""One page being read (`Reading`): what it is read as, who listens, and what was answered so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lookstruct.pipeline.chunks.part import joined

if TYPE_CHECKING:
    from lookstruct.decoding.certificate import Certificate
    from lookstruct.decoding.request import Completion
    from lookstruct.pipeline.question import Facts
    from lookstruct.schemas.document import Document
    from lookstruct.schemas.loader import Schema


@dataclass(slots=True)
class Reading:
    """Grows with each answer. `on_text` gets the answers as they are written, a line each; `on_completion` all of
    them so far as one; `cancel` says whether to stop. `is_cut` if some answer met the token limit for good."""

    document: Document
    schema: Schema
    facts: Facts
    on_text: Callable[[str], None] | None
    on_completion: Callable[[Completion], None]
    cancel: Callable[[], bool]
    completions: list[Completion] = field(default_factory=list)
    certificates: list[Certificate] = field(default_factory=list)
    is_cut: bool = False

    @property
    def n_answers(self) -> int:
        """How many there are."""
        return len(self.completions)

    def text_listener(self) -> Callable[[str], None] | None:
        """Who hears the next answer; the line before it is ended."""
        if self.on_text is not None and self.completions:
            self.on_text("\n")
        return self.on_text

    def heard(self, completion: Completion) -> None:
        """One more answer."""
        self.completions.append(completion)
        self.on_completion(joined(self.completions))
