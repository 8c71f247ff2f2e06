"""Each dataset's adapter on a checkout of two files that we wrote in its form."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.datasets import DATASETS
from bench.metadata_guess import metadata_record
from bench.quality import is_readable, main, prepare
from bench.quality_arms import partial, whole
from bench.strip import without_metadata

RECIPE = """<html><head><title>Leek soup | Spoon</title>
<script type="application/ld+json">{"@type": "Recipe", "name": "Leek soup", "recipeIngredient": ["1 leek"]}</script>
</head><body><h1>Leek soup</h1><p>Prep time: 20 min</p><ul><li>1 leek</li><li>1 l stock</li></ul><p>Serves 4</body>"""


def write(root: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return root


def recipes(root: Path) -> Path:
    gold = {"title": "Leek soup", "prep_time": 20, "yields": "4 servings", "ingredients": ["1 leek", "1 l stock"]}
    folder = "tests/test_data/spoon.example"
    return write(root, {f"{folder}/spoon.testhtml": RECIPE, f"{folder}/spoon.json": gold, f"{folder}/b.testhtml": "x"})


def test_recipes_come_with_their_site_and_their_values(tmp_path: Path) -> None:
    (sample,) = DATASETS["recipe-scrapers"].samples(recipes(tmp_path))
    assert sample.group == "spoon.example"
    assert sample.gold["prep_time"] == "PT20M"
    assert sample.gold["recipe_ingredient"] == ["1 leek", "1 l stock"]
    assert sample.html() == RECIPE


def test_books_take_their_values_from_truth_files_with_marks_and_entities(tmp_path: Path) -> None:
    base = "resources/datasets/swde-17477"
    files = {f"{base}/testset/book/book-shop-2/0001.htm": "<h1>Emma</h1>"}
    values = {"title": "Emma &amp; I", "author": "A. B\tC. D", "isbn_13": ": 9780000000002", "publisher": "<NULL>"}
    for name, value in {**values, "publication_date": "May 2010"}.items():
        files[f"{base}/groundtruth/book/book-shop-{name}.txt"] = f"\ufeffbook\tshop\r\n2\t2\r\n0001\t1\t{value}\r\n"
    (sample,) = DATASETS["swde"].samples(write(tmp_path, files))
    assert sample.gold == {
        "name": "Emma & I",
        "author": ["A. B", "C. D"],
        "isbn": "9780000000002",
        "date_published": "May 2010",
    }


def test_receipts_are_pages_of_one_line_a_row(tmp_path: Path) -> None:
    boxes = "1,10,9,10,9,20,1,20,TOTAL\n50,11,90,11,90,21,50,21,RM 9.00, cash\n1,0,9,0,9,8,1,8,SHOP"
    key = {"company": "SHOP SDN. BHD", "date": "25/12/2018", "address": "1, Main St", "total": "RM9.00"}
    root = write(tmp_path, {"data/box/000.csv": boxes, "data/key/000.json": key})
    (sample,) = DATASETS["sroie"].samples(root)
    assert sample.group == "shopsdnbhd"
    assert sample.gold["purchase_date"] == "2018-12-25"
    assert sample.gold["total"] == 9.0
    assert "<p>SHOP</p>\n<p>TOTAL RM 9.00, cash</p>" in sample.html()


def test_articles_are_found_in_either_folder_and_empty_values_left_out(tmp_path: Path) -> None:
    about = {"file": "a.html", "title": "Bread", "author": "", "date": "2020-01-02"}
    files = {"tests/evaldata.json": {"https://a.example/x": about}, "tests/cache/a.html": "<h1>Bread</h1>"}
    (sample,) = DATASETS["trafilatura"].samples(write(tmp_path, files))
    assert (sample.group, sample.url) == ("a.example", "https://a.example/x")
    assert sample.gold == {"headline": "Bread", "date_published": "2020-01-02"}


def test_invoices_keep_the_columns_of_their_print(tmp_path: Path) -> None:
    gold = [{"issuer": "Orbit Ltd", "amount": 12.5, "date": "2020-01-02", "invoice_number": "7"}]
    root = write(tmp_path, {"tests/compare/Orbit.txt": "Total   12.50", "tests/compare/Orbit.json": gold})
    (sample,) = DATASETS["invoice2data"].samples(root)
    assert sample.gold == {"invoice_number": "7", "issue_date": "2020-01-02", "seller_name": "Orbit Ltd", "total": 12.5}
    assert "<pre>Total   12.50</pre>" in sample.html()


def test_a_page_is_asked_without_what_it_says_about_itself(tmp_path: Path) -> None:
    (sample,) = DATASETS["recipe-scrapers"].samples(recipes(tmp_path))
    asked = prepare(DATASETS["recipe-scrapers"], sample)
    assert not asked.case.document.metadata
    assert asked.case.whole.metadata
    assert prepare(DATASETS["recipe-scrapers"], sample, keep_metadata=True).case.document.metadata
    assert is_readable(asked)


def test_what_stands_on_the_page_is_known_as_visible(tmp_path: Path) -> None:
    (sample,) = DATASETS["recipe-scrapers"].samples(recipes(tmp_path))
    visible = prepare(DATASETS["recipe-scrapers"], sample).visible
    assert visible == dict(sample.gold)


def test_all_kinds_of_metadata_go_and_text_stays() -> None:
    html = (
        '<html lang="nl"><head><meta charset="utf-8"><meta property="og:title" content="A"></head>'
        '<body vocab="v" typeof="t"><p itemprop="name">Tea</p><time datetime="2020-01-02">now</time></body></html>'
    )
    stripped = without_metadata(html)
    assert all(word not in stripped for word in ("og:title", "itemprop", "vocab", "typeof", "datetime"))
    assert all(word in stripped for word in ('lang="nl"', "charset", "Tea", "now"))


def test_the_metadata_arm_reads_the_page_own_record(tmp_path: Path) -> None:
    (sample,) = DATASETS["recipe-scrapers"].samples(recipes(tmp_path))
    case = prepare(DATASETS["recipe-scrapers"], sample).case
    found = metadata_record(case.whole, case.schema.name, case.schema.json_schema["properties"])
    assert found == {"name": "Leek soup", "recipe_ingredient": ["1 leek"]}


@pytest.mark.parametrize(
    ("text", "so_far", "complete"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}, {"a": 1}),
        ('{"a": "x", "b": ["y", "z', {"a": "x", "b": ["y", "z"]}, None),
        ("I cannot.", {}, None),
    ],
)
def test_the_baselines_text_is_read_as_far_as_it_goes(text: str, so_far: Any, complete: Any) -> None:
    assert partial(text) == so_far
    assert whole(text) == complete


def test_a_run_without_a_model_writes_scores_and_goes_on_from_kept_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, out, kept = recipes(tmp_path / "root"), tmp_path / "out.json", tmp_path / "answers.jsonl"
    for half in ("tune", "test"):
        what = ["--dataset", "recipe-scrapers", "--root", str(root), "--half", half, "--arms", "metadata"]
        main([*what, "--answers", str(kept), "--json", str(out.with_suffix(f".{half}"))])
    made = [json.loads(out.with_suffix(f".{half}").read_text()) for half in ("tune", "test")]
    (scored,) = [one for one in made if one["pages"]]
    assert scored["arms"]["metadata"]["pages"] == 1
    assert scored["arms"]["metadata"]["missed"] == 0.6
    assert len(kept.read_text().splitlines()) == 1
    assert "1 of 1 pages" in capsys.readouterr().out
