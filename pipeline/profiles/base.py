"""What a model is used to being asked (`Profile`): the words around the page, and the form of the page between them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lookstruct.pipeline.view import PageView, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookstruct.pipeline.view import Remark
    from lookstruct.schemas.document import Block, Document
    from lookstruct.schemas.loader import Schema

Words = Callable[["Schema"], str]


class View(Protocol):
    """A form of the page: text, and the way back from it to the document."""

    def __call__(
        self, document: Document, blocks: Sequence[Block], *, remarks: Sequence[Remark] = (), links: bool = False
    ) -> PageView:
        """The view of `blocks`."""
        ...


@dataclass(frozen=True, slots=True)
class Profile:
    """How the models of one kind are asked.

    `models` is looked for in a model's name, in any case. `before` and `after` are the words around the page in the
    user's turn; what stands around the turn is the model's own chat template, or `turn` if the kind has its own: the
    text that opens it, and the text that closes it and opens the answer. `system` is the system message, if any.
    """

    name: str
    models: str
    before: Words
    after: Words
    system: str | None = None
    turn: tuple[str, str] | None = None
    view: View = show

    def knows(self, model: str) -> bool:
        """Whether a model's name is one of its kind."""
        return bool(self.models) and re.search(self.models, model, re.IGNORECASE) is not None


def schema_text(schema: Schema) -> str:
    """The user's JSON Schema as JSON text, without keywords of ours.

    >>> from lookstruct.schemas.loader import load_schema
    >>> '"x-source"' in schema_text(load_schema("Receipt"))
    False
    """
    return json.dumps(_plain(schema.json_schema), ensure_ascii=False)


def _plain(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {key: _plain(value) for key, value in node.items() if not str(key).startswith("x-")}
    return [_plain(value) for value in node] if isinstance(node, list | tuple) else node
