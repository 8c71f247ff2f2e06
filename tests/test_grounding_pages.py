"""The pages of tests/pages that stand for complaints about prices, dates and spans: read as their JSON says."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.grounding.align import ground
from lookstruct.pipeline.leaves import leaves
from lookstruct.pipeline.values.found import Found, find_all
from lookstruct.schemas.document import Document, Page
from lookstruct.schemas.record import EvidenceStatus

FOLDER = Path(__file__).parent / "pages"
EXPECTED = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}


def cases(key: str) -> list[Any]:
    found = [(name, case) for name, page in EXPECTED.items() for case in page.get("values", {}).get(key, [])]
    return [pytest.param(name, case, id=f"{name}-{case.get('text', '')}") for name, case in found]


@cache
def read(name: str) -> tuple[Document, Found]:
    url = f"https://pages.example/{name}"
    document = clean(Page(url, url, (FOLDER / f"{name}.html").read_text(encoding="utf-8")))
    return document, find_all(document)


@pytest.mark.parametrize(("name", "case"), [case for case in cases("prices") if case.values[1]["amount"]])
def test_a_price_is_read_as_a_person_reads_it(name: str, case: dict[str, Any]) -> None:
    document, found = read(name)
    lines = document.text.replace("\u00a0", " ").replace("\u202f", " ").splitlines()
    line = next(line for key in ("text", "label") for line in lines if case[key] in line)
    at = sum(len(before) + 1 for before in lines[: lines.index(line)])
    prices = [n for n in found.numbers if at <= n.span.start < at + len(line) and n.currency == case["currency"]]
    assert Decimal(str(case["amount"])) in [number.value for number in prices]
    assert not any(number.is_ambiguous for number in prices)


@pytest.mark.parametrize(("name", "case"), cases("dates"))
def test_a_date_is_read_as_a_person_reads_it(name: str, case: dict[str, Any]) -> None:
    document, found = read(name)
    here = [m for m in found.moments if m.kind == "date" and m.span.of(document.text) == case["text"]]
    assert here, [moment.span.of(document.text) for moment in found.moments]
    for moment in here:
        assert moment.is_ambiguous is case["ambiguous"]
        assert case["iso"] in (moment.value, None)
        if case["ambiguous"]:
            assert {moment.value, *moment.alternatives} == set(case["readings"])


def test_equal_prices_are_equal_however_they_are_written() -> None:
    _, found = read("equal_prices_written_differently")
    values = {number.value for number in found.numbers}
    assert values == {Decimal("2879.20"), Decimal("32.02")}


def test_names_in_any_script_are_found_in_their_own_row() -> None:
    document, found = read("cjk_and_accents")
    (record,) = EXPECTED["cjk_and_accents"]["values"]["records"]
    evidence = ground(document, record, found=found)
    for number, place in enumerate(record["places"]):
        rows = {evidence[f"/places/{number}/{name}"].dom_path for name in place}
        assert len(rows) == 1
        for name, value in place.items():
            one = evidence[f"/places/{number}/{name}"]
            composed = value in document.text
            assert one.status is (EvidenceStatus.EXACT if composed else EvidenceStatus.NORMALISED)
            assert one.text == (value if composed else one.text)


@pytest.mark.parametrize("name", [name for name, page in EXPECTED.items() if page.get("values", {}).get("records")])
def test_no_value_of_a_gold_record_stands_nowhere(name: str) -> None:
    document, found = read(name)
    for record in EXPECTED[name]["values"]["records"]:
        evidence = ground(document, record, found=found)
        values = {pointer: value for pointer, value in leaves(record) if value not in (None, "")}
        assert [pointer for pointer in values if evidence[pointer].status is EvidenceStatus.NONE] == []
