"""The benchmark's own arithmetic: what counts as equal, how scores add up, what was wrong."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.pipeline.leaves import leaves

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.answers import Answer, Answers
from bench.datasets.recipe_scrapers import DATASET
from bench.datasets.sample import Kind
from bench.quality_report import judge, report, table
from bench.scoring import items_f1, normal, score, total


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (Kind.TEXT, "½ cup  Flour,", "1/2 cup flour"),
        (Kind.TEXT, "Cafe\u0301 Noir", "CAFÉ NOIR"),
        (Kind.DATE, "2022-11-28", "2022-11-28T10:00:00"),
        (Kind.NUMBER, 2879.2, "2879.20"),
        (Kind.DURATION, "PT75M", "PT1H15M"),
        (Kind.DURATION, "P1D", "PT24H"),
        (Kind.COUNT, "8 servings", "Serves 8"),
        (Kind.COUNT, "978-0-316-12558-1", "9780316125581"),
    ],
)
def test_values_that_say_the_same_are_equal(kind: Kind, one: object, other: object) -> None:
    assert normal(one, kind) == normal(other, kind)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (Kind.TEXT, "flour", "1 cup flour"),
        (Kind.DATE, "2022-11-28", "2022-11-20"),
        (Kind.NUMBER, 1.23, 1230),
        (Kind.NUMBER, -5, 5),
        (Kind.DURATION, "PT20M", "PT35M"),
        (Kind.COUNT, "4 to 6 servings", "6 servings"),
    ],
)
def test_values_that_differ_are_not_equal(kind: Kind, one: object, other: object) -> None:
    assert normal(one, kind) != normal(other, kind)


def test_a_scalar_is_right_wrong_or_missed() -> None:
    gold = {"a": "x", "b": "y", "c": "z"}
    right, wrong, missed = score(gold, {"a": "X", "b": "no", "c": None}, {}, gold)
    assert (right.n_right, right.n_missed) == (1, 0)
    assert (wrong.n_given, wrong.n_right, wrong.n_missed) == (1, 0, 0)
    assert (missed.n_given, missed.recall, missed.precision, missed.n_missed) == (0, 0.0, None, 1)


def test_the_items_of_a_list_count_one_by_one_and_each_only_once() -> None:
    (one,) = score({"a": ["x", "y", "z", "z"]}, {"a": ["z", "x", "x"]}, {}, {"a": ["x", "y"]})
    assert (one.n_gold, one.n_given, one.n_right) == (4, 3, 2)
    assert (one.n_visible, one.n_missed) == (2, 1)
    assert items_f1([one]) == pytest.approx(4 / 7)


def test_what_nobody_can_see_is_not_missed() -> None:
    (one,) = score({"a": "x"}, {}, {}, {"a": None})
    assert one.n_missed == 0


def test_fields_count_the_same_however_long_their_lists_are() -> None:
    page = score({"a": "x", "b": [str(n) for n in range(100)]}, {"a": "x", "b": []}, {}, {})
    together = total([page])
    assert (together.precision, together.recall) == (1.0, 0.5)
    assert together.f1 == pytest.approx(2 / 3)


def test_the_interval_holds_the_score_and_is_the_same_each_time() -> None:
    pages = [score({"a": "x"}, {"a": "x" if n % 3 else "y"}, {}, {}) for n in range(12)]
    together = total(pages)
    assert together.low < together.f1 < together.high
    assert together == total(pages)


def test_no_pages_have_no_score() -> None:
    assert total([]).f1 == 0.0


words = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6)


@given(words, words)
def test_no_score_leaves_its_bounds(gold: list[str], given: list[str]) -> None:
    for one in score({"a": gold or ["a"]}, {"a": given}, {}, {}):
        assert 0 <= one.n_right <= min(one.n_gold, one.n_given)


def _answer(**data: object) -> Answer:
    pointers = [pointer for pointer, _ in leaves(data)]
    status, confidence = dict.fromkeys(pointers, "exact"), dict.fromkeys(pointers, 0.9)
    return Answer("ours", "p", data, True, 2.0, 100, 20, 4, status, confidence)


def test_a_report_names_what_was_wanting_and_what_was_surplus() -> None:
    gold = {"name": "Soup", "recipe_ingredient": ["1 leek", "salt"], "total_time": "PT20M"}
    answer = _answer(name="Soup | Site", recipe_ingredient=["1 leek", "pepper"], total_time="PT20M")
    made = report({"ours": [judge(answer, gold, gold, DATASET)]})
    assert [(f["field"], f["wanting"], f["surplus"]) for f in made["faults"]["ours"]] == [
        ("name", ["Soup"], ["Soup | Site"]),
        ("recipe_ingredient", ["salt"], ["pepper"]),
    ]
    assert made["arms"]["ours"]["tokens_per_forward"] == 5.0
    assert made["fields"]["ours"]["recipe-scrapers.total_time"]["f1"] == 1.0
    assert [r["right"] for r in made["reliability"]["ours"]] == [False, True, False, True]
    assert "| ours |" in table(made)


def test_kept_answers_come_back_and_the_last_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    Answers(path).add(_answer(name="Soup"))
    Answers(path).add(_answer(name="Stew"))
    found = Answers(path).get("ours", "p")
    assert found is not None
    assert found.data == {"name": "Stew"}
    assert Answers(path).get("bare", "p") is None
