"""What changed between two records, and what is only noise; signs of a rebuilt page."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.pipeline.jobs.changes import Change, diff
from lookstruct.pipeline.jobs.drift import Metrics, find_drops, find_vanished, measure

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (2879.2, 2879.20),
        (5, 5.0),
        ("€ 2879.2", "€ 2879.20"),
        ("$1,200.00", "$1,200"),
        ("two  words", "two\u00a0words"),
        ("caf\u00e9", "cafe\u0301"),
        (None, ""),
        ({"a": 1, "b": None}, {"a": 1}),
        (0.1 + 0.2, 0.3),
    ],
)
def test_another_spelling_is_no_change(old: Any, new: Any):
    assert diff({"field": old}, {"field": new}) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("1.1", "1.10"), ("007", "7"), (True, 1), ("12", 12), ("€ 2879.2", "€ 2879.02"), ("a", "A"), (0, None)],
)
def test_another_value_is_a_change(old: Any, new: Any):
    assert len(diff({"field": old}, {"field": new})) == 1


def test_changes_name_their_field_and_both_values():
    old = {"seller": {"name": "Acme", "vat/no": "1"}, "total": 10.0}
    new = {"seller": {"name": "Acme Ltd", "vat/no": None}, "total": 10.0, "due": "2025-01-01"}
    assert diff(old, new) == [
        Change("/seller/name", "changed", "Acme", "Acme Ltd"),
        Change("/seller/vat~1no", "removed", before="1"),
        Change("/due", "added", after="2025-01-01"),
    ]


def test_an_item_put_in_front_changes_no_other():
    old = {"lines": [{"a": 1}, {"a": 2}]}
    assert diff(old, {"lines": [{"a": 0}, {"a": 1}, {"a": 2}]}) == [Change("/lines/0", "added", after={"a": 0})]
    assert diff(old, {"lines": [{"a": 1}]}) == [Change("/lines/1", "removed", before={"a": 2})]
    assert diff(old, {"lines": [{"a": 1}, {"a": 3}]}) == [Change("/lines/1/a", "changed", 2, 3)]


@given(VALUES)
def test_nothing_differs_from_itself(value: Any):
    assert diff(value, value) == []


@given(VALUES, VALUES)
def test_a_difference_one_way_is_one_the_other_way(one: Any, other: Any):
    assert bool(diff(one, other)) == bool(diff(other, one))


def test_a_vanished_field_is_reported_with_where_it_stood():
    evidence = {"/price": {"dom_path": "html > p.price", "text": "45.50 EUR"}}
    found = find_vanished("page", {"name": "Lamp", "price": 45.5}, evidence, {"name": "Lamp", "price": None})
    assert found == [
        "page: the field /price vanished; it was '45.5' at html > p.price ('45.50 EUR'): "
        "the page's layout may have changed."
    ]


def test_a_field_that_left_every_item_of_a_list_has_vanished_but_an_item_has_not():
    old = {"lines": [{"sku": "a", "price": 1.0}, {"sku": "b", "price": 2.0}]}
    assert find_vanished("k", old, {}, {"lines": [{"sku": "a", "price": 1.0}]}) == []
    gone = find_vanished("k", old, {}, {"lines": [{"sku": "a", "price": None}, {"sku": "b"}]})
    assert len(gone) == 1
    assert "/lines/*/price" in gone[0]
    assert "/lines vanished" in find_vanished("k", old, {}, {"lines": []})[0]


def test_a_field_that_was_empty_before_has_not_vanished():
    assert find_vanished("k", {"a": None, "b": ""}, {}, {}) == []


def metrics(filled: int, confidence: float = 0.9) -> Metrics:
    return Metrics(10, filled, 10, confidence * 10)


def test_a_drop_is_told_against_the_jobs_own_past():
    past = [metrics(9), metrics(10), metrics(9)]
    assert find_drops(metrics(8), past) == []
    assert "share of filled fields fell to 0.50; it was 0.90" in find_drops(metrics(5), past)[0]
    assert "mean confidence fell to 0.40" in find_drops(metrics(9, 0.4), past)[0]


def test_a_job_that_was_always_sparse_has_no_drop_and_one_without_past_has_none():
    assert find_drops(metrics(3), [metrics(3), metrics(9), metrics(9)]) == []
    assert find_drops(metrics(0), [metrics(9), metrics(9)]) == []
    assert find_drops(Metrics(), [metrics(9)] * 5) == []


def test_metrics_count_leaves_and_told_confidences():
    measured = measure([({"a": 1, "b": [None, "x"]}, {"/a": {"confidence": 0.5}, "/b/1": {"confidence": None}})])
    assert measured == Metrics(3, 2, 1, 0.5)
    assert (measured + measured).confidence == 0.5
