"""Document + Schema -> token ids: a prefix that is the same for every page, the page, and the turn's end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.plaintext import PlainText
from lookstruct.pipeline.profiles.general import GENERAL
from lookstruct.pipeline.view import PageView, Remark, worth_showing
from lookstruct.schemas.document import Span
from lookstruct.schemas.errors import ContextOverflow

if TYPE_CHECKING:
    from lookstruct.pipeline.profiles.base import Profile
    from lookstruct.schemas.document import Block, Document
    from lookstruct.schemas.loader import Schema

OWN_DATA = "\n\nData that the page carries about itself:\n"
PLAIN_CUE = "\n\nRecord as JSON:\n"
"""What opens the answer of a model without a chat template."""
MARK = "<<content of this turn>>"
"""Stands for the turn's text while the chat template is rendered; never reaches the model."""
MIN_PAGE_TOKENS = 32
MAX_CHARS_PER_TOKEN = 16
"""No page's tokens are longer than this on average: a cheap bound before counting."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is asked, and the view of the page inside it.

    `ids[:n_prefix]` is the same for every page of one schema and model. `n_chars_cut` is how much of the page's text
    did not fit.
    """

    ids: tuple[int, ...]
    n_prefix: int
    view: PageView
    n_chars_cut: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around a user's turn, as token ids: `before` opens it, `after` closes it and opens the answer."""

    before: tuple[int, ...]
    after: tuple[int, ...]


class Prompter:
    """Builds prompts for one tokenizer, in the words of a profile (`pipeline/profiles`)."""

    def __init__(self, tokenizer: Any, profile: Profile = GENERAL, *, thinks: bool = False) -> None:
        self._plain = PlainText(tokenizer)
        self._profile = profile
        self.frame = frame_of(tokenizer, profile, thinks=thinks)

    def build(
        self,
        document: Document,
        schema: Schema,
        budget: int,
        max_page_tokens: int = 8192,
        remarks: Sequence[Remark] = (),
        own_data: str = "",
    ) -> Prompt:
        """The prompt for one page, at most `budget` tokens: a longer page is cut at the edge of a block.

        `remarks` are shown in their places on the page, `own_data`, what the page says about itself, behind it.
        ContextOverflow if the schema alone leaves no room for a page.
        """
        prefix, own, end = self._prefix(schema), self._own(own_data), self.end(schema)
        fits = self.fits(document, schema, budget, max_page_tokens, remarks, own_data)
        blocks = worth_showing(document)
        kept = cut_to_fit(blocks, fits)
        view = self._profile.view(document, kept, remarks=remarks, links=wants_links(schema.grammar_schema))
        ids = (*prefix, *self._plain.ids(view.text), *own, *end)
        return Prompt(ids, len(prefix), view, _n_chars(blocks) - _n_chars(kept))

    def fits(
        self,
        document: Document,
        schema: Schema,
        budget: int,
        max_page_tokens: int,
        remarks: Sequence[Remark] = (),
        own_data: str = "",
        share: int = 1,
    ) -> Callable[[Sequence[Block]], bool]:
        """Says of some blocks of the document whether a prompt of `budget` tokens has room for them together.

        `share` 4 gives them a quarter of the page's room.
        """
        n_prefix = len(self._prefix(schema))
        room = budget - n_prefix - len(self._own(own_data)) - len(self.end(schema))
        if room < MIN_PAGE_TOKENS:
            raise ContextOverflow(
                f"The question for {schema.name} takes {n_prefix} of {budget} tokens and leaves no room for the "
                "page; use a model with a longer context, a smaller schema, or a smaller --max-new-tokens."
            )
        room, links, view = min(room, max_page_tokens) // share, wants_links(schema.grammar_schema), self._profile.view
        return lambda blocks: self._holds(view(document, blocks, remarks=remarks, links=links).text, room)

    def _prefix(self, schema: Schema) -> tuple[int, ...]:
        """What every prompt for a schema begins with."""
        return (*self.frame.before, *self._plain.ids(self._profile.before(schema)))

    def end(self, schema: Schema) -> tuple[int, ...]:
        """What follows the page."""
        return (*self._plain.ids(self._profile.after(schema)), *self.frame.after)

    def _own(self, data: str) -> tuple[int, ...]:
        return tuple(self._plain.ids(OWN_DATA + data)) if data else ()

    def _holds(self, text: str, room: int) -> bool:
        """Whether `text` takes at most `room` tokens; one far too long is not even counted."""
        return len(text) <= room * MAX_CHARS_PER_TOKEN and len(self._plain.ids(text)) <= room


def wants_links(schema: Any) -> bool:
    """Whether some field of the schema holds a URL, so that the page's addresses must be shown.

    >>> wants_links({"properties": {"url": {"type": "string", "format": "uri"}}})
    True
    """
    if isinstance(schema, Mapping):
        is_url = schema.get("format") in ("uri", "uri-reference", "iri") or schema.get("x-source") == "link"
        return is_url or any(map(wants_links, schema.values()))
    return isinstance(schema, list) and any(map(wants_links, schema))


def cut_to_fit(blocks: Sequence[Block], fits: Callable[[Sequence[Block]], bool]) -> tuple[Block, ...]:
    """The first blocks that fit together; of a first block that does not, its beginning."""
    n_kept = _largest(len(blocks), lambda n: fits(blocks[:n]))
    if n_kept or not blocks:
        return tuple(blocks[:n_kept])
    n_chars = _largest(len(blocks[0].span), lambda n: fits([_beginning(blocks[0], n)]))
    return (_beginning(blocks[0], n_chars),)


def _largest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest n in [0, most] for which `holds(n)`, given that it holds for all below."""
    if holds(most):
        return most
    return bisect_left(range(1, most + 1), True, key=lambda n: not holds(n))


def _beginning(block: Block, n_chars: int) -> Block:
    return replace(block, span=Span(block.span.start, block.span.start + n_chars))


def _n_chars(blocks: Sequence[Block]) -> int:
    return sum(len(block.span) for block in blocks)


def frame_of(tokenizer: Any, profile: Profile, *, thinks: bool = False) -> Frame:
    """What stands around a user's turn: the profile's own marks, the model's chat template, or a completion prompt.

    `thinks` leaves it to the model to think before it answers.
    """
    if profile.turn is not None:
        opened, closed = profile.turn
        return Frame((*_bos(tokenizer), *_template_ids(tokenizer, opened)), _template_ids(tokenizer, closed))
    if getattr(tokenizer, "chat_template", None):
        return chat_frame(tokenizer, profile.system, thinks=thinks)
    return Frame(_bos(tokenizer), _template_ids(tokenizer, PLAIN_CUE))


def chat_frame(tokenizer: Any, system: str | None = None, *, thinks: bool = False) -> Frame:
    """The model's own chat template around one user turn, thinking switched on or off where the template can."""
    first = [{"role": "system", "content": system}] if system else []
    rendered = str(
        tokenizer.apply_chat_template(
            [*first, {"role": "user", "content": MARK}],
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=thinks,
        )
    )
    before, _, after = rendered.partition(MARK)
    opening = after if thinks else _without_thought(after)
    return Frame(_template_ids(tokenizer, before), _template_ids(tokenizer, opening))


def _bos(tokenizer: Any) -> tuple[int, ...]:
    """A BOS token where the tokenizer begins texts with one."""
    bos = tokenizer.bos_token_id
    return (bos,) if bos is not None and bos in tokenizer("")["input_ids"] else ()


def _without_thought(opening: str) -> str:
    """The opening of an answer; a thought that the template leaves open is closed, empty.

    >>> _without_thought("<assistant><think>")
    '<assistant><think>\\n\\n</think>\\n\\n'
    """
    return opening.rstrip() + "\n\n</think>\n\n" if opening.rstrip().endswith("<think>") else opening


def _template_ids(tokenizer: Any, text: str) -> tuple[int, ...]:
    """Ids of the template's own text, in which control tokens are meant."""
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
