"""SROIE as zzzDavid/ICDAR-2019-SROIE keeps it: receipts as boxes of text, four values each."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from bench.datasets.sample import Dataset, Kind, Sample, known, part_of, read_json
from lookstruct.schemas.builtin.receipt import Receipt

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE = re.compile(r"(\d{1,2})[-/. ]*(\d{1,2}|[A-Za-z]{3})[a-z]*[-/. ]*(\d{4}|\d{2})")
_ISO = re.compile(r"(\d{4})[-/](\d{2})[-/](\d{2})")


def samples(root: Path) -> Iterator[Sample]:
    """Every receipt; those of one company, as its name is written, are in one half."""
    for path in sorted((root / "data/box").glob("*.csv")):
        gold = root / f"data/key/{path.stem}.json"
        if gold.is_file():
            values = read_json(gold)
            yield Sample(
                path=path.relative_to(root).as_posix(),
                group=re.sub(r"\W", "", values.get("company", path.stem)).casefold(),
                gold=receipt(values),
                html=partial(_page, path),
            )


def receipt(values: Mapping[str, str]) -> dict[str, Any]:
    """Their values under our names; a date that cannot be read is left out."""
    return known(
        {
            "seller_name": values.get("company"),
            "seller_address": values.get("address"),
            "purchase_date": day_first(values.get("date", "")),
            "total": _amount(values.get("total", "")),
        }
    )


def day_first(text: str) -> str | None:
    """A date of these receipts, all from Malaysia, as YYYY-MM-DD.

    >>> day_first("25/12/2018"), day_first("04-MAR-18"), day_first("2017-05-30"), day_first("31/02/2018")
    ('2018-12-25', '2018-03-04', '2017-05-30', None)
    """
    if iso := _ISO.search(text):
        year, month, day = map(int, iso.groups())
    elif written := _DATE.search(text):
        day, year = int(written[1]), int(written[3])
        named = written[2].lower()
        month = int(named) if named.isdigit() else 1 + _MONTHS.index(named) if named in _MONTHS else 0
    else:
        return None
    try:
        return date(year + 2000 if year < 100 else year, month, day).isoformat()
    except ValueError:
        return None


def _amount(text: str) -> float | None:
    digits = re.sub(r"[^\d.-]", "", text)
    try:
        return float(digits)
    except ValueError:
        return None


def _page(path: Path) -> str:
    """The receipt as a page: one paragraph a line of print."""
    rows = csv.reader(path.read_text(encoding="utf-8", errors="replace").splitlines(), quoting=csv.QUOTE_NONE)
    boxes = [(int(row[1]), int(row[5]), int(row[0]), ",".join(row[8:]).strip()) for row in rows if len(row) > 8]
    printed = "".join(f"<p>{html.escape(line)}</p>\n" for line in lines(boxes))
    return f"<html><body>\n{printed}</body></html>"


def lines(boxes: Sequence[tuple[int, int, int, str]]) -> list[str]:
    """Boxes (top, bottom, left, text) -> lines of print: a box whose middle is inside a line's height belongs to it.

    >>> lines([(10, 20, 0, "Total"), (40, 50, 0, "Cash"), (11, 21, 80, "9.00")])
    ['Total 9.00', 'Cash']
    """
    found: list[list[tuple[int, int, int, str]]] = []
    for box in sorted(boxes):
        middle = (box[0] + box[1]) / 2
        here = next((line for line in found if line[0][0] < middle < line[0][1]), None)
        if here is None:
            found.append([box])
        else:
            here.append(box)
    return [" ".join(text for *_, text in sorted(line, key=lambda box: box[2])) for line in found]


DATASET = Dataset(
    name="sroie",
    repository="zzzDavid/ICDAR-2019-SROIE",
    schema=part_of(Receipt, "seller_name", "seller_address", "purchase_date", "total"),
    kinds={"purchase_date": Kind.DATE, "total": Kind.NUMBER},
    samples=samples,
)
