"""Confidence: which tokens spell a value, how sure the model was of them, and what that was worth so far."""

from __future__ import annotations

import json
from itertools import pairwise
from math import log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookstruct.pipeline.grounding.confidence import Calibration, fitted, leaf_confidence, with_confidence
from lookstruct.pipeline.grounding.json_places import json_places
from lookstruct.pipeline.leaves import leaves
from lookstruct.schemas.record import Evidence, EvidenceStatus

EXACT, NORMALISED, DERIVED, NONE = EvidenceStatus
PLAIN = Calibration()


def confidence(
    tokens: list[bytes], probabilities: list[float], status: EvidenceStatus = EXACT, **more: Any
) -> dict[str, float]:
    text = b"".join(tokens)[more.get("start", 0) :]
    evidence = {pointer: Evidence(status) for pointer, _ in leaves(json.loads(text))}
    found = leaf_confidence(tokens, [log(p) for p in probabilities], evidence, **more)
    return {pointer: round(value, 6) for pointer, value in found.items()}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


@settings(max_examples=300)
@given(JSON, st.booleans(), st.sampled_from([None, 1]))
def test_every_leaf_is_found_where_json_spells_it(data: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(data, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    places = json_places(text)
    read = {pointer: json.loads(text[a:b].decode("utf-8", "surrogatepass")) for pointer, (a, b) in places.items()}
    assert read == dict(leaves(data))


@settings(max_examples=200)
@given(JSON, st.integers(0, 200))
def test_text_that_is_cut_off_gives_the_leaves_that_were_begun(data: Any, length: int) -> None:
    text = json.dumps(data).encode()
    whole, cut = json_places(text), json_places(text[:length])
    assert all(cut[pointer][0] == whole[pointer][0] for pointer in cut if pointer in whole)


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_odd_text_never_raises(text: bytes) -> None:
    for start, end in json_places(text).values():
        assert 0 <= start <= end <= len(text)


@pytest.mark.parametrize("text", [b"[" * 5000, b'{"a":' * 5000, b"[," * 5000, b"{" * 5000, b"]}" * 5000])
def test_deep_and_broken_nesting_is_survived(text: bytes) -> None:
    assert isinstance(json_places(text), dict)


def test_a_value_is_as_sure_as_all_its_tokens_together() -> None:
    tokens, p = [b'{"a": ', b'"2', b"024", b'"', b', "b": ', b"true", b"}"], [1, 0.5, 0.8, 1, 1, 0.9, 1]
    assert confidence(tokens, p) == {"/a": 0.4, "/b": 0.9}


def test_keys_and_punctuation_do_not_count() -> None:
    assert confidence([b'{"', b"a", b'": ', b"1", b"}"], [0.1, 0.1, 0.1, 1, 0.1]) == {"/a": 1.0}


def test_a_token_that_spells_two_values_counts_for_both() -> None:
    assert confidence([b'["a', b'","b', b'"]'], [1, 0.5, 1]) == {"/0": 0.5, "/1": 0.5}


def test_offsets_count_bytes_not_characters() -> None:
    tokens = ['{"é": "京'.encode(), "都".encode(), b'", "b": ', b"1", b"}"]
    assert confidence(tokens, [1, 0.5, 1, 0.25, 1]) == {"/é": 0.5, "/b": 0.25}


def test_what_was_thought_before_the_json_is_left_out() -> None:
    assert confidence([b'{"x": 1} so ', b'{"a": ', b"2}"], [0.5, 1, 0.25], start=12) == {"/a": 0.25}


def test_a_forced_value_is_certain_and_an_impossible_one_is_not() -> None:
    tokens = [b"[", b"1", b",", b"2", b"]"]
    found = leaf_confidence(tokens, [0, 0, 0, float("-inf"), 0], {"/0": Evidence(EXACT), "/1": Evidence(EXACT)})
    assert found == {"/0": 1.0, "/1": 0.0}


def test_a_value_that_stands_nowhere_is_trusted_less_but_a_null_is_not() -> None:
    assert confidence([b"[", b'"x"', b", ", b"null", b"]"], [1, 0.8, 1, 0.8, 1], NONE) == {"/0": 0.4, "/1": 0.8}


def test_tokens_and_log_probabilities_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="2 tokens came with 1 log-probabilities"):
        leaf_confidence([b"[", b"]"], [0.0], {})


def test_a_calibration_is_a_line_through_its_points() -> None:
    table = Calibration({EXACT: ((0.2, 0.4), (0.8, 0.9))})
    assert [round(table.of(raw, EXACT), 3) for raw in (0.0, 0.2, 0.5, 0.8, 1.0)] == [0.4, 0.4, 0.65, 0.9, 0.9]
    assert table.of(0.3, DERIVED) == 0.3


def test_a_calibration_that_falls_is_refused() -> None:
    with pytest.raises(ValueError, match="must rise"):
        Calibration({EXACT: ((0.2, 0.9), (0.8, 0.4))})


@settings(max_examples=200)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=80), st.integers(1, 12))
def test_fitted_points_always_make_a_calibration(pairs: list[tuple[float, bool]], n_points: int) -> None:
    points = fitted(pairs, n_points)
    table = Calibration({EXACT: points})
    values = [table.of(raw / 20, EXACT) for raw in range(21)]
    assert values == sorted(values)
    assert all(0 <= value <= 1 for value in values)


def test_fitted_points_say_how_often_such_values_were_right() -> None:
    pairs = [(0.9, number % 4 != 0) for number in range(100)]
    assert fitted(pairs, 1) == ((pytest.approx(0.9), 0.75),)


def test_evidence_takes_its_confidence_along() -> None:
    found = with_confidence({"/a": Evidence(EXACT, text="x"), "/b": Evidence(NONE)}, {"/a": 0.5})
    assert (found["/a"].confidence, found["/a"].text, found["/b"].confidence) == (0.5, "x", None)


@given(st.lists(st.tuples(st.sampled_from([0.2, 0.5, 1.0]), st.booleans()), min_size=1, max_size=60))
def test_pairs_of_one_probability_are_one_point_and_points_rise(pairs: list[tuple[float, bool]]) -> None:
    """What is certain was once put into two groups, the wrong ones and the right ones, and so came out as right."""
    points = fitted(pairs, n_points=8)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(points))
    certain = [right for raw, right in pairs if raw == 1.0]
    assert fitted([(1.0, right) for right in certain]) == (((1.0, sum(certain) / len(certain)),) if certain else ())


def test_an_item_that_the_one_before_it_forced_is_as_certain_as_that_one() -> None:
    found = confidence([b'{"a": [', b'"x"', b', "y"', b', "z"', b"]}"], [1.0, 0.7, 1.0, 0.9, 1.0])
    assert found == {"/a/0": 0.7, "/a/1": 0.7, "/a/2": 0.9}
