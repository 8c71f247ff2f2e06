"""The picture of a decode shows every token once, in the forward it came from, and runs nothing that a page wrote."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
import tiny

from lookstruct.decoding.constraint import Grammar
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.request import Completion, Hints, Options, Step
from lookstruct.decoding.trace import COLOURS, OTHER, trace_html
from lookstruct.schemas.record import Stats


class Reader(HTMLParser):
    """Text of the cells by row, and every tag and attribute."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self._in_cell = False
        self.feed(html.partition("<tbody>")[2])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._in_cell = tag == "b"
        if tag == "tr":
            self.rows.append([])
        if tag == "b":
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data


def completion(pieces: list[bytes], steps: list[Step], sources: list[str] | None = None) -> Completion:
    n = len(pieces)
    return Completion("", list(range(n)), [0.0] * n, "eos", Stats(), sources or ["page"] * n, pieces, steps)


def test_tokens_stand_in_the_row_of_their_forward_with_those_forced_before_it() -> None:
    made = completion([b"a", b"b", b"c", b"d", b"e"], [Step(3, 2, 1, 1), Step(1, 0, 2, 2)])
    assert Reader(trace_html(made)).rows == [["a", "b"], ["c", "d"], ["e"]]


def test_every_token_of_a_real_decode_is_drawn_once() -> None:
    engine = Engine(tiny.model("llama"), tiny.tokenizer(), cost=CostModel.free())
    prompt = "Invoice number INV-2024-0017 for the quick brown fox. "
    made = engine.generate(
        tiny.tokenizer()(prompt)["input_ids"],
        grammar=Grammar.regex("Invoice number INV-2024-0017 for (the|a) [a-z]{3,9}"),
        hints=Hints(page=prompt),
        options=Options(max_new_tokens=60),
    )
    rows = Reader(trace_html(made)).rows
    assert sum(map(len, rows)) == len(made.token_ids)
    assert "".join(cell for row in rows for cell in row).removesuffix("∎") == made.text
    assert len(rows) - len(made.steps) in (0, 1)


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><b onclick=x>", "&lt;i&gt;"]
)
def test_hostile_text_is_text(hostile: str) -> None:
    read = Reader(trace_html(completion([hostile.encode()], [Step(1, 0, 1, 0)], [hostile])))
    assert read.rows == [[hostile]]
    assert read.tags <= {"tr", "th", "td", "b"}
    assert read.attributes <= {"style", "title"}


def test_bytes_that_are_no_character_and_marks_without_ink_are_spelled_out() -> None:
    pieces = [b"\xe6\x9d", "\u202e".encode(), b"\n", "\u200b".encode(), "東".encode(), b""]
    read = Reader(trace_html(completion(pieces, [Step(1, 0, 6, 0)])))
    assert read.rows == [["\\xe6\\x9d", "\\u202e", "⏎", "\\u200b", "東", "∎"]]


def test_each_source_has_its_colour_and_its_count() -> None:
    html = trace_html(completion([b"a"] * 4, [Step(1, 0, 4, 0)], ["page", "page", "model", "theirs"]))
    legend = re.findall(r"<li><b style=\"--c:(#\w+)\"[^>]*></b>([^<]*)</li>", html)
    assert legend == [
        (COLOURS["model"], "model (nobody guessed it): 1"),
        (COLOURS["page"], "page: 2"),
        (OTHER, "theirs: 1"),
    ]


def test_nothing_is_fetched_and_no_script_runs() -> None:
    html = trace_html(completion([b"a"], [Step(1, 0, 1, 0)]))
    assert "default-src 'none'" in html
    assert not re.search(r"<script|https?://|\bsrc=|\bhref=|@import|url\(", html)


def test_a_decode_without_tokens_is_an_empty_picture() -> None:
    assert Reader(trace_html(completion([], []))).rows == []
