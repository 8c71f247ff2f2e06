"""Raw text of a page -> text as it reads: white space collapsed, invisible characters gone."""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    "["
    "\u00ad"  # soft hyphen
    "\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u3164\uffa0"  # joiners and fillers that print nothing
    "\u200b\u200e\u200f"  # zero-width space, direction marks
    "\u202a-\u202e\u2060-\u206f"  # direction embeddings, word joiner, invisible operators
    "\ufeff\ufff9-\ufffb"  # byte order mark, annotation anchors
    "\U000e0000-\U000e0fff"  # tags and supplementary variation selectors: whole hidden sentences fit in them
    "]"
)
# Zero-width (non-)joiners shape Arabic and Indic words and join emoji; beside Latin, Greek or Cyrillic they hide.
_JOINER = re.compile("(?<![\u0600-\u1fff\u2190-\U0001ffff])[\u200c\u200d]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


def strip_invisible(text: str) -> str:
    """Without the characters that take no room on the screen (zero-width, direction marks, controls).

    >>> strip_invisible("to\u200btal\u00ad ﻿12")
    'total 12'
    """
    if text.isascii():
        return _CONTROL.sub("", text)
    return _JOINER.sub("", _INVISIBLE.sub("", _CONTROL.sub("", text)))


def collapse(text: str) -> str:
    """One space for each run of white space, none at the ends; no-break spaces count as white space.

    >>> collapse("  1\u00a0226,00 \\n €")
    '1 226,00 €'
    """
    return " ".join(text.split())
