"""Text -> token ids in which nothing is a control token, whatever the text spells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any


class PlainText:
    """Encodes text for one tokenizer as text only: no special token is added, and none is recognised.

    `split_special_tokens` keeps the tokenizer from reading `<|im_end|>` as the end of a turn, but not from reading
    added tokens that it does not call special, such as `<tool_call>`: those are cut after their first character.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._controls = control_pattern(tokenizer)

    def ids(self, text: str) -> list[int]:
        """Token ids of `text`."""
        found: list[int] = []
        for piece in cut_inside(text, self._controls):
            found += self._tokenizer(piece, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return found


def control_pattern(tokenizer: Any) -> re.Pattern[str] | None:
    """What spells an added token; runs of spaces are text even where a tokenizer adds them as tokens."""
    contents = {token.content for token in tokenizer.added_tokens_decoder.values()} | set(tokenizer.all_special_tokens)
    spelled = sorted((text for text in contents if len(text) > 1 and text.strip()), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, spelled))) if spelled else None


def cut_inside(text: str, controls: re.Pattern[str] | None) -> Iterator[str]:
    """`text` in pieces, cut inside each look-alike of a control token.

    >>> list(cut_inside("a <b> c", re.compile("<b>")))
    ['a <', 'b> c']
    """
    at = 0
    for found in controls.finditer(text) if controls is not None else ():
        yield text[at : found.start() + 1]
        at = found.start() + 1
    if at < len(text):
        yield text[at:]
