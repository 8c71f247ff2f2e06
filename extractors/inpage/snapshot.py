"""The script that reads a rendered page inside the browser: live DOM -> HTML text that carries what only CSS knows.

What it writes is the flattened page: open shadow roots stand in place of their hosts' children, frames as
`lookstruct-frame` elements where their `iframe` stood (`snapshot` fills in those of other origins), form controls with
their present values. Code and styles are left out. Two attributes carry the layout (`tags.MARK_HIDDEN`,
`tags.MARK_FLOW`), and a space or a `br` is added where neighbouring inline texts stand apart on the screen without one
in the markup.

Hidden means, by computed style: `display: none`, `content-visibility: hidden`, the folded part of a closed `details`,
`visibility`, opacity below 0.05, clipped to nothing, a box of at most one pixel that cuts off what overflows,
off-screen, a font below 3 px, a transparent colour, or to the eye the colour of the background behind it. The mark
stands on the topmost element that is hidden as a whole; hidden text beside visible parts is wrapped in a
`lookstruct-text`.
"""

from __future__ import annotations

from lookstruct.extractors.inpage.layout import LAYOUT
from lookstruct.extractors.inpage.markup import MARKUP
from lookstruct.extractors.inpage.visibility import VISIBILITY
from lookstruct.extractors.inpage.writer import WRITER
from lookstruct.extractors.tags import BLOCKS, MARK_FLOW, MARK_HIDDEN

SNAPSHOT = (
    "(limits) => {"
    + MARKUP
    + VISIBILITY
    + LAYOUT
    + WRITER
    + r"""
  if (limits.inner) {
    if (document.body) writeBody(document, stateOf(viewOf(document)), 0);
  } else {
    out.push("<!DOCTYPE html>\n");
    if (document.documentElement) write(document.documentElement, stateOf(viewOf(document)), 0);
  }
  return { html: out.join(""), nVisible, nNodes, truncated, characterSet: document.characterSet, frames };
}"""
)
SNAPSHOT = (
    SNAPSHOT.replace("@HIDDEN@", MARK_HIDDEN).replace("@FLOW@", MARK_FLOW).replace("@BLOCKS@", " ".join(sorted(BLOCKS)))
)
"""Takes `{nodes, depth, token, inner}`: how much to read at most, the text that stands for the `#`-th frame of another
origin, and whether only what is in the body is wanted, to stand inside another page. Returns `{html, nVisible, nNodes,
truncated, characterSet, frames}`, the last the elements of those frames."""
