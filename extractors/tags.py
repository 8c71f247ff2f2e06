"""How HTML elements flow by default: which start a line, which are never read, which hold a value."""

from __future__ import annotations

MARK_HIDDEN = "data-lookstruct-hidden"
"""Set by the browser snapshot on elements it computed as invisible; the value names the reason."""

MARK_FLOW = "data-lookstruct-flow"
"""Set by the browser snapshot where an element flows otherwise than its tag does by default: "block" or "inline"."""

BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav", "ol",
    "optgroup", "p", "plaintext", "pre", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul", "xmp",
})  # fmt: skip
"""Elements that begin and end a line."""

HEADINGS = {f"h{level}": level for level in range(1, 7)}

LISTS = frozenset({"ul", "ol", "menu", "dir"})

PREFORMATTED = frozenset({"pre", "listing", "xmp", "plaintext"})

DROPPED = frozenset({
    "annotation", "applet", "area", "audio", "base", "basefont", "canvas", "col", "colgroup", "datalist", "defs",
    "desc", "frame", "iframe", "link", "map", "meta", "metadata", "noembed", "noframes",
    "noscript", "object", "param", "rp", "script", "style", "symbol", "template", "title", "video",
})  # fmt: skip
"""Elements whose content nobody sees: code, data for the machine, fallbacks for browsers of the past.

Void elements that libxml2 does not know (`source`, `embed`, `track`) are not among them: it puts what follows inside.
`head` is not either: where a page leaves out its `body` tag, libxml2 leaves elements newer than HTML 4 in the head.
"""

SCRIPTED_POSITION = frozenset({"sup", "sub"})
"""Elements set off from their neighbours by position alone, not by a space."""

SECTIONING = frozenset({"main", "article", "section", "nav", "aside", "form", "header", "footer", "table"})
