"""The record so far and its places on the page."""

from __future__ import annotations

from lookstruct.decoding.guessing.page_text import PageText
from lookstruct.decoding.guessing.progress import Progress
from lookstruct.decoding.request import Hints

PAGE = PageText("# Shop\nName: Lamp\nNet: 12.50\nTotal: 15.00\nName: Lamp")


def after(text: str) -> Progress:
    progress = Progress(Hints(), PAGE)
    progress.update(text.encode())
    return progress


def test_finished_values_are_known_with_their_places():
    done = after('{"name": "Lamp", "net": 12.50, "to').done
    assert done["name",].start == PAGE.text.index("Lamp")
    assert done["net",].start == PAGE.text.index("12.50")
    assert set(done) == {("name",), ("net",)}


def test_the_place_moves_with_the_values():
    assert after('{"name": "Lamp"').last == PAGE.text.index("Lamp") + 4
    assert after('{"name": "Lamp", "net": 12.50, "name2": "Lamp"').last == len(PAGE.text)


def test_a_value_that_is_not_on_the_page_moves_nothing():
    progress = after('{"name": "Chair"')
    assert progress.done["name",].start is None
    assert progress.last == 0


def test_items_are_kept_by_array():
    progress = after('{"rows": [{"a": 1, "b": "x"}, {"a": 2')
    assert {i: set(item) for i, item in progress.items["rows",].items()} == {0: {("a",), ("b",)}}
    progress.update(b'{"rows": [{"a": 1, "b": "x"}, {"a": 2, ')
    assert set(progress.items["rows",]) == {0, 1}


def test_whether_zeros_are_kept_is_seen_where_the_page_has_some():
    assert after('{"n": 15.00, ').keeps_zeros is True
    assert after('{"n": 15, ').keeps_zeros is False
    assert after('{"n": 99.5, ').keeps_zeros is None


def test_text_in_pieces_and_at_once_come_to_the_same():
    text = '{"name": "Lamp", "net": 12.50, "rows": [1, 2]}'
    progress = Progress(Hints(), PAGE)
    for cut in range(1, len(text) + 1):
        progress.update(text[:cut].encode())
    assert progress.done == after(text).done
    assert progress.last == after(text).last


def test_another_text_starts_afresh():
    progress = after('{"name": "Lamp", "net": 12.50')
    progress.update(b'{"other": "Chair"')
    assert set(progress.done) == {("other",)}
    assert progress.last == 0
