"""`Completion` -> HTML that draws the decode: a row for each forward, a cell for each token, coloured by source.

The page stands alone: no script, nothing fetched. Its text is escaped: what a model writes comes from web pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from math import exp

from lookstruct.decoding.request import Completion, Step

COLOURS = {
    "model": "#ffffff",
    "forced": "#e4e4e4",
    "schema": "#cfe3ff",
    "page": "#c9efc9",
    "values": "#ffe2a8",
    "arrays": "#e6d3ff",
    "records": "#ffd0d8",
    "window": "#bdeeee",
}
OTHER = "#f3dcc0"
"""A source that another package added."""
MEANING = {"model": "nobody guessed it", "forced": "the grammar left no choice"}
VISIBLE = {"\n": "⏎", "\t": "⇥", "\r": "␍"}
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #1a1a1a; background: #fafafa; }
h1 { font-size: 1.3rem; margin: 0 0 .3rem; }
ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; margin: .8rem 0 1.2rem; }
b { display: inline-block; border: 1px solid #b5b5b5; border-radius: 3px; background: var(--c); font-weight: normal; }
ul b { width: 1.1em; height: 1.1em; vertical-align: -.2em; margin-right: .35em; }
table { border-collapse: collapse; }
th { text-align: right; font-weight: normal; color: #666; padding: .1rem .6rem; vertical-align: top; }
thead th { border-bottom: 1px solid #ccc; white-space: nowrap; }
td { padding: .1rem 0; direction: ltr; }
td b { font: 13px/1.5 ui-monospace, monospace; white-space: pre; unicode-bidi: isolate; padding: 0 .25em;
  margin: 0 .15em .15em 0; min-width: .6em; }
"""


def trace_html(completion: Completion) -> str:
    """The whole page. The tokens that the grammar forces stand in the row of the forward that takes them along."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><title>Decode trace</title>',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<style>{STYLE}</style></head><body>",
            "<h1>One row a forward, one cell a token</h1>",
            f"<p>{_summary(completion)}</p>",
            f"<ul>{''.join(_legend(completion))}</ul>",
            "<table><thead><tr><th>forward<th>drafted<th>tokens<th></thead><tbody>",
            *_rows(completion),
            "</tbody></table></body></html>\n",
        ]
    )


def _summary(completion: Completion) -> str:
    n_tokens, n_forwards = len(completion.token_ids), len(completion.steps)
    rate = f" ({n_tokens / n_forwards:.1f} a forward)" if n_forwards else ""
    nodes = sum(step.nodes for step in completion.steps)
    accepted = sum(completion.stats.accepted.values())
    return (
        f"{n_tokens} tokens in {n_forwards} forwards{rate}; {accepted} of {nodes} drafted tokens came true; "
        f"prefill {completion.stats.prefill_s:.2f} s, decode {completion.stats.decode_s:.2f} s; "
        f"ended by {escape(completion.finish_reason)}."
    )


def _legend(completion: Completion) -> Iterator[str]:
    counts = Counter(completion.sources)
    for source in sorted(counts, key=lambda name: (list(COLOURS).index(name) if name in COLOURS else 99, name)):
        meaning = f" ({MEANING[source]})" if source in MEANING else ""
        yield f"<li>{_cell('', source, '')}{escape(source)}{meaning}: {counts[source]}</li>"


def _rows(completion: Completion) -> Iterator[str]:
    """Each forward with the tokens from the end of the one before to its own end; then what was forced at last."""
    ends = [0, *(step.start + step.accepted for step in completion.steps)]
    for number, ((first, end), step) in enumerate(zip(pairwise(ends), completion.steps, strict=True), 1):
        yield _row(completion, str(number), step, range(first, end))
    if ends[-1] < len(completion.pieces):
        yield _row(completion, "–", None, range(ends[-1], len(completion.pieces)))


def _row(completion: Completion, label: str, step: Step | None, tokens: range) -> str:
    cells = "".join(_token(completion, i) for i in tokens)
    return f"<tr><th>{label}<th>{step.nodes if step else 0}<th>{len(tokens)}<td>{cells}</tr>"


def _token(completion: Completion, i: int) -> str:
    source, piece = completion.sources[i], completion.pieces[i]
    hover = f"token {completion.token_ids[i]}, {source}, probability {exp(completion.logprobs[i]):.3f}"
    return _cell(shown(piece) if piece else "∎", source, hover)


def _cell(text: str, source: str, hover: str) -> str:
    return f'<b style="--c:{COLOURS.get(source, OTHER)}" title="{escape(hover)}">{escape(text)}</b>'


def shown(piece: bytes) -> str:
    r"""A token's bytes as something that can be seen: halves of characters and marks without ink are spelled out.

    >>> shown(b"a\n"), shown(b"\xc3"), shown("\u202e".encode())
    ('a⏎', '\\xc3', '\\u202e')
    """
    return "".join(_ink(char) for char in piece.decode("utf-8", "backslashreplace"))


def _ink(char: str) -> str:
    return VISIBLE.get(char) or (char if char.isprintable() else char.encode("unicode_escape").decode())
