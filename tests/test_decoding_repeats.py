"""A list that goes round in circles is ended; equal rows that a page may well have are not."""

from __future__ import annotations

import json

import pytest
import tiny

from lookstruct.decoding.constraint import Grammar, GrammarCompiler, has_bit
from lookstruct.decoding.repeats import RepeatGuard
from lookstruct.decoding.vocabulary import Vocabulary

VOCABULARY = Vocabulary(tiny.tokenizer(), tiny.WIDTH, [2])


def guarded(text: bytes) -> bool:
    """Whether the guard, having seen `text`, forbids every token that begins with a comma."""
    guard = RepeatGuard(VOCABULARY)
    for byte in text:
        guard.feed(bytes([byte]))
    full = ~(GrammarCompiler(VOCABULARY).start(Grammar.regex("x")).mask() & 0)
    narrowed = guard.narrow(full)
    return not has_bit(narrowed, VOCABULARY.ids[b","])


def listed(items: list[object]) -> bytes:
    return json.dumps({"lines": items}, ensure_ascii=False)[:-2].encode()


A, B, C = ({"name": name, "price": 1} for name in "abc")


@pytest.mark.parametrize("items", [[A, A, A], [C, A, A, A], [A, B, A, B, A, B], [C, A, B, B, A, B, B, A, B, B]])
def test_a_cycle_of_items_is_ended_after_its_third_round(items: list[object]) -> None:
    assert guarded(listed(items))


@pytest.mark.parametrize("items", [[A], [A, A], [A, B, A, B], [A, B, C, A, B], [A, A, B, A, A, C, A, A], []])
def test_a_few_equal_rows_are_left_alone(items: list[object]) -> None:
    assert not guarded(listed(items))


def numbered(n: int) -> list[object]:
    return [{"name": f"item {i}", "price": i} for i in range(n)]


@pytest.mark.parametrize("n", [8, 9, 20, 64])
def test_a_long_cycle_is_ended_after_its_second_round(n: int) -> None:
    """A programme of nine events was once written over and over until the limit."""
    assert guarded(listed([A, *numbered(n), *numbered(n)]))
    assert not guarded(listed([A, *numbered(n), *numbered(n)[:-1]]))


@pytest.mark.parametrize("n", [1, 3, 7])
def test_two_rounds_of_a_short_cycle_may_be_two_tables_of_a_page(n: int) -> None:
    assert not guarded(listed([*numbered(n), *numbered(n)]))


def test_strings_count_as_items_and_another_list_is_counted_on_its_own() -> None:
    assert guarded(b'{"lines": [], "tags": ["x", "x", "x"')
    assert not guarded(b'{"lines": [], "tags": ["x", "x"], "more": ["x"')


def test_the_comma_is_forbidden_inside_the_token_that_would_end_the_last_item() -> None:
    """A token such as `},` ends the third item and opens a fourth at once: it must not slip through."""
    guard = RepeatGuard(VOCABULARY)
    guard.feed(listed([A, A]) + b', {"name": "a", "price": 1')
    full = ~(GrammarCompiler(VOCABULARY).start(Grammar.regex("x")).mask() & 0)
    narrowed = guard.narrow(full)
    joined = [i for piece, i in VOCABULARY.ids.items() if piece.startswith(b"},")]
    assert joined, "the tokenizer has such a token"
    assert not any(has_bit(narrowed, i) for i in joined)
    assert has_bit(narrowed, VOCABULARY.ids[b"}"])
    assert guard.stopped


def test_what_only_a_comma_could_follow_is_not_narrowed_to_nothing() -> None:
    guard = RepeatGuard(VOCABULARY)
    guard.feed(listed([A, A, A]))
    only_comma = GrammarCompiler(VOCABULARY).start(Grammar.regex(",x")).mask()
    assert (guard.narrow(only_comma) == only_comma).all()
